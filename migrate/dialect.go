package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// ReadDialect returns the dialect of the queue that a target holds, and the znode that
// shows it. It looks for a run's record first, then for a status, then for a folder that
// only one dialect has. ok is false if the target has none of these.
func ReadDialect(ctx context.Context, s side.Side) (d newqueue.Dialect, shownBy string, ok bool, err error) {
	tree, err := readSkeleton(ctx, s)
	if err != nil {
		return "", "", false, err
	}
	return readDialect(ctx, s, tree)
}

// readDialect is [ReadDialect] for a target whose skeleton was read.
func readDialect(ctx context.Context, s side.Side, tree *znode.Tree) (d newqueue.Dialect, shownBy string, ok bool, err error) {
	if run, ran := NewestRun(tree); ran && slices.Contains(newqueue.Dialects, run.Dialect) {
		return run.Dialect, run.path(), true, nil
	}
	parents := []string{newqueue.BatchesPath, newqueue.JobsPath}
	for _, q := range newqueue.AccessQueues {
		parents = append(parents, newqueue.AccessQueuePath(q))
	}
	for _, parent := range parents {
		names, err := childrenOf(ctx, s, parent)
		if err != nil {
			return "", "", false, err
		}
		for _, name := range names {
			path := znode.Join(parent, name) + "/status"
			n, err := s.Get(ctx, path)
			if errors.Is(err, znode.ErrNoNode) {
				continue
			}
			if err != nil {
				return "", "", false, err
			}
			if d, ok := dialectOfStatus(n.Data); ok {
				return d, path, true, nil
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
		if tree.Get(sign.path) != nil {
			return sign.of, sign.path, true, nil
		}
	}
	return "", "", false, nil
}

// dialectFor is the dialect of a plan. assumed says that neither the options nor the
// target decides it.
func (o Options) dialectFor(ctx context.Context, target side.Side, tree *znode.Tree) (d newqueue.Dialect, assumed bool, err error) {
	if o.Dialect != "" {
		return o.Dialect, false, nil
	}
	d, _, ok, err := readDialect(ctx, target, tree)
	if ok || err != nil {
		return d, false, err
	}
	return newqueue.Design, true, nil
}

// requireDialect refuses to create a queue in a dialect that nobody has chosen, because no
// service reads both.
func (p *Plan) requireDialect() {
	if p.DialectAssumed && !p.Empty() {
		p.problem(Problem{Kind: NoDialect, Path: "/", Message: "the target holds no queue that shows which dialect its services read, and no dialect is chosen", Next: "choose the dialect that your services read"})
	}
}

// ReadBy says which services can read a queue of a dialect.
func ReadBy(d newqueue.Dialect) string { return readers[d] }

// dialectOfStatus is the dialect of a status. The client library writes the names of
// states with a capital letter, the documents without.
func dialectOfStatus(data []byte) (newqueue.Dialect, bool) {
	o, err := newqueue.ParseObject(data)
	if err != nil {
		return "", false
	}
	switch name, _ := o.String("status"); {
	case name == "":
		return "", false
	case name[0] >= 'A' && name[0] <= 'Z':
		return newqueue.MrtZK, true
	case name[0] >= 'a' && name[0] <= 'z':
		return newqueue.Design, true
	}
	return "", false
}

// checkDialect refuses to write one dialect beside a queue in the other.
func (p *Plan) checkDialect(ctx context.Context) error {
	d, shownBy, ok, err := readDialect(ctx, p.target.side, p.ex.tree)
	if err == nil && ok && d != p.Dialect {
		p.problem(Problem{Kind: OtherDialect, Path: shownBy, Message: fmt.Sprintf("the target holds a queue in dialect %s, this plan is in %s", d, p.Dialect), Next: fmt.Sprintf("plan in dialect %s", d), Fits: string(d)})
	}
	return err
}
