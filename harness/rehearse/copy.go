package rehearse

import (
	"context"
	"fmt"

	"mrtq/internal/sides"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

// ErrNothing says that the source has no record, so that there is nothing to rehearse.
var ErrNothing = fmt.Errorf("the source has no record, so there is nothing to rehearse")

// Copy is a copy of a source: its queues and locks, in memory.
type Copy struct {
	Tree   *znode.Tree
	Queues migrate.Queues
	Legacy legacy.Options
}

// What a record takes at most: it is in three copies, and a job has a dozen znodes.
const copies, znodesOfJob, bytesOfJob = 3, 14, 2000

// CheckRoom refuses a rehearsal for which this machine lacks the memory: the error is a
// *[sides.MemoryError]. records are those of the source.
func CheckRoom(source string, records int) error {
	return sides.CheckRoom("a rehearsal of "+source, copies*sides.Memory(int64(records*(znodesOfJob+1)), int64(records*2*bytesOfJob)))
}

// ReadCopy reads a source. It writes nothing. The error wraps [ErrNothing], or comes from
// reading, or names a record that may not be read.
func ReadCopy(ctx context.Context, src *migrate.Source, opt legacy.Options) (*Copy, error) {
	if src.Len() == 0 {
		return nil, ErrNothing
	}
	tree, err := src.Reader().Tree(ctx, src.Queues.Roots()...)
	if err != nil {
		return nil, err
	}
	return &Copy{tree, src.Queues, opt}, nil
}

// keys are whose work the records are, by path: see [daemons.World.Executions].
func (c *Copy) keys() map[string]string {
	keys := map[string]string{}
	for n := range c.Tree.All("/") {
		r, err := legacy.Decode(znode.Name(n.Path), n.Data, c.Legacy)
		if err != nil {
			continue
		}
		for _, key := range []string{"jobID", "manifestURL", "token"} {
			if id, ok := r.Payload.Text(key); ok && id != "" {
				keys[n.Path] = id
				break
			}
		}
	}
	return keys
}

// mostBytes is how much a transaction that writes the copy has at most.
const mostBytes = 128 << 10

// put creates the copy below the session's chroot. Locks of sessions become lasting znodes, as
// if their sessions went on.
func (c *Copy) put(ctx context.Context, w *migrate.Writer, show func(done, total int)) error {
	if _, err := w.MakeChroot(ctx); err != nil {
		return err
	}
	var ops []znode.Op
	size, done := 0, 0
	send := func() error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		err := w.Multi(ctx, ops)
		done += len(ops)
		show(done, c.Tree.Len())
		ops, size = nil, 0
		return err
	}
	for n := range c.Tree.All("/") {
		if n.Path == "/" {
			continue
		}
		op := znode.Create(n.Path, n.Data)
		more := znode.MultiSize([]znode.Op{op}, len(w.Address().Chroot))
		if size > 0 && size+more > mostBytes {
			if err := send(); err != nil {
				return err
			}
		}
		ops, size = append(ops, op), size+more
	}
	if len(ops) == 0 {
		return nil
	}
	return send()
}
