package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

// fileTarget is a dump as a target. It accepts transactions as a server would, so
// that the result is the same. It does not keep the whole tree in memory. The file
// does not change until [fileTarget.save].
type fileTarget struct {
	*migrate.Target
	path   string
	before fs.FileInfo // of the file when it was read; nil if there was none
	tree   *migrate.OfflineTree
}

// errOverwritten says that another process wrote to a file target.
var errOverwritten = errors.New("another process wrote to the file meanwhile, and mrtq did not overwrite it; run the same command again")

// openFileTarget opens the file's tree, which is empty if there is no file. packet is
// the jute.maxbuffer, in bytes, of the server for which the file is meant, or 0 for the
// default. The caller closes the target.
func (a *app) openFileTarget(ctx context.Context, path string, packet int) (_ *fileTarget, err error) {
	before, err := os.Stat(path) // before the file is read, so that save notices every change
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unnamed(err)
	}
	var dump *side.Dump
	if before != nil {
		if dump, err = a.openWholeDump(ctx, path); err != nil {
			return nil, err
		}
		defer dump.Close()
	}
	tree, err := migrate.OpenOfflineTree(ctx, dump, path, packet)
	if err != nil {
		return nil, unnamed(err)
	}
	f := &fileTarget{Target: migrate.NewOfflineTarget(tree), path: path, before: before, tree: tree}
	if err := f.removeMigrators(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeMigrators removes the migrators that were working or waiting when the dump was
// made. They don't work on the file, so nothing else would ever remove them.
func (f *fileTarget) removeMigrators(ctx context.Context) error {
	var ops []znode.Op
	for n, err := range f.tree.Walk(ctx, migrate.ElectionPath) {
		if err != nil {
			return err
		}
		if n.Path != migrate.ElectionPath {
			ops = append(ops, znode.Delete(n.Path, -1))
		}
	}
	if ops == nil {
		return nil
	}
	slices.Reverse(ops)
	return f.Multi(ctx, ops)
}

// save writes the tree to the file, and closes the target. It fails with
// errOverwritten if another process has written to the file meanwhile.
func (f *fileTarget) save(ctx context.Context) error {
	defer f.Close()
	err := writeFile(f.path, func(w io.Writer) error {
		if err := f.tree.WriteDump(ctx, w); err != nil {
			return err
		}
		if f.overwritten() { // checked last, because writing takes time
			return checkError(errOverwritten)
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return f.unchanged(err)
	}
	return err
}

// overwritten reports whether the file has changed since it was read. It ignores
// errors of Stat, because the write will then fail, too.
func (f *fileTarget) overwritten() bool {
	now, err := os.Stat(f.path)
	switch {
	case err != nil:
		return f.before != nil && errors.Is(err, fs.ErrNotExist)
	case f.before == nil:
		return true
	}
	return now.Mode().IsRegular() &&
		!(os.SameFile(f.before, now) && now.Size() == f.before.Size() && now.ModTime().Equal(f.before.ModTime()))
}

// unchanged adds to err that the file was not changed.
func (f *fileTarget) unchanged(err error) error {
	return &unchangedError{err, f.path}
}
