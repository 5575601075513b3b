package standing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// folder is a folder for kept bytes that no run of the target's ledger has.
type folder struct {
	path string
	// owner is the record of its run, on the server; "" if the folder does not name it.
	owner string
	// lost says that the record is the target's own: it was restored from a backup that does not know this run, or made again where another
	// target was.
	lost bool
}

// foldersElsewhere finds these folders beside the legacy queues of a target. A migration from a chroot has them in the chroot, so
// they can be below any znode above a queue.
func foldersElsewhere(ctx context.Context, t *target.Target) (folders []folder, err error) {
	var roots []string
	own := map[string]bool{}
	for _, run := range t.Ledger.Runs {
		if !run.Origin.OneEnsemble {
			continue
		}
		own[run.Origin.KeptRunPath()] = true
		for _, queue := range run.Origin.Queues.Roots() {
			for at := run.Origin.Path(queue); at != "/"; {
				at = znode.Parent(at)
				roots = append(roots, znode.Join(at, migration.KeptRoot))
			}
		}
	}
	slices.Sort(roots)
	paths, err := below(ctx, kept(t), slices.Compact(roots))
	if err != nil {
		return nil, err
	}
	here := strings.TrimSuffix(t.Reader.Address().Chroot, "/") + ledger.RunsPath + "/"
	err = kept(t).GetEach(ctx, slices.DeleteFunc(paths, func(path string) bool { return own[path] }), func(n znode.Node) {
		folders = append(folders, folder{n.Path, string(n.Data), strings.HasPrefix(string(n.Data), here)})
	})
	if err != nil || !slices.ContainsFunc(folders, func(f folder) bool { return f.lost }) {
		return folders, err
	}
	return slices.DeleteFunc(folders, func(f folder) bool {
		var began bool // since the ledger was read
		if f.lost && err == nil {
			began, err = hasRun(ctx, t, f)
		}
		return began
	}), err
}

func hasRun(ctx context.Context, t *target.Target, f folder) (bool, error) {
	nodes, err := kept(t).GetAll(ctx, []string{f.owner})
	if err != nil || len(nodes) == 0 {
		return false, err
	}
	run, err := ledger.ParseRun(nodes[0])
	return err == nil && run.Origin.KeptRunPath() == f.path, nil
}

