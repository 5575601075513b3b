package sides

import (
	"context"
	"fmt"
	"io"

	"mrtq/internal/openfile"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// LackingError says that a dump is not complete: a znode of it could not be read when it was made.
type LackingError struct{ Path string } // the first such znode

func (e *LackingError) Error() string {
	return fmt.Sprintf("the dump lacks the data of %s, which could not be read when it was made: make another one with credentials that may read everything", e.Path)
}

// loaded is a dump in memory.
type loaded struct {
	tree   *ztree.Tree
	system map[string]znode.Node // a dump's znodes of ZooKeeper itself, which the tree doesn't have
	lacks  string                // the first znode that is marked as unreadable
}

// Load reads a dump into a tree, for a server. It refuses a dump that is not
// whole with a *[LackingError]. See [Open] for the other errors.
func Load(ctx context.Context, p Place, opt Options) (*ztree.Tree, error) {
	opt.Whole = true
	l, err := load(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	return l.tree, nil
}

// load reads a dump, packed or not, in any order, from a file or a pipe. A line that can't be
// read, or a znode that no server would have, is a *[znode.DumpError].
func load(ctx context.Context, p Place, opt Options) (*loaded, error) {
	f, err := openfile.Read(p.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if isGzip(p.File) {
		z, err := openfile.Unpack(f)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	}
	loader, l, nodes := ztree.NewLoader(), &loaded{}, 0
	err = znode.ScanDump(&until{ctx, r}, func(n znode.Node) error {
		if n.Unreadable != "" && l.lacks == "" {
			l.lacks = n.Path
		}
		if nodes++; nodes%1024 == 0 {
			opt.progress(nodes)
		}
		return loader.Add(n)
	})
	if err == nil && opt.Whole && l.lacks != "" {
		err = &LackingError{l.lacks}
	}
	if err != nil {
		return nil, err
	}
	l.tree, l.system = loader.Tree(), loader.System()
	return l, nil
}

// until is a reader that ends when its context ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u *until) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(b)
}
