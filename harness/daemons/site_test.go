package daemons_test

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// corpora are the legacy queues for these tests.
func corpora(t *testing.T) map[string]*znode.Tree {
	t.Helper()
	f := value(os.Open("../../features/testdata/legacy.ndjson"))(t)
	defer f.Close()
	return map[string]*znode.Tree{
		"written by JVM encoders": value(znode.ReadDump(f))(t),
		"generated":               value(legacyqueue.Make(legacyqueue.Options{Records: 80, Seed: 1, Consumed: true}))(t),
		"as deployed":             deployed(t),
	}
}

func deployed(t *testing.T) *znode.Tree { return value(legacyqueue.Deployed())(t) }

func value[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// everything has the policies that migrate every record, even one that no service
// could work on.
var everything = migrate.Policies{Consumed: migrate.AsPending, Completed: migrate.Migrate, Deleted: migrate.Migrate,
	Undecodable: migrate.Quarantine, InventoryRecords: migrate.Migrate, Unserviceable: migrate.Migrate}

func source(t *testing.T, tree *znode.Tree) *migrate.Source {
	t.Helper()
	return value(migrate.ReadSource(tree, migrate.DefaultQueues(), legacy.Options{}))(t)
}

func options(p migrate.Policies) migrate.Options {
	return migrate.Options{Dialect: newqueue.MrtZK, Policies: p}
}

// site is a ZooKeeper with a queue that was migrated to it.
type site struct {
	server  *minizk.Server
	private bool // the server has no port
	src     *migrate.Source
	plan    *migrate.Plan
}

// migrated is a queue, migrated in dialect mrt-zk.
func migrated(t *testing.T, legacyQueue *znode.Tree) *site {
	t.Helper()
	s := &site{server: minizk.Run(t), src: source(t, legacyQueue)}
	s.plan = value(migrate.MakePlan(t.Context(), value(opened(t.Context(), s.src))(t), side.Tree(znode.NewTree()), options(everything)))(t)
	w := value(zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{s.server.Addr()}}}))(t)
	defer w.Close()
	m := &migrate.Migrator{Target: migrate.NewTarget(w), Keep: func([]migrate.Record) error { return nil }}
	value(m.Migrate(t.Context(), static(s.src), options(everything), nil))(t)
	return s
}

func (s *site) tree(t *testing.T) *znode.Tree {
	t.Helper()
	return value(s.server.Snapshot())(t)
}

func (s *site) dial(t *testing.T) *zk.Conn {
	t.Helper()
	address, dial := s.server.Addr, net.DialTimeout
	if s.private {
		address = func() string { return "127.0.0.1:2181" }
		dial = func(string, string, time.Duration) (net.Conn, error) { return s.server.Dial(t.Context()) }
	}
	conn, _, err := zk.Connect([]string{address()}, 10*time.Second, zk.WithLogInfo(false), zk.WithDialer(dial))
	must(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// place is where the new queue is.
func (s *site) place(t *testing.T) daemons.Site {
	return daemons.Site{Connect: func() (*zk.Conn, error) { return s.dial(t), nil }}
}

// home has the folders that the legacy ingest service has left. It had begun with the
// failed and the consumed jobs, and moved their payload.
func (s *site) home() *daemons.Home {
	h := daemons.EmptyHome()
	for _, r := range s.src.Records {
		if r.Err != nil {
			continue
		}
		batch, _ := r.Legacy.Payload.Text("batchID")
		job, _ := r.Legacy.Payload.Text("jobID")
		where := daemons.InFolder
		if status := r.Legacy.Header.Status; status == legacy.Failed || status == legacy.Consumed {
			where = daemons.InProducer
		}
		h.Put(batch, job, where)
	}
	return h
}

// services starts the services, without holds.
func (s *site) services(t *testing.T) *daemons.World {
	t.Helper()
	w := daemons.New(daemons.Options{New: s.place(t), Home: s.home()})
	t.Cleanup(w.Close)
	must(t, w.LiftHolds())
	return w
}

// jobs returns the migrated jobs in a state, in the order of their ids.
func jobs(tree *znode.Tree, state string) []string {
	var all []string
	for _, entry := range tree.Children("/jobs/states/" + strings.ToLower(state)) {
		all = append(all, "/jobs/"+entry[3:])
	}
	slices.Sort(all)
	return all
}

func batchOf(tree *znode.Tree, job string) string {
	n := tree.Get(job + "/bid")
	if n == nil {
		return ""
	}
	return "/batches/" + string(n.Data)
}

func has(troubles []daemons.Trouble, d services.Daemon, e services.Effect, items ...string) bool {
	return slices.ContainsFunc(troubles, func(t daemons.Trouble) bool {
		return t.Daemon == d && t.Effect == e && (len(items) == 0 || slices.Contains(items, t.Item))
	})
}
