package sides

import (
	"context"
	"fmt"
	"io"
	"time"

	"mrtq/internal/openfile"
	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// LackingError says that a dump is not complete: a znode of it could not be read when it was made.
type LackingError struct{ Path string } // the first such znode

func (e *LackingError) Error() string {
	return fmt.Sprintf("the dump lacks the data of %s, which could not be read when it was made: make another one with credentials that may read everything", e.Path)
}

// loaded is a dump or a data directory in memory.
type loaded struct {
	tree   *ztree.Tree
	chroot string                // the path below which to read, "" if that is all
	system map[string]znode.Node // a dump's znodes of ZooKeeper itself, which the tree doesn't have
	lacks  string                // the first znode that is marked as unreadable
}

// Load reads a dump or a data directory into a tree, for a server. It refuses a dump that is not
// whole with a *[LackingError]. See [Open] for the other errors.
func Load(ctx context.Context, p Place, opt Options) (*ztree.Tree, error) {
	opt.Whole = true
	l, err := load(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	return l.tree, nil
}

func load(ctx context.Context, p Place, opt Options) (*loaded, error) {
	if err := opt.room(p); err != nil {
		return nil, err
	}
	if p.Data != nil {
		return loadData(ctx, p, opt)
	}
	l, err := loadDump(ctx, p.File, opt)
	if err == nil && opt.Whole && l.lacks != "" {
		err = &LackingError{l.lacks}
	}
	return l, err
}

// loadDump reads a dump, packed or not, in any order, from a file or a pipe. A line that can't be
// read, or a znode that no server would have, is a *[znode.DumpError].
func loadDump(ctx context.Context, path string, opt Options) (*loaded, error) {
	f, err := openfile.Read(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if isGzip(path) {
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

// loadData reads a data directory, and says which transaction is the last one in it.
func loadData(ctx context.Context, p Place, opt Options) (*loaded, error) {
	d, err := zkdata.Read(ctx, *p.Data, zkdata.Options{Say: opt.Say, Progress: opt.Progress})
	if err != nil {
		return nil, err
	}
	made := ""
	if !d.Time.IsZero() {
		made = ", made at " + d.Time.Format(time.RFC3339)
	}
	opt.say(fmt.Sprintf("the last transaction in %s is 0x%x%s", p.Text, d.Zxid, made))
	return &loaded{tree: d.Tree, chroot: d.Chroot}, nil
}
