package sides

import (
	"math"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

type local struct {
	tree   *znode.Tree
	server *minizk.Server
	others []minizk.Session // those that own ephemeral znodes of what was loaded
}

// serve starts a server. Only this process can reach it.
func serve(tree *znode.Tree, opt Options) (*local, error) {
	server, err := minizk.Start(minizk.Options{Private: true, Super: true, Bare: true, MaxBuffer: opt.MaxBuffer, Tree: tree})
	if err != nil {
		return nil, err
	}
	return &local{tree, server, server.Sessions()}, nil
}

func (l *local) config(opt Options) zkconn.Config {
	return zkconn.Config{
		Address:     zkconn.Address{Servers: []string{"memory:0"}},
		Dial:        l.server.Dial,
		Bare:        true,
		MaxResponse: math.MaxInt32, // it is ours
		Log:         opt.Config.Log,
	}
}

func (l *local) close() { _ = l.server.Close() } // without a port nothing can fail
