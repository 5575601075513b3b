package sides

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// IncompleteError says that a dump is not complete: a znode of it could not be read when it was made.
type IncompleteError struct{ Path string } // the first such znode

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the dump lacks the data of %s, which could not be read when it was made: make another one with credentials that may read everything", e.Path)
}

// Load reads a dump into a tree, for a server. It refuses a dump that is not
// whole with a *[IncompleteError]. See [Open] for the other errors.
func Load(ctx context.Context, p Place, opt Options) (*ztree.Tree, error) {
	opt.RequireComplete = true
	return load(ctx, p, opt)
}

// Nodes loads a dump, and yields all its znodes in the order of a dump, with their ACLs. It needs no
// server. The errors are those of [Open].
func Nodes(ctx context.Context, p Place, opt Options) (iter.Seq[znode.Node], error) {
	tree, err := load(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	return tree.Nodes("/"), nil
}

// load reads a dump, packed or not, in any order, from a file or a pipe. A line that can't be
// read, or a znode that no server would have, is a *[znode.DumpError].
func load(ctx context.Context, p Place, opt Options) (*ztree.Tree, error) {
	f, err := os.Open(p.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if isGzip(p.File) {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	loader, nodes := ztree.NewLoader(), 0
	err = znode.ScanDump(&until{ctx, r}, func(n znode.Node) error {
		if n.Unreadable != "" && opt.RequireComplete {
			return &IncompleteError{n.Path}
		}
		if nodes++; nodes%1024 == 0 {
			opt.progress(nodes)
		}
		return loader.Add(n)
	})
	if err != nil {
		return nil, err
	}
	return loader.Tree(), nil
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
