package migrate_test

import (
	"cmp"
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
		accessRecord:                  record(t, legacy.Pending, token("t")),
	})
}

// removeJob removes a job with its entry in the queue of a state.
func (l *site) removeJob(record string, state newqueue.JobState, priority int) {
	l.t.Helper()
	root := l.jobOf(record)
	l.must(removeAll(l.door(), root))
	l.must(l.door().Delete(newqueue.JobEntryPath(state, priority, znode.Name(root)), -1))
}

// lifeStates bring a queue that was not migrated into each state of the page docs/life.md.
var lifeStates = map[string]func(l *site){
	"running": func(l *site) {
		l.interrupted(9)
	},
	"done": func(l *site) { l.mustMigrate(l.options()) },
	"partly released": func(l *site) {
		l.mustMigrate(l.options())
		l.release(newqueue.HoldIngest)
	},
	"released": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
	},
	"rolling back": func(l *site) {
		l.mustMigrate(l.options())
		_, err := migrate.Rollback(until(l.t, migrate.Removing, 1), l.w, "", migrate.RollbackOptions{Limits: single})
		if !errors.Is(err, migrate.ErrInterrupted) {
			l.t.Fatalf("not interrupted: %v", err)
		}
	},
	"rolled back, one job kept": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
		l.set(l.jobOf(pendingRecord)+"/space_needed", []byte("17"))
		_, err := migrate.Rollback(l.t.Context(), l.w, "", migrate.RollbackOptions{Source: l.source()})
		l.must(err)
	},
}

// retiredState has every migrated record removed.
const retiredState = "retired"

func init() {
	lifeStates["retiring"] = func(l *site) {
		lifeStates["released"](l)
		retireHalf(l)
	}
	lifeStates[retiredState] = func(l *site) {
		lifeStates["released"](l)
		_, _, err := l.retire(migrate.RetireOptions{})
		l.must(err)
	}
}

// lifeEvents are what can happen. Each names a job that is there in every state.
var lifeEvents = map[string]func(l *site){
	"nothing": func(*site) {},
	"a queue is unpaused without mrtq": func(l *site) {
		if err := l.door().Delete(newqueue.QueueHoldPath(newqueue.HoldIngest), -1); !errors.Is(err, zk.ErrNoNode) {
			l.must(err)
		}
	},
	"the hourly cleanup is half way through a batch": func(l *site) {
		if root := l.jobOf(completedRecord); root != "" {
			l.removeJob(completedRecord, newqueue.JobCompleted, 7)
		}
	},
	"inventory works on a job": func(l *site) {
		root := l.jobOf(inventoryRecord)
		if root == "" { // rolled back
			root = l.jobOf(pendingRecord)
		}
		l.set(root+"/metadata", []byte(`{"erc_what":"by inventory"}`))
	},
	"a job gets another priority": func(l *site) {
		l.must(l.queue().SetPriority(l.t.Context(), znode.Name(l.jobOf(pendingRecord)), 42))
	},
	"a configuration is rewritten": func(l *site) {
		path := l.jobOf(pendingRecord) + "/configuration"
		o, err := newqueue.ParseObject(l.data(path))
		l.must(err)
		o["objectID"] = "ark:/99999/minted"
		data, err := o.Marshal()
		l.must(err)
		l.set(path, data)
	},
	"a worker fails a job": func(l *site) { // one that ignores holds
		q := l.queue(newqueue.IgnoreHolds())
		job, err := q.AcquireJob(l.t.Context(), newqueue.JobPending)
		l.must(err)
		l.must(job.Fail(l.t.Context(), "bad digest"))
	},
	"a job is deleted": func(l *site) {
		root := l.jobOf(pendingRecord)
		bid := string(l.data(root + "/bid"))
		l.must(l.door().Delete(newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, znode.Name(root)), -1))
		l.removeJob(pendingRecord, newqueue.JobPending, 5)
	},
	"a batch is deleted with its jobs": func(l *site) {
		bid := string(l.data(l.jobOf(pendingRecord) + "/bid"))
		for _, record := range []string{pendingRecord, otherRecord} {
			if item, err := migrate.Find(l.t.Context(), l.source(), &l.w.Reader, record); err == nil && len(item.Nodes) > 0 {
				l.removeJob(record, newqueue.JobPending, 5)
			}
		}
		l.must(removeAll(l.door(), newqueue.BatchPath(bid)))
		l.must(l.door().Delete(newqueue.BatchUUIDPath("bid-a"), -1))
	},
	"a znode of a job is damaged": func(l *site) { l.must(l.door().Delete(l.jobOf(pendingRecord)+"/priority", -1)) },
	"a late record": func(l *site) {
		l.create("/ingest/mrtQ-05000000000010", record(l.t, legacy.Pending, job("late", "10")))
	},
	"a missed record": func(l *site) { l.create(missedRecord, record(l.t, legacy.Pending, job("missed", "8"))) },
	"a migrated record changes": func(l *site) {
		l.ensure(pendingRecord) // somebody has restored it
		l.set(pendingRecord, record(l.t, legacy.Consumed, job("a", "1")))
	},
	"a migrated record vanishes": func(l *site) { l.remove(pendingRecord) },
	"a late record of an existing batch is migrated": func(l *site) {
		l.create("/ingest/mrtQ-05000000000010", record(l.t, legacy.Pending, job("a", "10")))
		opt := l.options()
		opt.HoldAgain = true
		l.mustMigrate(opt)
	},
	"a person holds a queue": func(l *site) {
		_, err := migrate.Hold(l.t.Context(), l.w, migrate.HoldOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, By: "ops", Why: "checking"})
		l.must(err)
	},
	"`/migration` is wiped": func(l *site) {
		l.must(removeAll(l.door(), "/migration"))
		l.create("/migration", []byte{})
		l.create("/migration/m1", []byte{})
	},
	"a backup is restored znode by znode": func(l *site) {
		tree := l.tree()
		for _, name := range tree.Children("/") {
			l.must(removeAll(l.door(), "/"+name))
		}
		for n := range tree.All("/") {
			if n.Path != "/" && n.Stat.EphemeralOwner == 0 {
				l.create(n.Path, n.Data)
			}
		}
	},
}

