package migrate

import (
	"context"
	"errors"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// sessionAt opens a session with a server, below a chroot.
func sessionAt(t *testing.T, server *minizk.Server, chroot string) *Session {
	t.Helper()
	address, err := ParseAddress(server.Addr() + chroot)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenSession(t.Context(), Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A plan and a migration are refused if the target is the legacy queue, or has it where
// the new queue is to be. Nothing is written there.
func TestPlaceIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, chroot string
		queues       Queues
	}{
		{"a legacy queue's znode", "/ingest", DefaultQueues()},
		{"below a record", "/ingest/mrtQ-05000000000001", DefaultQueues()},
		{"ZooKeeper's own", "/zookeeper", DefaultQueues()},
		{"the source's empty queue", "/empty", Queues{Nodes: map[QueueKind][]string{Ingest: {"/ingest", "/empty"}}}},
		{"a queue is at /jobs", "", Queues{Nodes: map[QueueKind][]string{Ingest: {"/ingest", "/jobs"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := queue(t, fourRecords(t))
			put(t, tree, "/empty", none)
			put(t, tree, "/jobs", none)
			server := minizk.RunWith(t, minizk.Options{Now: testNow})
			if err := server.Load(tree); err != nil {
				t.Fatal(err)
			}
			reader, err := OpenReader(t.Context(), Config{Address: sessionAt(t, server, "").Address()})
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			read := func(ctx context.Context) (*LegacyQueue, func(), error) {
				q, err := OpenLegacyQueue(ctx, SideOfServer(reader, nil), c.queues, legacy.Options{})
				return q, func() {}, err
			}
			target := sessionAt(t, server, c.chroot)
			q, _, err := read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := MakePlan(t.Context(), q, SideOfServer(&target.Reader, nil), options(permissive())); !errors.Is(err, ErrPlace) {
				t.Errorf("a plan: want %v, got %v", ErrPlace, err)
			}
			m := &Migrator{Target: NewTarget(target), Now: clock()}
			if _, err := m.Migrate(t.Context(), read, options(permissive()), nil); !errors.Is(err, ErrPlace) {
				t.Errorf("want %v, got %v", ErrPlace, err)
			}
			now, err := server.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range znode.Diff(tree, now, "/") {
				t.Errorf("it was written to: %s", change)
			}
		})
	}
}

// They are also refused if the target is a dump whose root is a legacy queue's znode.
func TestPlaceInFileIsRefused(t *testing.T) {
	src := source(t, queue(t, fourRecords(t)))
	file, err := OpenOfflineTree(t.Context(), nil, t.TempDir()+"/new.ndjson", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Multi(t.Context(), []Op{znode.Create("/mrtQ-05000000000001", none)}); err != nil {
		t.Fatal(err)
	}
	q, _, err := static(src)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MakePlan(t.Context(), q, file.Side(nil), options(permissive())); !errors.Is(err, ErrPlace) {
		t.Errorf("a plan: want %v, got %v", ErrPlace, err)
	}
	m := &Migrator{Target: NewOfflineTarget(file), Now: clock()}
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, ErrPlace) {
		t.Errorf("want %v, got %v", ErrPlace, err)
	}
}

// If records are quarantined and the caller does not say where their bytes go, nothing is
// written.
func TestQuarantineNeedsKeep(t *testing.T) {
	src := source(t, corpus(t))
	s := serve(t, znode.NewTree())
	m := &Migrator{Target: s.Target, Now: clock()}
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, ErrNoKeep) {
		t.Errorf("want %v, got %v", ErrNoKeep, err)
	}
	if got := treeOf(t, s).Paths("/"); len(got) > 1 {
		t.Errorf("written: %v", got)
	}
	var kept []Record
	m.Keep = func(bad []Record) error {
		kept = bad
		return nil
	}
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range kept {
		n, err := side.Tree(src.Tree).Get(t.Context(), r.Path)
		if err != nil || !znode.SameData(n.Data, r.Data) {
			t.Errorf("%s: kept %q, it has %q (%v)", r.Path, r.Data, n.Data, err)
		}
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}
