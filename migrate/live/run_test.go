package live

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// makeQueue makes a legacy queue with this many records beside the new one.
func makeQueue(t *testing.T, w *zkconn.Writer, records int) *migrate.Source {
	t.Helper()
	ops := []znode.Op{znode.Create("/ingest", nil)}
	for i := range records {
		data, err := legacy.Encode(legacy.NewHeader(legacy.Pending, testNow, legacy.Milliseconds), legacy.JSON, legacy.Payload{})
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, znode.Create(fmt.Sprintf("/ingest/mrtQ-%014d", i), data))
	}
	if err := w.Multi(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	src, err := migrate.OpenSource(t.Context(), &w.Reader, migrate.DefaultQueues(), legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// A view shows a migration from its first transaction to its last, and its rollback
// too. It has a note about one that was interrupted.
func TestRunShows(t *testing.T) {
	const records = 300
	s := serve(t)
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: s.r.Address()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if _, err := w.MakeChroot(t.Context()); err != nil {
		t.Fatal(err)
	}
	var h History
	look := func() View {
		t.Helper()
		h = h.Add(s.look())
		return h.View()
	}
	if v := look(); v.Migration != nil || v.Migrators != 0 {
		t.Errorf("before: %+v", v)
	}
	src := makeQueue(t, w, records)
	last := 0
	limits := migrate.Limits{Bytes: 2000}
	sent := migrate.WithPhases(t.Context(), func(p migrate.Phase, done, total int) {
		if p != migrate.Sending || done == 0 {
			return
		}
		s.zk.Advance(time.Second)
		v := look()
		r := v.Migration
		if r == nil || r.Run != "run0000000000" || r.State != migrate.Running || r.Total != records || r.Records < done || r.Records < last {
			t.Errorf("%d of %d: %+v", done, total, r)
			return
		}
		last = r.Records
		if v.Migrators != 1 || !strings.Contains(v.Leader, fmt.Sprint("pid ", os.Getpid())) || len(v.Notes) > 0 {
			t.Errorf("%+v", v)
		}
		if done > 100 && (r.RecordRate == nil || *r.RecordRate <= 0) {
			t.Errorf("%d of %d: %+v", done, total, r)
		}
	})
	opt := migrate.MigrateOptions{Options: migrate.Options{Dialect: newqueue.Design, Choices: migrate.DefaultChoices(), NewQueue: true, Source: "source", Target: "target"}, Limits: limits, Now: s.now}
	if _, err := migrate.Migrate(sent, src, w, opt); err != nil {
		t.Fatal(err)
	}
	v := look()
	if r := v.Migration; r.State != migrate.Done || r.Records != records || r.Total != records || r.Finished.IsZero() {
		t.Errorf("%+v", r)
	}
	if v.Migrators != 0 || v.Leader != "" || len(v.Holds) != 3 || len(v.Notes) > 0 {
		t.Errorf("%+v", v)
	}
	if q := v.Jobs[0]; q.Name != "pending" || q.Count != records || q.Entered != records || q.Oldest.ID != "jid0000000001" { // states took number 0
		t.Errorf("%+v", q)
	}

	// A rollback that was interrupted.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	undo := migrate.RollbackOptions{Limits: limits, Now: s.now}
	removing := migrate.WithPhases(ctx, func(p migrate.Phase, done, _ int) {
		if p == migrate.Removing && done > 0 {
			cancel()
		}
	})
	if _, err := migrate.Rollback(removing, w, "run0000000000", undo); err == nil {
		t.Fatal("the rollback ended")
	}
	look()
	s.zk.Advance(time.Second)
	v = look()
	if r := v.Migration; r.State != migrate.RollingBack || !r.Unfinished() || r.TransactionRate == nil {
		t.Errorf("%+v", r)
	}
	want(t, "notes", v.Notes, []string{"the rollback of run0000000000 is not finished and no migration is running: roll back run0000000000 again to finish it"})

	// A record that can't be decoded.
	if _, err := s.conn.Set("/new/migration/runs/run0000000000", []byte("\x1b[2J"), -1); err != nil {
		t.Fatal(err)
	}
	v = look()
	if v.Migration.Damage == "" || len(v.Notes) != 1 || !strings.HasPrefix(v.Notes[0], "the record of run0000000000 can't be used: ") {
		t.Errorf("%+v %q", v.Migration, v.Notes)
	}
	if err := w.Multi(t.Context(), []znode.Op{znode.Delete("/migration/runs/run0000000000", -1)}); err != nil {
		t.Fatal(err)
	}
	if v := look(); v.Migration != nil || len(v.Notes) > 0 {
		t.Errorf("%+v", v)
	}
}

// Of two migrators, one is at work and the other waits. A znode in the election that
// no session holds is not a migrator.
func TestElectionShows(t *testing.T) {
	s := serve(t)
	s.make("/migration/election/n-")
	for _, owner := range []string{"first", "second"} {
		if _, err := s.conn.Create("/new/migration/election/n-", []byte(owner), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	v := s.look()
	want(t, "migrators", v.Migrators, 2)
	want(t, "leader", v.Leader, "first")
	names, _, err := s.conn.Children("/new/migration/election")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "1") { // after the one that no session holds, which is 0 of the counter
			s.delete("/migration/election/" + name)
		}
	}
	v = s.look()
	want(t, "leader", v.Leader, "second")
}
