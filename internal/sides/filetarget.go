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
)

var (
	// ErrOverwritten says that another process wrote to the file of a target.
	ErrOverwritten = errors.New("another process wrote to the file meanwhile, and mrtq did not overwrite it; run the same command again")
	// ErrNotRegular says that a target is a pipe, a device or the like.
	ErrNotRegular = errors.New("this is not a regular file, so it can't be replaced")
)

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
	for _, name := range tree.Children(opt.Election) {
		tree.Prune(znode.Join(opt.Election, name))
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
		var err error
		if isGzip(f.path) {
			z := gzip.NewWriter(w)
			err = errors.Join(f.local.writeDump(z), z.Close())
		} else {
			err = f.local.writeDump(w)
		}
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case f.overwritten(): // checked last, because writing takes time
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

func (l *local) writeDump(w io.Writer) error { return znode.WriteDump(w, l.tree) }
