package migrate

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

// piece is a part of the target beside what should be there of it.
type piece struct {
	*verifier
	*part
	want *znode.Tree
	ours map[string]string // wanted nodes that a run must have made, with the job that they are part of, "" for none

	said      map[string]*Provenance // of jobs that claim a record, by the job
	records   map[string]string      // that jobs were made from, by the job
	inventory map[string]bool        // jobs and batches of unfinished inventory records
}

func (v *verifier) piece(p *part) *piece {
	return &piece{verifier: v, part: p, want: znode.NewTree(), ours: map[string]string{}, said: map[string]*Provenance{}}
}

// wantNodes puts nodes into the wanted tree that a run must have made: with that
// job, if they are part of one.
func (p *piece) wantNodes(nodes []leaf, job string) {
	for _, n := range nodes {
		if err := p.want.Put(znode.Node{Path: n.path, Data: n.data}); err != nil {
			// A job whose ids were damaged can't be placed.
			p.differ(NodeChanged, n.path, err.Error())
			continue
		}
		p.ours[n.path] = job
	}
}

// wantThere asks for a node whatever its data.
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

// compare holds what is wanted at or below the roots against what is there, node
// by node.
func (p *piece) compare(roots ...string) {
	for _, root := range roots {
		for _, c := range znode.Diff(p.want, p.tree, root) {
			switch {
			case c.Kind == znode.Missing:
				p.differ(NodeMissing, c.Path, "it should be there and isn't")
			case c.Kind == znode.Changed && !p.isOurs(c.Path):
				// A folder that was there before, made by a client that
				// writes null data: its data says nothing.
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

// isOurs reports whether a run must have made the node: one of this piece, or a
// job or batch that was looked at before.
func (p *piece) isOurs(path string) bool {
	if _, ours := p.ours[path]; ours {
		return true
	}
	if znode.Parent(path) == newqueue.BatchesPath {
		return len(p.wanted[znode.Name(path)]) > 0
	}
	return p.isOurJob(path)
}

// extra is a node that no record asks for. What stands inside what a run made is
// the run's to answer for, whenever it came: nothing of others can be older than
// the node that it is in. Elsewhere, what was there before the newest run began
// is somebody else's, and what came since is not explained by anything.
func (p *piece) extra(n *znode.Node) {
	what := "nothing in the source asks for it, and it came after the run began"
	switch inside := p.inside(n); {
	case foreignMarker(n.Path), p.emptied(n), administrators(n):
		p.verdict.Others++
		return
	case p.opt.Others && (inside == "" || n.Stat.EphemeralOwner != 0):
		p.verdict.Others++ // a worker's lock, in one of ours too
		return
	case inside != "":
		what = fmt.Sprintf("it belongs to %s, which the migration made, and nothing in the source asks for it", inside)
	case n.Stat.Czxid < p.began:
		p.verdict.Others++
		return
	case p.began == 0:
		what = "nothing in the source asks for it, and no run is recorded that it was there before"
	}
	if n.Stat.EphemeralOwner != 0 {
		what = "a session holds it: somebody is at work"
	}
	p.differ(NodeExtra, n.Path, what)
}

// foreignMarker reports whether path is one of the field's own: which queue the
// services use (docs/field-script.md, "Migration levels").
func foreignMarker(path string) bool {
	return path == MigrationPath+"/m1" || path == MigrationPath+"/m3"
}

// emptied reports whether a node is a batch's folder that a run made and in which
// no job stands: a later run made its jobs anew in another state, or the run was
// killed before it made them, and their records changed before it went on.
func (p *piece) emptied(n *znode.Node) bool {
	batch, ok := strings.CutSuffix(znode.Parent(n.Path), "/states")
	return ok && p.isOurs(batch) && n.Stat.NumChildren == 0 && (n.Stat.Cversion > 0 || p.target.dated()) &&
		slices.Contains(newqueue.BatchFolders, newqueue.BatchFolder(znode.Name(n.Path))) && p.target.bornInRun(n.Stat.Czxid)
}

// inside is the job, batch, request or record of a run that a node belongs to:
// by where it stands, by its name, or by what it names; "" for none.
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

// checkVersions finds nodes that were written since a run made them, even where
// the data is the same again; and nodes that are not the ones that the run made,
// even where they look the same.
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
		p.differ(MadeAgain, path, fmt.Sprintf("it is ephemeral: it goes when session %#x ends", n.Stat.EphemeralOwner))
	case n.Stat.Aversion != 0:
		p.differ(NodeTouched, path, "its ACL was changed")
	case n.Stat.Version != 0 && znode.SameData(n.Data, p.want.Get(path).Data):
		p.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was made, to the same data", times(n.Stat.Version)))
	case !ex.dated():
		// A copy, restored from a dump: its transactions tell nothing.
	case job != "" && p.tree.Get(job) != nil && n.Stat.Czxid != p.tree.Get(job).Stat.Czxid:
		p.differ(MadeAgain, path, fmt.Sprintf("transaction %#x made it, and %#x made its job: somebody deleted it and made it again", n.Stat.Czxid, p.tree.Get(job).Stat.Czxid))
	case path == job:
		if h, there := ex.custody.lookup(p.provenance(n).Path); there && h.root == path && h.made.known() && !h.made.holds(n.Stat.Czxid) {
			p.differ(MadeAgain, path, path+" was deleted and made again")
		}
	case job == "" && !ex.bornInRun(n.Stat.Czxid) && !ex.besideRuns(n):
		p.differ(MadeAgain, path, "no run was at work when it was made: somebody deleted it and made it again")
	}
}

// provenance is what a job's or request's own znode says.
func (p *piece) provenance(n *znode.Node) Provenance {
	if said := p.said[n.Path]; said != nil {
		return *said
	}
	prov, _ := parseProvenance(n.Data)
	return prov
}

// checkACL compares a node's ACL, where it was read, with that of its run's own
// record.
func (p *piece) checkACL(n *znode.Node) {
	if n.ACL == nil {
		return
	}
	for _, r := range p.target.runs {
		s, record := p.target.spans[r.ID], p.target.tree.Get(r.path())
		// The election is made before the first run, and by whoever misses it.
		mine := s.known() && s.holds(n.Stat.Czxid) || n.Path == ElectionPath
		if !mine || record.ACL == nil {
			continue
		}
		p.verdict.ACLs++
		if !sameACL(n.ACL, record.ACL) {
			p.differ(OtherACL, n.Path, fmt.Sprintf("its ACL is %v, and %s gave %v to all that it made", n.ACL, r.ID, record.ACL))
		}
		return
	}
}

// layout holds the piece, others' jobs included, to the layout's rules.
func (p *piece) layout(counts func(path string) bool) {
	for _, x := range lint.Check(p.tree, p.dialect) {
		if counts(x.Path) {
			p.broken = append(p.broken, Difference{Kind: LayoutBroken, Path: x.Path, Message: x.Message})
		}
	}
}

// distinct are paths, each once and in order.
func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}
