package sides

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"

	"mrtq/internal/znode"
)

// IncompleteError says that a dump is not complete: a znode of it could not be read when it was made.
type IncompleteError struct{ Path string } // the first such znode

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the dump lacks the data of %s, which could not be read when it was made: make another one with credentials that may read everything", e.Path)
}

// Load reads a dump, packed or not, in any order, from a file or a pipe. The tree has the Stats that a
// chroot with these znodes shows. A line that can't be read, or a znode
// that no server would have, is a *[znode.DumpError].
func Load(ctx context.Context, p Place, opt Options) (*znode.Tree, error) {
	f, err := os.Open(p.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if isGzip(p.File) {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("this is no gzip file: %w", err)
		}
	}
	tree, nodes := znode.NewTree(), 0
	err = znode.ScanDump(&until{ctx, r}, func(n znode.Node) error {
		if n.Unreadable != "" && opt.RequireComplete {
			return &IncompleteError{n.Path}
		}
		if nodes++; nodes%1024 == 0 {
			opt.progress(nodes)
		}
		return tree.Add(n)
	})
	if err != nil {
		return nil, err
	}
	tree.SettleStats(0)
	return tree, nil
}

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