// OtherTargets returns the targets that were migrated from a queue node of this one, by their chroots, or by the folders of their
// kept bytes if nothing shows more. The error comes from reading.
func OtherTargets(ctx context.Context, t *target.Target) (others []string, err error) {
	folders, err := foldersElsewhere(ctx, t)
	if err != nil {
		return nil, err
	}
	queues := map[string]bool{}
	for _, run := range t.Ledger.Runs {
		for _, queue := range run.Origin.Queues.Roots() {
			queues[run.Origin.Path(queue)] = true
		}
	}
	for _, f := range folders {
		chroot, _, known := strings.Cut(f.owner, ledger.RunsPath)
		switch {
		case f.lost:
			continue
		case !known:
			others = append(others, f.path)
			continue
		}
		nodes, err := kept(t).GetAll(ctx, []string{f.owner})
		if err != nil {
			return nil, err
		}
		shares := true // unless its record says otherwise
		if len(nodes) > 0 {
			if run, err := ledger.ParseRun(nodes[0]); err == nil {
				shares = slices.ContainsFunc(run.Origin.Queues.Roots(), func(queue string) bool { return queues[run.Origin.Path(queue)] })
			}
		}
		if name := cmp.Or(chroot, "/"); shares && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return others, nil
}

// readElsewhere finds the records that are not there because a release of another target has handed them over, or one of a run that a
// restored backup of this target does not know. When another target is completed, it keeps no bytes any more, so nothing shows it.
func (l *Reader) readElsewhere(ctx context.Context, cases []Standing) (err error) {
	gone := func(c Standing) bool { return c.Record == Absent && !c.HandedOver }
	if l.Src == nil || !slices.ContainsFunc(cases, gone) {
		return nil
	}
	if l.others == nil {
		if l.others, err = readOthers(ctx, l.Target); err != nil {
			return err
		}
	}
	for i := range cases {
		c := &cases[i]
		switch {
		case !gone(*c):
		case l.others.bytes[c.Entry.Hash] && c.Restored:
			c.Kept = true // as of its own run
		default:
			c.Elsewhere = l.others.have(c.Entry)
		}
	}
	return nil
}

// others is what is kept in folders that no run of the ledger has.
type others struct {
	bytes map[migration.Hash]bool // whether the folder is lost
	keys  map[migration.Hash]bool // of other targets
}

// have reports whether another target has handed a record over, perhaps with other bytes than it had when it was migrated here.
func (o *others) have(e *ledger.Migrated) bool {
	_, there := o.bytes[e.Hash]
	return there || o.keys[e.Key]
}

func readOthers(ctx context.Context, t *target.Target) (*others, error) {
	folders, err := foldersElsewhere(ctx, t)
	if err != nil {
		return nil, err
	}
	all := &others{bytes: map[migration.Hash]bool{}, keys: map[migration.Hash]bool{}}
	var unreadable error
	for _, f := range folders {
		paths, err := below(ctx, kept(t), []string{f.path})
		if err != nil {
			return nil, err
		}
		err = kept(t).GetEach(ctx, paths, func(n znode.Node) {
			if n.Unreadable != "" && unreadable == nil {
				unreadable = fmt.Errorf("%s can't be read: %s; a record that is not in the legacy queue may be there; give credentials that can read it", n.Path, n.Unreadable)
			}
			hash := ledger.HashOf(sha256.Sum256(n.Data))
			if lost, there := all.bytes[hash]; !there || lost {
				all.bytes[hash] = f.lost
			}
			if key := rules.KeyOfKept(znode.Name(n.Path), n.Data); key != "" && !f.lost {
				all.keys[ledger.HashOfKey(key)] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, unreadable
}

// LostRecords returns the kept bytes of runs that a restored backup of the target does not know, of records that are in no ledger: nothing else has
// them. A record that was made since, in the legacy queue or migrated again, has the work of one with its key. The error comes from reading.
func LostRecords(ctx context.Context, t *target.Target, src *source.Source) (paths []string, err error) {
	if !slices.ContainsFunc(t.Ledger.Runs, func(r migration.Run) bool { return r.Restored }) {
		return nil, nil
	}
	folders, err := foldersElsewhere(ctx, t)
	if err != nil || !slices.ContainsFunc(folders, func(f folder) bool { return f.lost }) {
		return nil, err
	}
	known := map[migration.Hash]bool{}
	for e := range t.Ledger.All() {
		known[e.Hash] = true
	}
	type keptRecord struct {
		path    string
		is, key migration.Hash
		czxid   int64
	}
	var lost []keptRecord
	for _, f := range folders {
		if !f.lost {
			continue
		}
		at, err := below(ctx, kept(t), []string{f.path})
		if err != nil {
			return nil, err
		}
		err = kept(t).GetEach(ctx, at, func(n znode.Node) {
			is, key := ledger.HashOf(sha256.Sum256(n.Data)), ledger.HashOfKey(rules.KeyOfKept(znode.Name(n.Path), n.Data))
			if !known[is] {
				lost = append(lost, keptRecord{n.Path, is, key, n.Stat.Czxid})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	made := map[migration.Hash]int64{} // when the newest record with these bytes or this key was made
	for e := range t.Ledger.All() {
		made[e.Key] = max(made[e.Key], e.Czxid)
	}
	for f, err := range src.Fetch(ctx, src.Paths()) {
		if err != nil {
			return nil, err
		}
		if !f.There || f.Err != nil || f.Legacy.Header.Status == legacy.Deleted {
			continue
		}
		for _, h := range []migration.Hash{ledger.HashOf(f.SHA256()), keyOf(f)} {
			made[h] = max(made[h], f.Stat.Czxid)
		}
	}
	delete(made, migration.Hash{})
	for _, n := range lost {
		if max(made[n.is], made[n.key]) <= n.czxid {
			paths = append(paths, n.path)
		}
	}
	return paths, nil
}

// kept reads kept bytes, which are outside of a target's chroot.
func kept(t *target.Target) *zkconn.Reader { return t.Reader.WithChroot("/").MarkUnreadable() }

func below(ctx context.Context, r *zkconn.Reader, parents []string) (paths []string, err error) {
	lists, err := r.ChildrenAll(ctx, parents)
	for i, names := range lists {
		for _, name := range names {
			paths = append(paths, znode.Join(parents[i], name))
		}
	}
	return paths, err
}
