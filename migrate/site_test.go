package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// tester has what a site needs of a test or of a rapid check.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}

// site is a ZooKeeper that a migrator works on. The test reads and changes it through sessions
// of its own.
type site struct {
	*Target // over the migrator's session
	zk      *minizk.Server
	session int64 // the migrator's
	client  *zk.Conn
}

// serve runs a server that holds the tree.
func serve(t tester, tree *znode.Tree) *site {
	t.Helper()
	return serveOn(t, minizk.RunWith(t, minizk.Options{Now: testNow}), tree)
}

// serveOn loads the tree into a server.
func serveOn(t tester, server *minizk.Server, tree *znode.Tree) *site {
	t.Helper()
	s := &site{zk: server}
	if err := s.zk.Load(tree); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.client, err = connect(s.zk); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	s.begin(t)
	return s
}

// begin gives the migrator a new session, as a new process has.
func (s *site) begin(t tester) {
	t.Helper()
	s.Target = NewTarget(open(t, s.zk))
	all := s.zk.Sessions()
	s.session = all[len(all)-1].ID
}

func open(t tester, server *minizk.Server) *zkconn.Writer {
	t.Helper()
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{
		Address: zkconn.Address{Servers: []string{server.Addr()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// connect opens a session of the client library itself, so that the migrator's code does not
// judge itself.
func connect(server *minizk.Server) (*zk.Conn, error) {
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false), zk.WithMaxConnBufferSize(64<<10))
	if err == nil {
		_, _, err = conn.Exists("/") // waits until there is a session
	}
	return conn, err
}

// send sends the operations as one transaction.
func send(conn *zk.Conn, ops []znode.Op) error {
	requests := make([]any, len(ops))
	for i, op := range ops {
		switch op.Kind {
		case znode.OpCreate:
			requests[i] = &zk.CreateRequest{Path: op.Path, Data: op.Data, Acl: zk.WorldACL(zk.PermAll)}
		case znode.OpSet:
			requests[i] = &zk.SetDataRequest{Path: op.Path, Data: op.Data, Version: op.Version}
		case znode.OpDelete:
			requests[i] = &zk.DeleteRequest{Path: op.Path, Version: op.Version}
		default:
			return fmt.Errorf("%v: not what a test does", op)
		}
	}
	_, err := conn.Multi(requests...)
	return err
}

// treeOf returns all that the server holds.
func treeOf(t tester, s *site) *znode.Tree {
	t.Helper()
	tree, err := s.zk.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// do changes the tree as another client does.
func do(t tester, s *site, ops ...znode.Op) {
	t.Helper()
	if err := send(s.client, ops); err != nil {
		t.Fatal(err)
	}
}

// transactions returns a function that reports whether an operation is one of the chain of
// the migrator that is at work now.
func (s *site) transactions() func(minizk.Op) bool {
	session := s.session
	return func(op minizk.Op) bool {
		return op.Code == jute.OpMulti && op.Session == session &&
			slices.ContainsFunc(op.Paths, func(path string) bool { return strings.HasPrefix(path, RunsPath+"/") })
	}
}

// cut ends the connection at the migrator's n-th transaction, before or after the server
// does it.
func (s *site) cut(n int, carried bool) *minizk.Injected {
	act := minizk.CutBefore()
	if carried {
		act = minizk.CutAfter()
	}
	return s.zk.Inject(minizk.Fault{On: s.transactions(), Nth: n, Do: act})
}

// kill ends the migrator for good at its n-th transaction, as kill -9 does: the
// connection is cut, nothing more arrives, and the session ends.
func (s *site) kill(t tester, n int, carried bool) {
	s.cut(n, carried)
	session, transaction, seen := s.session, s.transactions(), 0
	dead := make(chan struct{}, 1)
	s.zk.Inject(minizk.Fault{
		On: func(op minizk.Op) bool {
			if op.Session != session {
				return false
			}
			if transaction(op) {
				if seen++; seen == n {
					dead <- struct{}{}
				}
			}
			return seen >= n // at the n-th, the cut comes first
		},
		Do: minizk.Hold(nil),
	})
	go func() {
		select {
		case <-dead:
			s.zk.ExpireSession(session)
		case <-t.Context().Done():
		}
	}()
}

// before calls f before each of the migrator's transactions, which waits for it.
func (s *site) before(t tester, f func(n int)) {
	arrived, gate := make(chan struct{}, 1), make(chan struct{})
	transaction := s.transactions()
	s.zk.Inject(minizk.Fault{
		On: func(op minizk.Op) bool {
			if !transaction(op) {
				return false
			}
			arrived <- struct{}{} // never blocks: later transactions wait for this one
			return true
		},
		Do: minizk.Hold(gate),
	})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-arrived:
			case <-t.Context().Done():
				return
			}
			f(n)
			select {
			case gate <- struct{}{}:
			case <-t.Context().Done():
				return
			}
		}
	}()
}
