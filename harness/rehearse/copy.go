package rehearse

import (
	"context"
	"errors"

	"mrtq/harness/daemons"
	"mrtq/internal/restore"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// ErrNothing says that the source has no record, so that there is nothing to rehearse.
var ErrNothing = errors.New("the source has no record, so there is nothing to rehearse; check its address and chroot, and the flags that say where the queues are")

// Copy is a copy of a source: its queues and locks, in memory.
type Copy struct {
	Tree   *znode.Tree
	Queues migration.Queues
	Legacy legacy.Options
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
	for _, top := range src.There { // if a queue node is missing, the plan says what there is instead
		if tree.Get(top) == nil {
			if err := tree.Put(znode.Node{Path: top, Data: []byte{}}); err != nil {
				return nil, err
			}
		}
	}
	for n := range tree.All("/") { // locks of sessions become lasting znodes, as if their sessions went on
		n.Stat.EphemeralOwner = 0
	}
	return &Copy{tree, src.Queues, opt}, nil
}

func (c *Copy) keys() map[string]string {
	keys := map[string]string{}
	for n := range c.Tree.All("/") {
		if r, err := legacy.Decode(znode.Name(n.Path), n.Data, c.Legacy); err == nil {
			keys[n.Path] = daemons.LegacyKey(r.Payload)
		}
	}
	return keys
}

func (c *Copy) put(ctx context.Context, w *migrate.Writer, show func(done, total int)) error {
	if _, err := w.MakeChroot(ctx); err != nil {
		return err
	}
	_, err := restore.Restore(ctx, c.Tree, w, restore.Options{Below: "/", Progress: show})
	return err
}
