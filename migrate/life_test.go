package migrate_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// The records of the life's legacy queue, by what the events need.
const (
	pendingRecord   = "/ingest/mrtQ-05000000000001" // the other pending one is in its batch
	otherRecord     = "/ingest/mrtQ-05000000000002"
	heldRecord      = "/ingest/mrtQ-06000000000003"
	completedRecord = "/ingest/mrtQ-07000000000004" // one of a batch of two
	missedRecord    = "/ingest/mrtQ-05000000000008"
	inventoryRecord = "/mrt.inventory.full/mrtQ-050000000001"
	accessRecord    = "/accessSmall.1/mrtQ-000000000001"
)

// lifeQueue is a small legacy queue with a record of each kind.
func lifeQueue(t testing.TB) *znode.Tree {
	return queueTree(t, map[string][]byte{
		pendingRecord:                 record(t, legacy.Pending, job("a", "1")),
		otherRecord:                   record(t, legacy.Pending, job("a", "2")),
		heldRecord:                    record(t, legacy.Held, job("b", "3")),
		completedRecord:               record(t, legacy.Completed, job("c", "4")),
		"/ingest/mrtQ-07000000000005": record(t, legacy.Completed, job("c", "5")),
		"/ingest/mrtQ-08000000000006": record(t, legacy.Failed, job("d", "6")),
		"/ingest/mrtQ-08000000000007": record(t, legacy.Completed, job("d", "7")),
		"/ingest/mrtQ-09000000000009": record(t, legacy.Pending, job("e", "9")),
		inventoryRecord:               record(t, legacy.Pending, legacy.Payload{"manifestURL": "http://store.example.org/manifest/1/ark%3A%2F99999%2F8"}),
		accessRecord:                  record(t, legacy.Pending, legacy.Payload{"token": "t", "cloud-content-byte": json.Number("5"), "delivery-node": json.Number("7"), "status": json.Number("201")}),
	})
}

// life is one migration, in which something happens.
type life struct {
	*site
	dialect newqueue.Dialect
	zk      *zk.Conn
}

// jobOf is the path of the job that a record became.
func (l *life) jobOf(record string) string {
	l.t.Helper()
	item, err := migrate.Find(l.t.Context(), l.source(), &l.w.Reader, record)
	if err != nil {
		l.t.Fatal(err)
	}
	return item.Job
}

func (l *life) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) set(path string, data []byte) {
	l.t.Helper()
	_, err := l.zk.Set(path, data, -1)
	l.must(err)
}

func (l *life) create(path string, data []byte) {
	l.t.Helper()
	_, err := l.zk.Create(path, data, 0, zk.WorldACL(zk.PermAll))
	l.must(err)
}

func (l *life) data(path string) []byte {
	l.t.Helper()
	data, _, err := l.zk.Get(path)
	l.must(err)
	return data
}

// removeJob removes a job with its entry in the queue of a state.
func (l *life) removeJob(record string, state newqueue.JobState, priority int) {
	l.t.Helper()
	root := l.jobOf(record)
	l.must(removeAll(l.zk, root))
	l.must(l.zk.Delete(newqueue.JobEntryPath(state, priority, znode.Name(root)), -1))
}

// states bring a queue that was not migrated into each state of the page docs/life.md.
var states = map[string]func(l *life){
	"running": func(l *life) {
		opt := options(l.dialect)
		opt.Limits = single
		_, err := migrate.Migrate(interrupted(l.t, migrate.Sending, 9), l.source(), l.w, opt)
		if !errors.Is(err, migrate.ErrInterrupted) {
			l.t.Fatalf("not interrupted: %v", err)
		}
	},
	"done": func(l *life) { l.mustMigrate(options(l.dialect)) },
	"partly released": func(l *life) {
		l.mustMigrate(options(l.dialect))
		l.release(newqueue.HoldIngest)
	},
	"released": func(l *life) {
		l.mustMigrate(options(l.dialect))
		l.release()
	},
	"rolling back": func(l *life) {
		l.mustMigrate(options(l.dialect))
		_, err := migrate.Rollback(interrupted(l.t, migrate.Removing, 1), l.w, "", migrate.RollbackOptions{Limits: single})
		if !errors.Is(err, migrate.ErrInterrupted) {
			l.t.Fatalf("not interrupted: %v", err)
		}
	},
	"rolled back, one job kept": func(l *life) {
		l.mustMigrate(options(l.dialect))
		l.release()
		l.set(l.jobOf(pendingRecord)+"/space_needed", []byte("17"))
		_, err := migrate.Rollback(l.t.Context(), l.w, "", migrate.RollbackOptions{Source: l.source()})
		l.must(err)
	},
}

