package target

import (
	"context"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
)

const namesPerRead part.Size = 100

// Dialect returns the dialect of the queue that the target holds, and the znode that shows
// it. It looks at the newest run first, then at statuses, then at znodes that only one
// dialect has. d is "" if the target has none of these.
func (t *Target) Dialect(ctx context.Context) (d newqueue.Dialect, shownBy string, err error) {
	if run := t.Ledger.Newest(); run != nil {
		return run.Dialect, ledger.RunPath(run.ID), nil
	}
	parents := []string{newqueue.BatchesPath, newqueue.JobsPath}
	for _, q := range newqueue.AccessQueues {
		parents = append(parents, newqueue.AccessQueuePath(q))
	}
	lists, err := t.Reader.ChildrenAll(ctx, parents)
	if err != nil {
		return "", "", err
	}
	for i, names := range lists {
		for some := range slices.Chunk(names, namesPerRead.N()) {
			if d, shownBy, err = t.dialectOf(ctx, parents[i], some); d != "" || err != nil {
				return d, shownBy, err
			}
		}
	}
	for _, sign := range []struct {
		path string
		of   newqueue.Dialect
	}{
		{newqueue.JobStatePath(newqueue.JobStoring), newqueue.MrtZK},
		{newqueue.MrtZK.LocalIDLocksPath(), newqueue.MrtZK},
		{newqueue.Design.LocalIDLocksPath(), newqueue.Design},
	} {
		if _, there := t.Layout[sign.path]; there {
			return sign.of, sign.path, nil
		}
	}
	return "", "", nil
}

// DialectAt returns the dialect of the queue in a tree, as [Target.Dialect] does, without
// the rest of [Read]. Records of runs that can't be read don't count.
func DialectAt(ctx context.Context, r *zkconn.Reader) (newqueue.Dialect, error) {
	t := &Target{Reader: r, Ledger: ledger.New(nil), Layout: map[string]znode.Stat{}}
	if err := t.readRuns(ctx); err != nil {
		return "", err
	}
	if err := t.readLayout(ctx); err != nil {
		return "", err
	}
	d, _, err := t.Dialect(ctx)
	return d, err
}

func (t *Target) dialectOf(ctx context.Context, parent string, names []string) (newqueue.Dialect, string, error) {
	var paths []string
	for _, name := range names {
		paths = append(paths, znode.Join(parent, name)+"/status")
	}
	nodes, err := t.Reader.GetAll(ctx, paths)
	for _, n := range nodes {
		if d := dialectOfStatus(n.Data); d != "" {
			return d, n.Path, nil
		}
	}
	return "", "", err
}

// dialectOfStatus is the dialect of a status; "" if it shows none. The client library
// writes the names of states with a capital letter, the published design without.
func dialectOfStatus(data []byte) newqueue.Dialect {
	o, err := newqueue.ParseObject(data)
	if err != nil {
		return ""
	}
	switch name, _ := o.String("status"); {
	case name == "":
		return ""
	case name[0] >= 'A' && name[0] <= 'Z':
		return newqueue.MrtZK
	case name[0] >= 'a' && name[0] <= 'z':
		return newqueue.Design
	}
	return ""
}
