package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// MaxTransaction is how many bytes one transaction may take on the wire.
// ZooKeeper closes the connection on a packet of 1 MiB or more. The difference
// leaves room for what servers and chroots add.
const MaxTransaction = 1_000_000

// write is one transaction: all of it happens, or nothing.
type write struct {
	ops []znode.Op
	// lock, unless it is "", is the path that one of ops creates as an ephemeral node.
	lock     string
	happened evidence
	// late, if not nil, is called if the write was done after the caller had
	// already got [ErrUnknownOutcome] because its context had ended.
	late func()
}

// commit sends one transaction, which also creates the folders that are missing.
// The error is a *[znode.MultiError] if the server refused an operation. It wraps
// [ErrTooLarge] or [ErrNotDone] if nothing was written, and [ErrUnknownOutcome] if
// the outcome is not known.
func (q *Queue) commit(ctx context.Context, w write) error {
	var folders []znode.Op // parents first
	for {
		err := q.send(ctx, w, slices.Concat(folders, w.ops))
		var refused *znode.MultiError
		if !errors.As(err, &refused) {
			return err
		}
		parent := znode.Parent(refused.Op.Path)
		switch missing := refused.Op.Kind == znode.OpCreate && errors.Is(err, zk.ErrNoNode); {
		case refused.Index < len(folders) && errors.Is(err, zk.ErrNodeExists): // another client created it meanwhile
			folders = slices.Delete(folders, refused.Index, refused.Index+1)
		case missing && parent == "/":
			return q.noRoot()
		case missing && isFolder(parent):
			folders = slices.Insert(folders, 0, znode.Create(parent, empty))
		default:
			return err
		}
	}
}

// isFolder reports whether path is a folder that may be created when it is
// needed. A batch, a job and a batch's states are not such folders, because a
// removed one must not come back empty.
func isFolder(path string) bool {
	if slices.Contains(startNodes, path) || path == newqueue.Design.LocalIDLocksPath() {
		return true
	}
	states := znode.Parent(path)
	return states == newqueue.JobStatesPath || znode.Name(states) == "states" && znode.Parent(znode.Parent(states)) == newqueue.BatchesPath
}

// startNodes are all folders of both dialects but those of local ids in dialect design and of states that only it has.
var startNodes = newqueue.MrtZK.StartNodes()

// send makes one attempt.
func (q *Queue) send(ctx context.Context, w write, ops []znode.Op) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := q.fits(ops); err != nil {
		return err
	}
	requests := make([]any, len(ops))
	for i, op := range ops {
		requests[i] = q.operation(op, w.lock)
	}
	type answer struct {
		results []zk.MultiResponse
		err     error
	}
	a, ended := call(ctx, func() (answer, error) {
		results, err := q.conn.Multi(requests...)
		return answer{results, err}, nil
	}, func(a answer, _ error) {
		if a.err == nil && w.late != nil {
			w.late()
		}
	})
	if ended != nil {
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, ended)
	}
	for i, r := range a.results {
		// The first error is that of the operation that failed. Those after it
		// only say that the transaction was abandoned.
		if r.Error != nil && i < len(ops) {
			return &znode.MultiError{Index: i, Op: ops[i], Err: r.Error}
		}
	}
	switch {
	case a.err == nil:
		return nil
	case errors.Is(a.err, zk.ErrNoServer): // it was never sent
		return fmt.Errorf("%w (%w)", ErrNotDone, a.err)
	case unanswered(a.err):
		return q.afterLostAnswer(ctx, w, a.err)
	}
	return a.err
}

// afterLostAnswer finds out whether a write happened after its answer was lost.
//
// It calls Sync first. When Sync returns, the session has moved to this server,
// or has ended. So nothing from the old connection can be carried out any more,
// and later reads show everything that was.
func (q *Queue) afterLostAnswer(ctx context.Context, w write, cause error) error {
	if _, err := read(ctx, "/", func() (string, error) { return q.conn.Sync(cmp.Or(q.root, "/")) }); err != nil {
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	}
	happened, err := w.happened(ctx)
	switch {
	case errors.Is(err, ErrUnknownOutcome):
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, cause)
	case err != nil:
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	case !happened:
		return fmt.Errorf("%w (%w)", ErrNotDone, cause)
	}
	return nil
}

// operation is an operation as the client library takes it.
func (q *Queue) operation(op znode.Op, lock string) any {
	path := q.path(op.Path)
	switch op.Kind {
	case znode.OpCreate:
		var flags int32
		if op.Path == lock {
			flags = zk.FlagEphemeral
		}
		return &zk.CreateRequest{Path: path, Data: op.Data, Acl: q.acl, Flags: flags}
	case znode.OpSet:
		return &zk.SetDataRequest{Path: path, Data: op.Data, Version: op.Version}
	case znode.OpDelete:
		return &zk.DeleteRequest{Path: path, Version: op.Version}
	}
	return &zk.CheckVersionRequest{Path: path, Version: op.Version}
}

// fits refuses a transaction that is so large that ZooKeeper would close the
// connection. Its error names the largest znode, because that is the one to look
// at.
func (q *Queue) fits(ops []znode.Op) error {
	size := znode.MultiSize(ops, len(q.root))
	if size <= MaxTransaction {
		return nil
	}
	largest := ops[0]
	for _, op := range ops {
		if len(op.Data) > len(largest.Data) {
			largest = op
		}
	}
	return fmt.Errorf("%w: %d operations take %d bytes, %d are allowed; the largest is %s with %d bytes",
		ErrTooLarge, len(ops), size, MaxTransaction, largest.Path, len(largest.Data))
}