func (l *life) release(queues ...newqueue.QueueHold) {
	l.t.Helper()
	_, err := migrate.Release(l.t.Context(), l.source(), l.w, migrate.ReleaseOptions{Queues: queues})
	l.must(err)
}

// events are what can happen. Each names a job that is there in every state.
var events = map[string]func(l *life){
	"nothing": func(*life) {},
	"a queue is unpaused without mrtq": func(l *life) {
		if err := l.zk.Delete(newqueue.QueueHoldPath(newqueue.HoldIngest), -1); !errors.Is(err, zk.ErrNoNode) {
			l.must(err)
		}
	},
	"the hourly cleanup is half way through a batch": func(l *life) {
		if root := l.jobOf(completedRecord); root != "" {
			l.removeJob(completedRecord, newqueue.JobCompleted, 7)
		}
	},
	"inventory works on a job": func(l *life) {
		root := l.jobOf(inventoryRecord)
		if root == "" { // rolled back
			root = l.jobOf(pendingRecord)
		}
		l.set(root+"/metadata", []byte(`{"erc_what":"by inventory"}`))
	},
	"a job gets another priority": func(l *life) {
		job, err := newqueue.Open(l.zk, l.dialect).Job(l.t.Context(), znode.Name(l.jobOf(pendingRecord)))
		l.must(err)
		l.must(job.SetPriority(l.t.Context(), 42))
	},
	"a configuration is rewritten": func(l *life) {
		path := l.jobOf(pendingRecord) + "/configuration"
		o, err := newqueue.ParseObject(l.data(path))
		l.must(err)
		o["objectID"] = "ark:/99999/minted"
		data, err := o.Marshal()
		l.must(err)
		l.set(path, data)
	},
	"a worker fails a job": func(l *life) {
		q := newqueue.Open(l.zk, l.dialect)
		job, err := q.AcquireJob(l.t.Context(), newqueue.JobPending)
		l.must(err)
		l.must(job.Fail(l.t.Context(), "bad digest"))
	},
	"a job is deleted": func(l *life) {
		root := l.jobOf(pendingRecord)
		bid := string(l.data(root + "/bid"))
		l.must(l.zk.Delete(newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, znode.Name(root)), -1))
		l.removeJob(pendingRecord, newqueue.JobPending, 5)
	},
	"a batch is deleted with its jobs": func(l *life) {
		bid := string(l.data(l.jobOf(pendingRecord) + "/bid"))
		for _, record := range []string{pendingRecord, otherRecord} {
			if item, err := migrate.Find(l.t.Context(), l.source(), &l.w.Reader, record); err == nil && len(item.Nodes) > 0 {
				l.removeJob(record, newqueue.JobPending, 5)
			}
		}
		l.must(removeAll(l.zk, newqueue.BatchPath(bid)))
		l.must(l.zk.Delete(newqueue.BatchUUIDPath("bid-a"), -1))
	},
	"a znode of a job is damaged": func(l *life) { l.must(l.zk.Delete(l.jobOf(pendingRecord)+"/priority", -1)) },
	"a late record": func(l *life) {
		l.create("/ingest/mrtQ-05000000000010", record(l.t, legacy.Pending, job("late", "10")))
	},
	"a missed record":            func(l *life) { l.create(missedRecord, record(l.t, legacy.Pending, job("missed", "8"))) },
	"a migrated record changes":  func(l *life) { l.set(pendingRecord, record(l.t, legacy.Consumed, job("a", "1"))) },
	"a migrated record vanishes": func(l *life) { l.must(l.zk.Delete(pendingRecord, -1)) },
	"a late record of an existing batch is migrated": func(l *life) {
		l.create("/ingest/mrtQ-05000000000010", record(l.t, legacy.Pending, job("a", "10")))
		opt := options(l.dialect)
		opt.HoldAgain = true
		l.mustMigrate(opt)
	},
	"a person holds a queue": func(l *life) {
		_, err := migrate.Hold(l.t.Context(), l.w, migrate.HoldOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, By: "ops", Why: "checking"})
		l.must(err)
	},
	"`/migration` is wiped": func(l *life) {
		l.must(removeAll(l.zk, "/migration"))
		l.create("/migration", []byte{})
		l.create("/migration/m1", []byte{})
	},
	"a backup is restored znode by znode": func(l *life) {
		tree := l.tree()
		for _, name := range tree.Children("/") {
			l.must(removeAll(l.zk, "/"+name))
		}
		for n := range tree.All("/") {
			if n.Path != "/" && n.Stat.EphemeralOwner == 0 {
				l.create(n.Path, n.Data)
			}
		}
	},
}

// The outcomes of the four commands, as the page has them.

