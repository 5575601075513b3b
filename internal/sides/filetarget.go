package sides

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"mrtq/harness/minizk"
	"mrtq/internal/openfile"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

var (
	// ErrOverwritten says that another process wrote to the file of a target.
	ErrOverwritten = errors.New("another process wrote to the file meanwhile, and mrtq did not overwrite it; run the same command again")
	// ErrNotRegular says that a target is a pipe, a device or the like.
	ErrNotRegular = errors.New("this is not a regular file, so it can't be replaced")
)

// fileTarget is a dump as a target.
type fileTarget struct {
	path   string
	before fs.FileInfo // of the file when it was read; nil if there was none
	local  *local
}

func openFileTarget(ctx context.Context, p Place, opt Options) (*WritableSide, error) {
	before, err := os.Stat(p.File) // before the file is read, so that commit notices every change
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	tree := znode.NewTree()
	if before != nil {
		if !before.Mode().IsRegular() {
			return nil, ErrNotRegular
		}
		opt.RequireComplete = true
		if tree, err = Load(ctx, p, opt); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Backward(tree.Paths(opt.Election)) {
		if path != opt.Election {
			tree.Remove(tree.Get(path))
		}
	}
	local, err := serve(tree, opt)
	if err != nil {
		return nil, err
	}
	w, err := zkconn.OpenWriter(ctx, local.config(opt))
	if err != nil {
		local.close()
		return nil, err
	}
	return &WritableSide{w, &fileTarget{p.File, before, local}}, nil
}

// commit writes the tree to the file. The session has ended before.
func (f *fileTarget) commit(ctx context.Context) error {
	f.local.endSessions()
	f.local.close()
	return openfile.Replace(f.path, func(w io.Writer) error {
		write := f.local.writeDump
		if isGzip(f.path) {
			write = f.local.writePacked
		}
		if err := write(ctx, w); err != nil {
			return err
		}
		if f.overwritten() { // checked last, because writing takes time
			return ErrOverwritten
		}
		return nil
	})
}

// overwritten reports whether the file has changed since it was read. It ignores errors of Stat,
// because the write will then fail, too.
func (f *fileTarget) overwritten() bool {
	now, err := os.Stat(f.path)
	switch {
	case err != nil:
		return f.before != nil && errors.Is(err, fs.ErrNotExist)
	case f.before == nil:
		return true
	}
	return !(os.SameFile(f.before, now) && now.Size() == f.before.Size() && now.ModTime().Equal(f.before.ModTime()))
}

// endSessions ends the sessions of this process. Sessions of what was loaded stay, and so do their
// ephemeral znodes.
func (l *local) endSessions() {
	for _, s := range l.server.Sessions() {
		if !slices.ContainsFunc(l.others, func(o minizk.Session) bool { return o.ID == s.ID }) {
			l.server.ExpireSession(s.ID)
		}
	}
}

func (l *local) writePacked(ctx context.Context, w io.Writer) error {
	z := gzip.NewWriter(w)
	if err := l.writeDump(ctx, z); err != nil {
		return err
	}
	return z.Close()
}

// writeDump writes the tree of the closed server, without the server's own znodes.
func (l *local) writeDump(ctx context.Context, w io.Writer) error {
	d := znode.NewDumpWriter(w)
	written := 0
	for n := range l.tree.All("/") {
		if znode.Within(n.Path, ztree.SystemRoot) {
			continue
		}
		if written++; written%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.Write(n); err != nil {
			return err
		}
	}
	return d.Close()
}
