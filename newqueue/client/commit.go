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
	lock string
	// session, unless it is 0, has the lock that allows this write. It is not sent in another one.
	session  int64
	happened evidence
}

// commit sends one transaction, which also creates the folders that are missing.
// The error is a *[znode.MultiError] if the server refused an operation. It wraps
// [ErrUnknownOutcome] if the outcome is not known. After any other error nothing was written. That is also
// true of [ErrNotLocked], which says that the session that had the lock is over.
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
		if w.session != 0 && q.conn.SessionID() != w.session {
			return ErrNotLocked
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
		happened, err = w.happened.look(ctx)
	}
	if err != nil && !errors.Is(err, ErrUnknownOutcome) {
		lost = err
	}
	if err != nil {
		return false, fmt.Errorf("%w: look at %s (%w)", ErrUnknownOutcome, w.happened.path, lost)
	}
	return happened, nil
}

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

// evidence finds out whether a write happened, after its answer was lost. Another client may have done
// the same meanwhile, or undone it. So equal content and absence say nothing about who did what, and evidence is only
// what no other client can have left. Whoever holds a lock can have more of it than others.
type evidence struct {
	path string // where a caller can look if it is [ErrUnknownOutcome]
	look func(context.Context) (happened bool, err error)
}

// there is evidence of a write that creates a folder. It does not matter who created it.
func (q *Queue) there(path string) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, path)
		return ok, err
	}}
}

// created is evidence of a write that creates content, and the parent's next child at path. before is the parent's
// counter before the write. It can only prove that it did not happen: the parent has had no new child since, or
// another client has used the name for other content, which was not rewritten since: the deployed Process does that. Only the second needs a name
// that is not used twice: that of a lock is, and a lock is created without content.
func (q *Queue) created(path string, before int32, content znode.Op) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		next, _, err := q.sequence(ctx, znode.Parent(path))
		if err != nil || next == before {
			return false, err
		}
		n, ok, err := q.maybe(ctx, content.Path)
		if err == nil && (!ok || n.version > 0 || len(content.Data) == 0 || bytes.Equal(n.data, content.Data)) {
			err = ErrUnknownOutcome
		}
		return false, err
	}}
}

// removed is evidence of a write that removes a node whose name is never used again.
func (q *Queue) removed(path string) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, path)
		if err == nil && !ok {
			err = ErrUnknownOutcome
		}
		return false, err
	}}
}

// written is evidence of a write of data to a node that had a version. It can only prove that it did not happen: that version is
// still there, or the next one is another client's.
func (q *Queue) written(path string, version int32, data []byte) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		n, ok, err := q.maybe(ctx, path)
		if err == nil && (!ok || !unwritten(n, version, data)) {
			err = ErrUnknownOutcome
		}
		return false, err
	}}
}

func unwritten(n node, version int32, data []byte) bool {
	return n.version == version || n.version == version+1 && !bytes.Equal(n.data, data)
}

// locked is evidence of a write that creates a lock of this session, while no other goroutine may: see
// reserve. If it was done in a session that is over, nothing is left of it.
func (q *Queue) locked(path string) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, path)
		return ok && stat.EphemeralOwner != 0 && stat.EphemeralOwner == q.conn.SessionID(), err
	}}
}

// released is evidence of a worker's write that removes its lock, which had a Stat before, and writes data to a version of the status. As
// long as the lock is there, it did not happen. If the lock is gone although its session
// lives, then in dialect design its holder has removed it. In mrt-zk the admin tool may have, too, and deployed daemons, and then another
// worker may have done the same step in the same second. So there the status must have the next version, and the lock must have been removed in
// the same transaction. Another worker's acquisition writes the next version, too, with the bytes that were there, but it leaves a lock. Deployed
// programs write the status and the lock each on its own.
func (e *Item) released(held *zk.Stat, version int32, data []byte) evidence {
	return evidence{e.path + "/status", func(ctx context.Context) (bool, error) {
		lock, there, err := e.q.stat(ctx, e.path+"/lock")
		if err != nil || there && lock.Czxid == held.Czxid {
			return false, err
		}
		n, ok, err := e.q.maybe(ctx, e.path+"/status")
		lives := held.EphemeralOwner == e.q.conn.SessionID()
		switch {
		case err != nil || ok && unwritten(n, version, data):
			return false, err
		case lives && e.q.dialect == newqueue.Design:
			return true, nil
		case lives && ok && n.version == version+1:
			var names []string
			item, err := read(ctx, e.path, func() (stat *zk.Stat, err error) {
				names, stat, err = e.q.conn.Children(e.q.path(e.path))
				return stat, err
			})
			if err != nil || item.Pzxid == n.mzxid && !slices.Contains(names, "lock") { // the last child that came or went is the lock
				return err == nil, err
			}
		}
		return false, ErrUnknownOutcome
	}}
}

// unlocked is evidence of a write that removes a named lock, which had a Stat before. If the lock ends with a session, no other session
// takes it as long as this one lives, and of this one's goroutines only the one that has reserved it: so that it is gone is all
// that the caller asked for.
func (q *Queue) unlocked(path string, held *zk.Stat) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, path)
		if err != nil || ok && stat.Czxid == held.Czxid {
			return false, err
		}
		if held.EphemeralOwner == 0 || held.EphemeralOwner != q.conn.SessionID() {
			return false, ErrUnknownOutcome
		}
		return true, nil
	}}
}

// underLock is evidence of a write that also writes the lock, which had a Stat before: see keepsLock.
func (q *Queue) underLock(path string, held *zk.Stat) evidence {
	return evidence{path, func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, path)
		if err == nil && (!ok || stat.Czxid != held.Czxid) {
			err = ErrUnknownOutcome // it ended with its session
		}
		return err == nil && stat.Version > held.Version, err
	}}
}