func verifyOutcome(l *life) string {
	v, err := migrate.Verify(l.t.Context(), l.source(), &l.w.Reader, migrate.VerifyOptions{})
	if errors.Is(err, migrate.ErrDamaged) {
		return "damage"
	}
	l.must(err)
	switch {
	case v.Count("unfinished") > 0:
		return "open"
	case v.Count("restored") > 0:
		return "restored"
	case v.Damaged() > 0:
		return "damage"
	case v.Count("changed")+v.Count("vanished")+v.Count("missed") > 0:
		return "moved"
	case v.Count("acted-on") > 0:
		return "acted"
	}
	return "ok"
}

func releaseOutcome(l *life) string {
	res, err := migrate.Release(l.t.Context(), l.source(), l.w, migrate.ReleaseOptions{})
	switch {
	case errors.Is(err, migrate.ErrActedOn), errors.Is(err, migrate.ErrRestored):
		return "asks"
	case errors.Is(err, migrate.ErrUnfinished), errors.Is(err, migrate.ErrNotVerified), errors.Is(err, migrate.ErrDamaged):
		return "no"
	}
	l.must(err)
	if len(res.Lifted) > 0 {
		return "lifts"
	}
	return "–"
}

func rollbackOutcome(l *life) string {
	undo, err := migrate.Rollback(l.t.Context(), l.w, "", migrate.RollbackOptions{Source: l.source()})
	switch {
	case errors.Is(err, migrate.ErrNoRun):
		return "–"
	case errors.Is(err, migrate.ErrDamaged):
		return "no"
	case errors.Is(err, migrate.ErrRestored):
		return "asks"
	}
	l.must(err)
	if len(undo.Keeps) > 0 {
		return "keeps"
	}
	return "all"
}

func migrateOutcome(l *life) string {
	opt := options(l.dialect)
	opt.NewQueue = false
	res, err := migrate.Migrate(l.t.Context(), l.source(), l.w, opt)
	switch {
	case errors.Is(err, migrate.ErrBlocked):
		outcome := ""
		for _, p := range res.Plan.Problems {
			if word := map[migrate.ProblemKind]string{"released": "again", "restored": "asks"}[p.Kind]; outcome != "no" {
				outcome = cmp.Or(word, "no")
			}
		}
		return outcome
	case errors.Is(err, migrate.ErrDamaged):
		return "no"
	}
	l.must(err)
	switch {
	case res.Plan.Resumes:
		return "ends"
	case res.Plan.Empty():
		return "–"
	}
	return "adds"
}

// TestLife is the table of the page docs/life.md: in each state, each event, and what each
// of the four commands then does. Each command works on a copy of its own.
func TestLife(t *testing.T) {
	columns, rows := lifeTable(t)
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for i, state := range columns {
			begin := &life{site: serve(t, lifeQueue(t)), dialect: d}
			begin.zk = begin.conn()
			states[state](begin)
			before := begin.tree()
			for _, row := range rows {
				want := strings.Fields(row.cells[i])
				if len(want) != 4 || strings.HasPrefix(row.cells[i], "(") {
					continue
				}
				t.Run(state+"/"+row.event, func(t *testing.T) {
					happened := copyOf(t, before, d)
					events[row.event](happened)
					after := happened.tree()
					var got []string
					for _, outcome := range []func(*life) string{verifyOutcome, releaseOutcome, rollbackOutcome, migrateOutcome} {
						got = append(got, outcome(copyOf(t, after, d)))
					}
					if !slices.Equal(got, want) {
						t.Errorf("verify, release, rollback, migrate: %v, the page says %v", got, want)
					}
				})
			}
		}
	})
}

func copyOf(t *testing.T, tree *znode.Tree, d newqueue.Dialect) *life {
	l := &life{site: serve(t, tree), dialect: d}
	l.zk = l.conn()
	return l
}

type lifeRow struct {
	event string
	cells []string
}

// lifeTable reads the table of states and events from the page.
func lifeTable(t *testing.T) (columns []string, rows []lifeRow) {
	page, err := os.ReadFile("../docs/life.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| event | ")
	if !ok {
		t.Fatal("the page has no table of events")
	}
	lines := strings.Split(table, "\n")
	columns = cells("| " + lines[0])
	for _, line := range lines[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		c := cells(line)
		if events[c[0]] == nil || len(c) != len(columns)+1 {
			t.Fatalf("the row %q has no event, or not %d cells", c[0], len(columns)+1)
		}
		rows = append(rows, lifeRow{c[0], c[1:]})
	}
	if len(rows) != len(events) || len(columns) != len(states) {
		t.Fatalf("the page has %d events and %d states, the test %d and %d", len(rows), len(columns), len(events), len(states))
	}
	return columns, rows
}

func cells(line string) []string {
	c := strings.Split(strings.Trim(line, "| "), "|")
	for i := range c {
		c[i] = strings.TrimSpace(c[i])
	}
	return c
}