// The outcomes of the five commands, as the page has them.

func verifyOutcome(l *site) string {
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
	case v.CountGroup(migrate.Damage) > 0:
		return "damage"
	case v.Count("changed")+v.Count("vanished")+v.Count("missed") > 0:
		return "moved"
	case v.Count("acted-on") > 0:
		return "acted"
	}
	return "ok"
}

func releaseOutcome(l *site) string {
	res, err := migrate.Release(l.t.Context(), l.source(), l.w, migrate.ReleaseOptions{})
	switch {
	case errors.Is(err, migrate.ErrActedOn), errors.Is(err, migrate.ErrRestored):
		return "asks"
	case errors.Is(err, migrate.ErrUnfinished), errors.Is(err, migrate.ErrNotVerified), errors.Is(err, migrate.ErrNotRetired), errors.Is(err, migrate.ErrDamaged):
		return "no"
	}
	l.must(err)
	if len(res.Lifted) > 0 {
		return "lifts"
	}
	return "–"
}

func rollbackOutcome(l *site) string {
	undo, err := migrate.Rollback(l.t.Context(), l.w, "", migrate.RollbackOptions{Source: l.source()})
	switch {
	case errors.Is(err, migrate.ErrNoRun):
		return "–"
	case errors.Is(err, migrate.ErrDamaged), errors.Is(err, migrate.ErrRetiring):
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

func migrateOutcome(l *site) string {
	opt := l.options()
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

func retireOutcome(l *site) string {
	res, _, err := l.retire(migrate.RetireOptions{})
	switch {
	case errors.Is(err, migrate.ErrRestored):
		return "asks"
	case errors.Is(err, migrate.ErrUnfinished), errors.Is(err, migrate.ErrNotReleased), errors.Is(err, migrate.ErrDamaged):
		return "no"
	}
	l.must(err)
	switch {
	case len(res.Stays) > 0:
		return "leaves"
	case len(res.Removes) > 0:
		return "clears"
	}
	return "–"
}

// TestLife is the table of the page docs/life.md: in each state, each event, and what each
// of the five commands then does. Commands that write work on copies of their own.
func TestLife(t *testing.T) {
	columns, rows := lifeTable(t)
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for i, state := range columns {
			begin := serve(t, lifeQueue(t), d)
			lifeStates[state](begin)
			before := begin.tree()
			for _, row := range rows {
				want := strings.Fields(row.cells[i])
				if len(want) != 5 || strings.HasPrefix(row.cells[i], "(") {
					continue
				}
				t.Run(state+"/"+row.event, func(t *testing.T) {
					t.Parallel()
					happened := serve(t, before, d)
					lifeEvents[row.event](happened)
					after := happened.tree()
					got := []string{
						verifyOutcome(happened), // it writes nothing
						releaseOutcome(serve(t, after, d)),
						rollbackOutcome(serve(t, after, d)),
						migrateOutcome(happened),
						retireOutcome(serve(t, after, d)),
					}
					if !slices.Equal(got, want) {
						t.Errorf("verify, release, rollback, migrate, retire: %v, the page says %v", got, want)
					}
				})
			}
		}
	})
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
		if lifeEvents[c[0]] == nil || len(c) != len(columns)+1 {
			t.Fatalf("the row %q has no event, or not %d cells", c[0], len(columns)+1)
		}
		rows = append(rows, lifeRow{c[0], c[1:]})
	}
	if len(rows) != len(lifeEvents) || len(columns) != len(lifeStates) {
		t.Fatalf("the page has %d events and %d states, the test %d and %d", len(rows), len(columns), len(lifeEvents), len(lifeStates))
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
