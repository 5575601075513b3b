package migrate

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

// piece is a part of the target beside what should be there.
type piece struct {
	*verifier
	*part
	want *znode.Tree
	ours map[string]string // wanted znodes that a run must have created, and the job that each is part of, "" for none

	provenances map[string]*Provenance // provenance, by the job
	records     map[string]string      // the record that a job was made from, by the job
	inventory   map[string]bool        // jobs and batches of unfinished inventory records
}

func (v *verifier) piece(p *part) *piece {
	return &piece{verifier: v, part: p, want: znode.NewTree(), ours: map[string]string{}, provenances: map[string]*Provenance{}}
}

// wantNodes adds znodes to the wanted tree that a run must have created. job is the job that
// they are part of, "" for none.
func (p *piece) wantNodes(nodes []leaf, job string) {
	for _, n := range nodes {
		if err := p.want.Put(znode.Node{Path: n.path, Data: n.data}); err != nil {
			// The paths of a job whose ids were damaged can be wrong.
			p.differ(NodeChanged, n.path, err.Error())
			continue
		}
		p.ours[n.path] = job
	}
}

// wantThere wants a znode with any data.
func (p *piece) wantThere(path string) {
	n := znode.Node{Path: path, Data: none}
	if there := p.tree.Get(path); there != nil {
		n.Data = there.Data
	}
	delete(p.ours, path)
	if err := p.want.Put(n); err != nil {
		p.differ(NodeChanged, path, err.Error()) // a forged provenance can name any
	}
}

// compare compares what is wanted at or below the roots with what is there, znode by znode.
func (p *piece) compare(roots ...string) {
	for _, root := range roots {
		for _, c := range znode.Diff(p.want, p.tree, root) {
			switch {
			case c.Kind == znode.Missing:
				p.differ(NodeMissing, c.Path, "it should exist and doesn't")
			case c.Kind == znode.Changed && !p.isOurs(c.Path):
				// A folder that existed before. Its data does not matter: some
				// clients write null.
			case c.Kind == znode.Changed:
				p.differ(NodeChanged, c.Path, c.String()[len(c.Path)+2:])
			default:
				p.extra(c.Got)
			}
		}
		for n := range p.want.All(root) {
			p.verdict.Nodes++
			p.checkVersions(n.Path)
		}
	}
}

// isOurs reports whether a run must have created a znode: one of this piece, or a job or
// batch that was looked at before.
func (p *piece) isOurs(path string) bool {
	if _, ours := p.ours[path]; ours {
		return true
	}
	if znode.Parent(path) == newqueue.BatchesPath {
		return len(p.wanted[znode.Name(path)]) > 0
	}
	return p.isOurJob(path)
}

// extra judges a znode that no record needs. Inside something that a run created, it is a
// difference, because it can't be older than that. Elsewhere, it is another client's if it
// was there before the newest run began, and a difference if it came later.
func (p *piece) extra(n *znode.Node) {
	what := "no legacy record needs it, and it was created after the run began"
	switch inside := p.inside(n); {
	case foreignMarker(n.Path), p.isEmptied(n), setByAdministrator(n):
		p.verdict.Others++
		return
	case p.opt.Others && (inside == "" || n.Stat.EphemeralOwner != 0):
		p.verdict.Others++ // a worker's lock, in one of ours too
		return
	case inside != "":
		what = fmt.Sprintf("it belongs to %s, which the migration made, and no legacy record needs it", inside)
	case n.Stat.Czxid < p.began:
		p.verdict.Others++
		return
	case p.began == 0:
		what = "no legacy record needs it, and no run is recorded"
	}
	if n.Stat.EphemeralOwner != 0 {
		what = "a session holds it: another client is at work"
	}
	p.differ(NodeExtra, n.Path, what)
}

// foreignMarker reports whether a path is one of the field's own markers, which say which
// queue the services use (docs/field-script.md, "Migration levels").
func foreignMarker(path string) bool {
	return path == MigrationPath+"/m1" || path == MigrationPath+"/m3"
}

// isEmptied reports whether a znode is an empty folder of a batch that a run created. A later
// run can have rewritten its jobs in another state. Or the run was killed before it created
// them, and their records changed before it went on.
func (p *piece) isEmptied(n *znode.Node) bool {
	batch, ok := strings.CutSuffix(znode.Parent(n.Path), "/states")
	return ok && p.isOurs(batch) && n.Stat.NumChildren == 0 && (n.Stat.Cversion > 0 || p.target.dated()) &&
		slices.Contains(newqueue.BatchFolders, newqueue.BatchFolder(znode.Name(n.Path))) && p.target.createdInRun(n.Stat.Czxid)
}

