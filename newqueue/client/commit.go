package client

import (
	"bytes"
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
}

// commit sends one transaction, which also creates the folders that are missing.
// The error is a *[znode.MultiError] if the server refused an operation. It wraps
// [ErrUnknownOutcome] if the outcome is not known. After any other error nothing was written.
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

// send sends a transaction. If its answer was lost and it did not happen, it is sent again.
func (q *Queue) send(ctx context.Context, w write, ops []znode.Op) error {
	if err := q.fits(ops); err != nil {
		return err
	}
	requests := make([]any, len(ops))
	for i, op := range ops {
		requests[i] = q.operation(op, w.lock)
	}
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		results, err := q.conn.Multi(requests...)
		for i, r := range results {
			// The first error is that of the operation that failed. Those after it
			// only say that the transaction was abandoned.
			if r.Error != nil && i < len(ops) {
				return &znode.MultiError{Index: i, Op: ops[i], Err: r.Error}
			}
		}
		if err == nil || !unanswered(err) {
			return err
		}
		if !errors.Is(err, zk.ErrNoServer) { // otherwise it was never sent
			if happened, err := q.afterLostAnswer(ctx, w, err); happened || err != nil {
				return err
			}
		}
		if !again(ctx, attempt) {
			return err
		}
	}
}

// afterLostAnswer finds out whether a write happened after its answer was lost.
//
// It calls Sync first. When Sync returns, the session has moved to this server,
// or has ended. So nothing from the old connection can be carried out any more,
// and later reads show everything that was.
func (q *Queue) afterLostAnswer(ctx context.Context, w write, lost error) (bool, error) {
	_, err := read(ctx, "/", func() (string, error) { return q.conn.Sync(cmp.Or(q.root, "/")) })
	happened := false
	if err == nil {
		happened, err = w.happened(ctx)
	}
	if err != nil && !errors.Is(err, ErrUnknownOutcome) {
		lost = err
	}
	if err != nil {
		return false, fmt.Errorf("%w (%w)", ErrUnknownOutcome, lost)
	}
	return happened, nil
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
	largest := slices.MaxFunc(ops, func(a, b znode.Op) int { return len(a.Data) - len(b.Data) })
	return fmt.Errorf("too large for ZooKeeper: %d operations take %d bytes, %d are allowed; the largest is %s with %d bytes",
		len(ops), size, MaxTransaction, largest.Path, len(largest.Data))
}

// evidence finds out whether a write happened, after its answer was lost. It may
// return [ErrUnknownOutcome].
type evidence func(context.Context) (bool, error)

// removed is evidence of a write that removed a node.
func (q *Queue) removed(path string) evidence {
	return func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, path)
		return !ok, err
	}
}

// created is evidence of a write that created a node, which never changes. (The answer is wrong if another
// client created one with the same name and content, or removed it meanwhile.)
func (q *Queue) created(path string, data []byte) evidence {
	return func(ctx context.Context) (bool, error) {
		n, ok, err := q.maybe(ctx, path)
		return ok && bytes.Equal(n.data, data), err
	}
}

// written is evidence of a transaction that wrote data to a node.
// An acquisition writes the status again, unchanged. So a status with a newer
// version and the same bytes is still the one that was written: no two statuses
// have the same time to the nanosecond. In dialect mrt-zk two can, because its
// times have only seconds.
func (q *Queue) written(path string, version int32, data []byte) evidence {
	return func(ctx context.Context) (bool, error) {
		n, ok, err := q.maybe(ctx, path)
		switch {
		case err != nil:
			return false, err
		case ok && n.version == version:
			return false, nil
		case ok && n.version == version+1:
			return bytes.Equal(n.data, data), nil // if not the same, another client wrote it
		case ok && q.dialect != newqueue.MrtZK && bytes.Equal(n.data, data):
			return true, nil
		}
		return false, ErrUnknownOutcome // it was written again since, or removed
	}
}
