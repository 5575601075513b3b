package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// FindDialect is the dialect of the queue that a target holds, and the znode
// that shows it. A run's record says it; failing that, a status does; failing
// that, a folder that only one dialect has. ok is false for a target that holds
// none of these.
func FindDialect(tree *znode.Tree) (d newqueue.Dialect, shownBy string, ok bool) {
	if run, ran := NewestRun(tree); ran && slices.Contains(newqueue.Dialects, run.Dialect) {
		return run.Dialect, run.path(), true
	}
	for _, path := range statusPaths(tree) {
		if d, ok := dialectOfStatus(dataOf(tree.Get(path))); ok {
			return d, path, true
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
			return sign.of, sign.path, true
		}
	}
	return "", "", false
}

// dialectFor is the dialect that a plan is made in; assumed says that neither the
// options nor the target tells.
func (o Options) dialectFor(target *znode.Tree) (d newqueue.Dialect, assumed bool) {
	if o.Dialect != "" {
		return o.Dialect, false
	}
	if d, _, ok := FindDialect(target); ok {
		return d, false
	}
	return newqueue.Design, true
}

// DialectAssumed reports whether the dialect was nobody's decision: the options have
// none, and the target holds no queue that would show it. Whoever shows such a plan
// asks for the decision: which services can read the new queue depends on it.
func (p *Plan) DialectAssumed() bool { return p.assumed }

// ReadBy says which services can read a queue in a dialect.
func ReadBy(d newqueue.Dialect) string { return readers[d] }

// findDialect is [FindDialect] for a target of any size.
func (l *listing) findDialect(ctx context.Context) (d newqueue.Dialect, ok bool, err error) {
	if run, ran := NewestRun(l.tree); ran && slices.Contains(newqueue.Dialects, run.Dialect) {
		return run.Dialect, true, nil
	}
	statuses := func(yield func(string) bool) {
		for _, b := range l.batches {
			if !yield(newqueue.BatchPath(l.names.text(b.bid)) + "/status") {
				return
			}
		}
		for root := range l.allRoots() {
			if !yield(root + "/status") {
				return
			}
		}
	}
	for path := range statuses {
		n, err := l.side.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return "", false, err
		}
		if d, ok := dialectOfStatus(n.Data); ok {
			return d, true, nil
		}
	}
	d, _, ok = FindDialect(l.tree)
	return d, ok, nil
}

// statusPaths are the statuses of everything in the queue.
func statusPaths(tree *znode.Tree) []string {
	var paths []string
	for _, bid := range tree.Children(newqueue.BatchesPath) {
		paths = append(paths, newqueue.BatchPath(bid)+"/status")
	}
	for _, jid := range tree.Children(newqueue.JobsPath) {
		paths = append(paths, newqueue.JobPath(jid)+"/status")
	}
	for _, q := range newqueue.AccessQueues {
		for _, qid := range tree.Children(newqueue.AccessQueuePath(q)) {
			paths = append(paths, newqueue.AccessRequestPath(q, qid)+"/status")
		}
	}
	return paths
}

// dialectOfStatus: the client library writes the states' names with a capital,
// the documents without.
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
func (p *Plan) checkDialect() {
	if d, shownBy, ok := FindDialect(p.ex.tree); ok && d != p.Dialect {
		p.problem(Problem{Kind: OtherDialect, Path: shownBy, Message: fmt.Sprintf("the target holds a queue in dialect %s, this plan is in %s", d, p.Dialect), Next: fmt.Sprintf("plan in dialect %s", d), Fits: string(d)})
	}
}