// inside is the job, batch, request or run that a znode belongs to: by its path, its name or
// its data. It is "" for none.
func (p *piece) inside(n *znode.Node) string {
	for path := znode.Parent(n.Path); path != "/" && path != ""; path = znode.Parent(path) {
		if job, ours := p.ours[path]; ours && job != "" {
			return job
		}
		switch parent := znode.Parent(path); {
		case parent == newqueue.BatchesPath && p.isOurs(path),
			(parent == RunsPath || parent == LedgerPath) && p.want.Get(path) != nil, path == ElectionPath:
			return path
		}
	}
	switch parent := znode.Parent(n.Path); {
	case parent == RunsPath || parent == LedgerPath:
		return MigrationPath
	case parent == newqueue.BatchUUIDsPath:
		if batch := newqueue.BatchPath(string(n.Data)); len(n.Data) > 0 && p.isOurs(batch) {
			return batch
		}
	case znode.Parent(parent) == newqueue.JobStatesPath:
		if _, jid, ok := strings.Cut(znode.Name(n.Path), "-"); ok && p.isOurs(newqueue.JobPath(jid)) {
			return newqueue.JobPath(jid)
		}
	case strings.HasSuffix(znode.Parent(parent), "/states"):
		if job := newqueue.JobPath(znode.Name(n.Path)); p.isOurs(job) {
			return job
		}
	}
	return ""
}

// checkVersions finds znodes that another client wrote to since a run created them, even if
// the data is the same again. It also finds znodes that another client deleted and
// recreated, even if they look the same.
func (p *piece) checkVersions(path string) {
	n := p.tree.Get(path)
	job, ours := p.ours[path]
	if n == nil || !ours {
		return
	}
	p.checkACL(n)
	ex := p.target
	switch {
	case n.Stat.EphemeralOwner != 0:
		p.differ(Recreated, path, fmt.Sprintf("it is ephemeral: it is deleted when session %#x ends", n.Stat.EphemeralOwner))
	case n.Stat.Aversion != 0:
		p.differ(OtherACL, path, "its ACL was changed since it was created")
	case n.Stat.Version != 0 && znode.SameData(n.Data, p.want.Get(path).Data):
		p.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was created, to the same data", times(n.Stat.Version)))
	case !ex.dated():
		// A copy, restored from a dump: its transactions show nothing.
	case job != "" && p.tree.Get(job) != nil && n.Stat.Czxid != p.tree.Get(job).Stat.Czxid:
		p.differ(Recreated, path, fmt.Sprintf("transaction %#x created it, and %#x created its job: another client deleted and recreated it", n.Stat.Czxid, p.tree.Get(job).Stat.Czxid))
	case path == job:
		if h, there := ex.custody.lookup(p.provenance(n).Path); there && h.root == path && h.createdIn.known() && !h.createdIn.contains(n.Stat.Czxid) {
			p.differ(Recreated, path, path+" was deleted and recreated")
		}
	case job == "" && !ex.createdInRun(n.Stat.Czxid) && !ex.createdOutsideRuns(n):
		p.differ(Recreated, path, "no run was at work when it was created: another client deleted and recreated it")
	}
}

// provenance is what a job's or request's own znode says.
func (p *piece) provenance(n *znode.Node) Provenance {
	if known := p.provenances[n.Path]; known != nil {
		return *known
	}
	prov, _ := parseProvenance(n.Data)
	return prov
}

// checkACL compares a znode's ACL, if it was read, with that of its run's record.
func (p *piece) checkACL(n *znode.Node) {
	if n.ACL == nil {
		return
	}
	for _, r := range p.target.runs {
		s, record := p.target.spans[r.ID], p.target.tree.Get(r.path())
		// The election is created before the first run, and later if it is missing.
		mine := s.known() && s.contains(n.Stat.Czxid) || n.Path == ElectionPath
		if !mine || record.ACL == nil {
			continue
		}
		p.verdict.ACLs++
		if !sameACL(n.ACL, record.ACL) {
			p.differ(OtherACL, n.Path, fmt.Sprintf("its ACL is %s, and %s gave %s to all that it made", otherACL(record.ACL, n.ACL), r.ID, aclText(record.ACL)))
		}
		return
	}
}

// layout checks the piece, others' jobs included, by the layout's rules.
func (p *piece) layout(counts func(path string) bool) {
	for _, x := range lint.Check(p.tree, p.dialect) {
		if counts(x.Path) {
			p.layoutBroken = append(p.layoutBroken, Difference{Kind: LayoutBroken, Path: x.Path, Message: x.Message})
		}
	}
}

// distinct sorts paths and removes duplicates.
func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}
