package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

// fileTarget is a dump that is to be written to. A ZooKeeper inside this process
// holds its tree meanwhile, so that a file becomes what a server would have
// become; the file itself stays as it is until [fileTarget.save].
type fileTarget struct {
	*migrate.Target
	path   string
	server *minizk.Server
	others []minizk.Session // whose ephemeral znodes, workers' locks, are in the dump
	system []*znode.Node    // what of the dump the server takes for its own
}

// openFileTarget loads the tree, which is the file's or is to be. packet is the
// server's jute.maxbuffer in bytes, 0 the default. Close it.
func (a *app) openFileTarget(ctx context.Context, path string, tree *znode.Tree, packet int) (_ *fileTarget, err error) {
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
	f := &fileTarget{path: path, server: server, system: slices.Collect(tree.All("/zookeeper"))}
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
	f.Target = migrate.NewTarget(w)
	if err := f.dismiss(ctx, tree); err != nil {
		w.Close()
		return nil, err
	}
	return f, nil
}

// dismiss removes the migrators that were at work or stood by where the dump was
// made: nobody is at work on the file, and none of them would ever be gone.
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

// save gives the file the tree as it has become, and closes the target.
func (f *fileTarget) save() error {
	defer f.Close()
	f.Target.Close()
	for _, s := range f.server.Sessions() {
		// Should the goodbye not have been heard in time.
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
	return writeDump(f.path, tree)
}

// Close ends the server with all that it holds. Closing twice is fine.
func (f *fileTarget) Close() {
	f.Target.Close()
	f.server.Close() // it is memory: nothing of it can be lost
}

// asItWas is err with what became of the file: nothing.
func (f *fileTarget) asItWas(err error) error {
	return fmt.Errorf("%w; %s is as it was", err, f.path)
}
