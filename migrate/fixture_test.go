package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// site is a server that holds a legacy queue and, beside it, what was migrated.
type site struct {
	t  testing.TB
	zk *minizk.Server
	w  *migrate.Writer
}

// serve starts a server with a tree.
func serve(t testing.TB, tree *znode.Tree) *site {
	t.Helper()
	server := minizk.RunWith(quiet{t}, minizk.Options{RealTime: true})
	if err := server.Load(tree); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, zk: server}
	s.w = s.open()
	return s
}

// quiet is a test that does not print the server's log.
type quiet struct{ testing.TB }

// Logf prints nothing.
func (quiet) Logf(string, ...any) {}

// open opens one more session.
func (s *site) open() *migrate.Writer {
	s.t.Helper()
	at, err := zkconn.ParseAddress(s.zk.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := zkconn.OpenWriter(s.t.Context(), zkconn.Config{Address: at})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(w.Close)
	return w
}

// conn opens a session of the field's client library: the second door.
func (s *site) conn() *zk.Conn {
	s.t.Helper()
	c, events, err := zk.Connect([]string{s.zk.Addr()}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		s.t.Fatal(err)
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	s.t.Cleanup(c.Close)
	return c
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// tree is what the server holds.
func (s *site) tree() *znode.Tree {
	s.t.Helper()
	tree, err := s.zk.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	return tree
}

// source lists the legacy queue as it is now.
func (s *site) source() *migrate.Source {
	s.t.Helper()
	src, err := migrate.OpenSource(s.t.Context(), &s.w.Reader, migrate.DefaultQueues(), legacy.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return src
}

// options are those of a first migration that no record blocks.
func options(d newqueue.Dialect) migrate.MigrateOptions {
	c := migrate.DefaultChoices()
	c.Consumed, c.Undecodable, c.InventoryRecords, c.Unserviceable = migrate.AsFailed, migrate.Quarantine, migrate.MigrateThem, migrate.MigrateThem
	return migrate.MigrateOptions{
		Options: migrate.Options{Dialect: d, Choices: c, NewQueue: true},
		Keep:    func([]migrate.Record) error { return nil },
	}
}

func (s *site) mustMigrate(opt migrate.MigrateOptions) *migrate.Result {
	s.t.Helper()
	res, err := migrate.Migrate(s.t.Context(), s.source(), s.w, opt)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *site) mustVerify() *migrate.Verdict {
	s.t.Helper()
	v, err := migrate.Verify(s.t.Context(), s.source(), &s.w.Reader, migrate.VerifyOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// interrupted returns a context that ends when a phase has done so many steps.
func interrupted(t testing.TB, phase migrate.Phase, after int) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return migrate.WithPhases(ctx, func(p migrate.Phase, done, _ int) {
		if p == phase && done >= after {
			cancel()
		}
	})
}

// single makes each transaction as small as it can be.
var single = migrate.Limits{Bytes: 1}

// record is a legacy record with a JSON payload.
func record(t testing.TB, status legacy.Status, payload legacy.Payload) []byte {
	t.Helper()
	data, err := legacy.Encode(legacy.NewHeader(status, time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), legacy.Milliseconds), legacy.JSON, payload)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// job is the payload of an ingest record that every service can work on.
func job(batch, id string) legacy.Payload {
	return legacy.Payload{
		"batchID": "bid-" + batch, "jobID": "jid-" + id, "profile": "merritt_content", "type": "file", "filename": id + ".zip", "update": false,
		"submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id + ";other-" + id, "title": "Title of " + id, "creator": "Someone",
	}
}

// queueTree is a legacy queue with these records, by path.
func queueTree(t testing.TB, records map[string][]byte) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	for _, root := range migrate.DefaultQueues().Roots() {
		put(t, tree, root, []byte{})
	}
	for path, data := range records {
		put(t, tree, path, data)
	}
	tree.SetDefaultStats(1)
	return tree
}

func put(t testing.TB, tree *znode.Tree, path string, data []byte) {
	t.Helper()
	if err := tree.Put(znode.Node{Path: path, Data: data}); err != nil {
		t.Fatal(err)
	}
}

// removeAll deletes a znode and all that is below it.
func removeAll(c *zk.Conn, path string) error {
	names, _, err := c.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeAll(c, path+"/"+name); err != nil {
			return err
		}
	}
	return c.Delete(path, -1)
}

// each runs a test in both dialects.
func each(t *testing.T, test func(t *testing.T, d newqueue.Dialect)) {
	for _, d := range newqueue.Dialects {
		t.Run(fmt.Sprint(d), func(t *testing.T) { test(t, d) })
	}
}
