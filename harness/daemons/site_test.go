package daemons_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/features"
	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func deployed(t *testing.T) *znode.Tree {
	return value(znode.ReadDump(strings.NewReader(features.Deployed)))(t)
}

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

// options are those of a first migration that migrates every record, even one that no
// service could work on.
func options() migration.PlanOptions {
	return migration.PlanOptions{Dialect: newqueue.MrtZK, NewQueue: true, Choices: migration.Choices{MaxPriority: "99", Consumed: "pending", Failed: "failed", Completed: "migrate",
		Deleted: "migrate", Undecodable: "quarantine", InventoryRecords: "migrate", Unserviceable: "migrate"}}
}

type site struct {
	server *minizk.Server // without a port
}

func migrated(t *testing.T, legacyQueue *znode.Tree) *site {
	t.Helper()
	s := serve(t, legacyQueue)
	opt := migrate.MigrateOptions{PlanOptions: options(), SaveQuarantined: func([]migration.Record) error { return nil }}
	value(migrate.Migrate(t.Context(), s.source(t), s.open(t), opt))(t)
	return s
}

func serve(t *testing.T, tree *znode.Tree) *site {
	t.Helper()
	s := &site{server: minizk.RunWith(t, minizk.Options{Private: true})}
	must(t, s.server.Load(tree))
	return s
}

func (s *site) open(t *testing.T) *migrate.Writer {
	t.Helper()
	w := value(zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"private:0"}}, Dial: s.server.Dial}))(t)
	t.Cleanup(w.Close)
	return w
}

func (s *site) source(t *testing.T) *migrate.Source {
	t.Helper()
	return value(migrate.OpenSource(t.Context(), &s.open(t).Reader, migration.DefaultQueues(), legacy.Options{}))(t)
}

func (s *site) tree(t *testing.T) *znode.Tree {
	t.Helper()
	return s.server.Snapshot()
}

func (s *site) dial(t *testing.T) *zk.Conn {
	t.Helper()
	dial := func(string, string, time.Duration) (net.Conn, error) { return s.server.Dial(t.Context()) }
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second, zk.WithLogInfo(false), zk.WithDialer(dial))
	must(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func (s *site) place(t *testing.T) daemons.Site {
	return daemons.Site{Connect: func() (daemons.Session, error) { return s.dial(t), nil }}
}

// home has the folders that the legacy ingest service has left. It had begun with the
// failed and the consumed jobs, and moved their payload.
func (s *site) home(t *testing.T) *daemons.Home {
	h := daemons.EmptyHome()
	src := s.source(t)
	for r, err := range src.Fetch(t.Context(), src.Paths()) {
		must(t, err)
		if !r.There || r.Err != nil {
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

func (s *site) services(t *testing.T) *daemons.World {
	t.Helper()
	w := daemons.New(daemons.Options{New: s.place(t), Home: s.home(t)})
	t.Cleanup(w.Close)
	must(t, w.LiftHolds())
	return w
}

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
