package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

// fileTarget is a dump as a target. A ZooKeeper inside this process holds its
// tree, so that a file gets the same result as a server. The file itself does
// not change until [fileTarget.save].
type fileTarget struct {
	*migrate.Target
	path   string
	before fs.FileInfo // of the file as it was read; nil: there was none
	server *minizk.Server
	w      *zkconn.Writer   // Target's
	others []minizk.Session // whose ephemeral znodes, workers' locks, are in the dump
	system []*znode.Node    // what of the dump the server takes for its own
}

// errOverwritten says that a file target is no longer the file that was read.
var errOverwritten = errors.New("somebody else wrote to the file meanwhile; it is as they left it: run the same command again")

// openFileTarget loads the file's tree, which is empty if there is no file.
// packet is the server's jute.maxbuffer in bytes, 0 the default. Close it.
func (a *app) openFileTarget(ctx context.Context, path string, packet int) (_ *fileTarget, err error) {
	before, err := os.Stat(path) // before it is read, so that no change is missed
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unnamed(err)
	}
	tree := znode.NewTree()
	if before != nil {
		if tree, err = readDump(path); err != nil {
			return nil, err
		}
	}
	const user = "owner"
	password := rand.Text()
	// Its clock stands still: no session ends, of this process or of the dump's
	// workers, however long it takes.
	server, err := minizk.Start(minizk.Options{
		Private:     true, // nobody else on this machine may look in
		MaxBuffer:   packet,
		SuperDigest: zk.DigestACL(zk.PermAll, user, password)[0].ID, // no ACL binds whoever has the file
		LogSize:     1,                                              // nobody reads it
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			server.Close()
		}
	}()
	f := &fileTarget{path: path, before: before, server: server, system: slices.Collect(tree.All("/zookeeper"))}
	if err := server.Load(tree); err != nil {
		return nil, err
	}
	f.others = server.Sessions()
	w, err := zkconn.OpenWriter(ctx, zkconn.Config{
		Address:     zkconn.Address{Servers: []string{"private:0"}},
		Dial:        server.Dial,
		Auth:        []zkconn.Auth{zkconn.DigestAuth(user, password)},
		MaxResponse: math.MaxInt32, // --max-response is about what others send
		Log:         a.log,
	})
	if err != nil {
		return nil, err
	}
	f.Target, f.w = migrate.NewTarget(w), w
	if err := f.dismiss(ctx, tree); err != nil {
		w.Close()
		return nil, err
	}
	return f, nil
}

// ACL implements mender.
func (f *fileTarget) ACL(ctx context.Context, path string) ([]znode.ACL, error) {
	return f.w.ACL(ctx, path)
}

// dismiss removes the migrators that were working or waiting when the dump was
// made. Nobody works on the file, and they would stay forever.
func (f *fileTarget) dismiss(ctx context.Context, tree *znode.Tree) error {
	var ops []znode.Op
	for _, path := range slices.Backward(tree.Paths(migrate.ElectionPath)) {
		if path != migrate.ElectionPath {
			ops = append(ops, znode.Delete(path, -1))
		}
	}
	if ops == nil {
		return nil
	}
	return f.Multi(ctx, ops)
}

// save gives the file the tree as it has become, and closes the target. It
// fails with errOverwritten where that would undo what others have written.
func (f *fileTarget) save() error {
	defer f.Close()
	f.Target.Close()
	for _, s := range f.server.Sessions() {
		// In case the server has not noticed in time that the session was
		// closed.
		if !slices.ContainsFunc(f.others, func(o minizk.Session) bool { return o.ID == s.ID }) {
			f.server.ExpireSession(s.ID)
		}
	}
	tree, err := f.server.Snapshot()
	if err != nil {
		return err
	}
	for _, n := range f.system {
		if err := tree.Put(*n); err != nil {
			return err
		}
	}
	if f.overwritten() {
		return checkError(errOverwritten)
	}
	return writeDump(f.path, tree)
}

// overwritten reports whether the file is another than the one that was read.
// What can't be looked at can't be written either, and says so itself.
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

// Close ends the server with all that it holds. Closing twice is fine.
func (f *fileTarget) Close() {
	f.Target.Close()
	f.server.Close() // it is memory: nothing of it can be lost
}

// asItWas adds to err that the file was not changed.
func (f *fileTarget) asItWas(err error) error {
	return &unchanged{err, f.path}
}
