// Package life_test lives the life of a migration (docs/life.md): legacy workers, the new
// queue's services and administrators do what the published design allows, between any two steps
// of an operator and in the middle of them, while connections are lost and processes are
// killed. An oracle counts how often the work of each legacy record is done.
//
//	site_test.go      the ZooKeeper with both queues, and an operator's process
//	explorer_test.go  every command, and an act of everybody else in each of its gaps
//	    explorer_acts_test.go       the acts
//	    explorer_footprint_test.go  which gaps an act can tell apart
//	    explorer_oracle_test.go     the operator who does what mrtq says, and how often work was done
//	    explorer_follow_test.go     nights of follow, in which submitters, reporters and cleanups don't wait for its requests
//	    explorer_mails_test.go      what depositors hear
//	    explorer_targets_test.go    another target of the same legacy queue, and what each keeps
//	life_test.go      random lives: many acts and commands, one after the other and in the middle of each other
//	ensemble_test.go  one migration on an ensemble whose servers fail
package life_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// site has a ZooKeeper in this process, with the legacy queue and the new one beside each other, and all who work on
// them. It needs a bubble of package synctest, in which waiting takes no time.
type site struct {
	ctx     context.Context
	dialect newqueue.Dialect
	zk      *minizk.Server
	conn    *zk.Conn        // of people who change something by hand
	source  *migrate.Writer // an operator's session with the legacy queue
	world   *daemons.World
	close   func()
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

// newSite starts the server with a tree, and the workers. Without a tree, there is an empty legacy queue.
func newSite(ctx context.Context, d newqueue.Dialect, tree *znode.Tree, opt daemons.Options) *site {
	s := &site{ctx: ctx, dialect: d, close: func() {}}
	s.zk = value(minizk.Start(minizk.Options{Private: true, RealTime: true}))
	s.later(func() { _ = s.zk.Close() })
	if tree != nil {
		must(s.zk.Load(tree))
	}
	s.conn = value(s.connect())
	s.source = s.open("", s.zk.Dial)
	opt.Dialect = d
	if opt.New.Connect == nil {
		opt.New.Connect = func() (daemons.Session, error) { return s.connect() }
		opt.Legacy.Connect = opt.New.Connect
	}
	s.world = daemons.New(opt)
	s.later(s.world.Close)
	if tree == nil {
		for _, root := range migration.DefaultQueues().Roots() {
			s.create(root, nil, 0)
		}
	}
	return s
}

func (s *site) later(end func()) {
	before := s.close
	s.close = func() { end(); before() }
}

// connect opens a session of go-zookeeper, a client library other than mrtq's own.
func (s *site) connect() (*zk.Conn, error) {
	dial := func(string, string, time.Duration) (net.Conn, error) { return s.zk.Dial(s.ctx) }
	small := zk.WithMaxBufferSize(128 << 10) // the usual buffer is 1.5 MB, and most worlds live for milliseconds
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second, zk.WithLogger(silent{}), zk.WithDialer(dial), small)
	if err == nil {
		s.later(conn.Close)
		_, _, err = conn.Exists("/") // the session is there, so it is not taken for one that is opened later
	}
	return conn, err
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// create creates a znode. If a sequential name is taken, because the numbers of a queue that was made again are behind its names, it takes the next
// number: a submitter who fails tries again.
func (s *site) create(path string, data []byte, flags int32) string {
	for {
		created, err := s.conn.Create(path, data, flags, zk.WorldACL(zk.PermAll))
		if flags != zk.FlagSequence || !errors.Is(err, zk.ErrNodeExists) {
			return value(created, err)
		}
		_, err = s.conn.Multi(&zk.CreateRequest{Path: path + "next", Acl: zk.WorldACL(zk.PermAll)}, &zk.DeleteRequest{Path: path + "next", Version: -1})
		must(err)
	}
}

func (s *site) open(chroot string, dial func(context.Context) (net.Conn, error)) *migrate.Writer {
	w := value(zkconn.OpenWriter(s.ctx, zkconn.Config{Address: zkconn.Address{Servers: []string{"private:0"}, Chroot: chroot}, Dial: dial, GiveUpAfter: time.Second}))
	s.later(w.Close)
	return w
}

type operator struct {
	w    *migrate.Writer // with the new queue, which has the whole tree
	from *migrate.Writer // with the legacy queue, for migrate
	ids  map[int64]bool  // of the sessions
	kill *cut            // kills the process; nil if nothing does
}

func (s *site) operator() *operator {
	o := &operator{ids: map[int64]bool{}}
	before := map[int64]bool{}
	for _, session := range s.zk.Sessions() {
		before[session.ID] = true
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		if o.dead() {
			return nil, errors.New("the process was killed")
		}
		return s.zk.Dial(ctx)
	}
	o.w, o.from = s.open("", dial), s.open("", dial)
	for _, session := range s.zk.Sessions() {
		if !before[session.ID] {
			o.ids[session.ID] = true
		}
	}
	return o
}

func (o *operator) close() {
	o.w.Close()
	o.from.Close()
}

func (o *operator) dead() bool { return o.kill != nil && o.kill.fired() > 0 }

// legacyQueue is the legacy queue as the operator's process sees it now, or those kinds of it.
func (s *site) legacyQueue(ctx context.Context, from *migrate.Writer, kinds ...migration.QueueKind) (*migrate.Source, error) {
	queues := migration.DefaultQueues()
	for _, kind := range migration.QueueKinds {
		if len(kinds) > 0 && !slices.Contains(kinds, kind) {
			delete(queues.Nodes, kind)
		}
	}
	return migrate.OpenSource(ctx, &from.Reader, queues, legacy.Options{})
}

// endSessions ends the sessions of an operator, whose process was stopped for longer than they last.
func (s *site) endSessions(o *operator) {
	for id := range o.ids {
		s.zk.ExpireSession(id)
	}
}

// leads reports whether the operator's process leads, so that others wait for it.
func (s *site) leads(o *operator) bool {
	return slices.ContainsFunc(s.zk.Sessions(), func(one minizk.Session) bool {
		return o.ids[one.ID] && slices.ContainsFunc(one.Ephemerals, func(path string) bool { return strings.HasPrefix(path, "/migration/election/") })
	})
}

type cut struct {
	changes atomic.Int32 // so far
	faults  []*minizk.Injection
}

func (c *cut) fired() int { return c.faults[0].Fired() }

func (c *cut) remove() {
	for _, f := range c.faults {
		f.Remove()
	}
}

// cut makes one change of the operator fail, counted from 1 over its sessions: its
// connection is lost before or after the server makes the change. If kill is set, the process
// is killed there, and nothing of it arrives any more. The server ends its sessions later.
func (s *site) cut(o *operator, change int, after, kill bool) *cut {
	do := minizk.CutBefore()
	if after {
		do = minizk.CutAfter()
	}
	c := &cut{}
	c.faults = append(c.faults, s.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
		return o.ids[op.Session] && op.Write && c.changes.Add(1) == int32(change)
	}, Do: do}))
	if kill {
		o.kill = c
		c.faults = append(c.faults, s.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			return o.ids[op.Session] && c.changes.Load() >= int32(change)
		}, Do: minizk.CutBefore()}))
	}
	return c
}

