// Package life_test lives the life of a migration (docs/life.md): legacy workers, the new
// queue's services and administrators do what the published design allows, between any two steps
// of an operator and in the middle of them, while connections are lost and processes are
// killed. An oracle counts how often the work of each legacy record is done.
//
//	site_test.go      the two ZooKeepers, and an operator's process
//	oracle_test.go    the records, what was done for them, and what the operator was told
//	others_test.go    what workers, services, administrators and depositors do
//	operator_test.go  what an operator does
//	decisions_test.go what an operator decides record by record
//	backup_test.go    what is restored from a backup, or wiped
//	end_test.go       how a life ends: everything that can run runs
//	life_test.go      random lives
//	cuts_test.go      one migration, cut at each of its transactions
//	ensemble_test.go  one migration on an ensemble whose servers fail
package life_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// site has two ZooKeepers in this process, one with the legacy queue and one with the new
// one, and all who work on them. It needs a bubble of package synctest, in which waiting
// takes no time.
type site struct {
	ctx              context.Context
	dialect          newqueue.Dialect
	oldZK, newZK     *minizk.Server
	oldConn, newConn *zk.Conn // of people who change something by hand
	source           *migrate.Writer
	world            *daemons.World
	close            func()
}

// failure is why a test has failed: panic with it ends a step, wherever it is.
type failure string

func must(err error) {
	if err != nil {
		panic(failure(err.Error()))
	}
}

func value[T any](v T, err error) T {
	must(err)
	return v
}

// newSite starts the servers, with an empty legacy queue, and the workers.
func newSite(ctx context.Context, d newqueue.Dialect, opt daemons.Options) *site {
	s := &site{ctx: ctx, dialect: d, close: func() {}}
	s.oldZK, s.newZK = s.start(), s.start()
	s.oldConn, s.newConn = value(s.connect(s.oldZK)), value(s.connect(s.newZK))
	s.source = s.open(s.oldZK.Dial)
	opt.Dialect = d
	opt.New.Connect = func() (daemons.Session, error) { return s.connect(s.newZK) }
	opt.Legacy.Connect = func() (daemons.Session, error) { return s.connect(s.oldZK) }
	s.world = daemons.New(opt)
	s.later(s.world.Close)
	for _, root := range migrate.DefaultQueues().Roots() {
		s.create(s.oldConn, root, nil, 0)
	}
	return s
}

func (s *site) later(end func()) {
	before := s.close
	s.close = func() { end(); before() }
}

func (s *site) start() *minizk.Server {
	server := value(minizk.Start(minizk.Options{Private: true, RealTime: true, LogSize: 1}))
	s.later(func() { _ = server.Close() })
	return server
}

// connect opens a session of go-zookeeper, a client library other than mrtq's own.
func (s *site) connect(server *minizk.Server) (*zk.Conn, error) {
	dial := func(string, string, time.Duration) (net.Conn, error) { return server.Dial(s.ctx) }
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second, zk.WithLogger(silent{}), zk.WithDialer(dial))
	if err == nil {
		s.later(conn.Close)
	}
	return conn, err
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (s *site) create(c *zk.Conn, path string, data []byte, flags int32) string {
	return value(c.Create(path, data, flags, zk.WorldACL(zk.PermAll)))
}

// open opens a session of mrtq's own client.
func (s *site) open(dial func(context.Context) (net.Conn, error)) *migrate.Writer {
	w := value(zkconn.OpenWriter(s.ctx, zkconn.Config{Address: zkconn.Address{Servers: []string{"private:0"}}, Dial: dial, GiveUp: time.Second}))
	s.later(w.Close)
	return w
}

// legacyQueue is the legacy queue as it is now.
func (s *site) legacyQueue() *migrate.Source {
	return value(migrate.OpenSource(s.ctx, &s.source.Reader, migrate.DefaultQueues(), legacy.Options{}))
}

// operator is a process of an operator, with its sessions.
type operator struct {
	w       *migrate.Writer // to the new queue
	from    *migrate.Writer // to the legacy queue, to remove records
	session int64           // of w
	source  int64           // of from
	kill    *cut            // kills the process; nil if nothing does
}

func (s *site) operator() *operator {
	o := &operator{}
	open := func(server *minizk.Server) (*migrate.Writer, int64) {
		before := map[int64]bool{}
		for _, session := range server.Sessions() {
			before[session.ID] = true
		}
		w := s.open(func(ctx context.Context) (net.Conn, error) {
			if o.dead() {
				return nil, errors.New("the process was killed")
			}
			return server.Dial(ctx)
		})
		for _, session := range server.Sessions() {
			if !before[session.ID] {
				return w, session.ID
			}
		}
		return w, 0
	}
	o.w, o.session = open(s.newZK)
	o.from, o.source = open(s.oldZK)
	return o
}

func (o *operator) close() {
	o.w.Close()
	o.from.Close()
}

func (o *operator) dead() bool { return o.kill != nil && o.kill.fired() > 0 }

// leads reports whether the operator's process leads, so that others wait for it.
func (s *site) leads(o *operator) bool {
	for _, session := range s.newZK.Sessions() {
		if session.ID == o.session {
			return len(session.Ephemerals) > 0
		}
	}
	return false
}

// cut is a change of an operator that fails.
type cut struct {
	changes atomic.Int32 // so far
	faults  []*minizk.Injected
}

func (c *cut) fired() (n int) {
	for _, f := range c.faults[:2] {
		n += f.Fired()
	}
	return n
}

func (c *cut) remove() {
	for _, f := range c.faults {
		f.Remove()
	}
}

// cut makes one change of the operator fail, counted from 1 over both of its sessions: its
// connection is lost before or after the server makes the change. If kill is set, the process
// is killed there, and nothing of it arrives any more. The servers end its sessions later.
func (s *site) cut(o *operator, change int, after, kill bool) *cut {
	do := minizk.CutBefore()
	if after {
		do = minizk.CutAfter()
	}
	c := &cut{}
	servers := map[*minizk.Server]int64{s.newZK: o.session, s.oldZK: o.source}
	for server, session := range servers {
		c.faults = append(c.faults, server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			return op.Session == session && op.Changes && c.changes.Add(1) == int32(change)
		}, Do: do}))
	}
	if kill {
		o.kill = c
		for server, session := range servers {
			c.faults = append(c.faults, server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
				return op.Session == session && c.changes.Load() >= int32(change)
			}, Do: minizk.CutBefore()}))
		}
	}
	return c
}

func (s *site) tree(server *minizk.Server) *znode.Tree { return value(server.Snapshot()) }

// removeAll deletes a znode and everything below it.
func removeAll(c *zk.Conn, path string) {
	names, _, err := c.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return
	}
	must(err)
	for _, name := range names {
		removeAll(c, znode.Join(path, name))
	}
	must(c.Delete(path, -1))
}

// putBack creates the znodes of a tree below a path that are not there, as a backup is
// restored znode by znode. Sessions have ended, so their znodes are left out.
func (s *site) putBack(tree *znode.Tree, below string) {
	for n := range tree.All(below) {
		if there, _, err := s.newConn.Exists(n.Path); err == nil && !there && n.Stat.EphemeralOwner == 0 {
			s.create(s.newConn, n.Path, n.Data, 0)
		}
	}
}