func (s *site) tree() *znode.Tree { return s.zk.Snapshot() }

func (s *site) removeAll(path string) {
	names, _, err := s.conn.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return
	}
	must(err)
	for _, name := range names {
		s.removeAll(znode.Join(path, name))
	}
	must(s.conn.Delete(path, -1))
}

func (s *site) deposit(id, batch string, status legacy.Status) string {
	return s.submit("/ingest/mrtQ-0000", status, legacy.Payload{"batchID": batch, "jobID": "jid-" + id, "profile": "merritt_content", "type": "file",
		"filename": id + ".zip", "update": false, "submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id, "title": "Title of " + id, "creator": "Someone"})
}

func (s *site) manifest(id string, status legacy.Status) (url, path string) {
	url = "http://store.example.org/manifest/1/ark%3A%2F99999%2F" + id
	return url, s.submit("/mrt.inventory.full/mrtQ-00", status, legacy.Payload{"manifestURL": url})
}

func (s *site) request(root, token string) string {
	return s.submit(root+"/mrtQ-00", legacy.Pending, legacy.Payload{"token": token, "cloud-content-byte": json.Number("5"), "delivery-node": json.Number("7"), "status": json.Number("201")})
}

func (s *site) submit(name string, status legacy.Status, payload legacy.Payload) string {
	data := value(legacyqueue.Encode(legacy.NewHeader(status, time.Now(), legacy.Milliseconds), legacy.JSON, payload))
	return s.create(name, data, zk.FlagSequence)
}
