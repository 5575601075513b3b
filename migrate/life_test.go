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
	"mrtq/migrate/migration"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// The records of the life's legacy queue, by what the events need.
const (
	pendingRecord   = "/ingest/mrtQ-05000000000001" // the other pending one is in its batch
	otherRecord     = "/ingest/mrtQ-05000000000002"
	heldRecord      = "/ingest/mrtQ-06000000000003"
	completedRecord = "/ingest/mrtQ-07000000000004" // one of a batch of two
	failedRecord    = "/ingest/mrtQ-08000000000006" // the other one of its batch is completed
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
		failedRecord:                  record(t, legacy.Failed, job("d", "6")),
		"/ingest/mrtQ-08000000000007": record(t, legacy.Completed, job("d", "7")),
		"/ingest/mrtQ-09000000000009": record(t, legacy.Pending, job("e", "9")),
		inventoryRecord:               record(t, legacy.Pending, legacy.Payload{"manifestURL": "http://store.example.org/manifest/1/ark%3A%2F99999%2F8"}),
		accessRecord:                  record(t, legacy.Pending, token("t")),
	})
}

func (l *site) removeJob(record string, state newqueue.JobState, priority int) {
	l.t.Helper()
	root := l.jobOf(record)
	l.must(removeAll(l.door(), root))
	l.must(l.door().Delete(newqueue.JobEntryPath(state, priority, znode.Name(root)), -1))
}

// leftByCleanup removes a completed batch, and leaves one of its jobs, without some znodes: a cleanup was killed when it had removed these
// and the job's entries, so that the next one did not find the job.
func leftByCleanup(without ...string) func(l *site) {
	return onJob(completedRecord, func(l *site, job string) {
		onJob("/ingest/mrtQ-07000000000005", func(l *site, _ string) { l.removeJob("/ingest/mrtQ-07000000000005", newqueue.JobCompleted, 7) })(l)
		l.remove(newqueue.JobEntryPath(newqueue.JobCompleted, 7, znode.Name(job)), newqueue.BatchPath(string(l.data(job+"/bid"))), newqueue.BatchUUIDPath("bid-c"))
		for _, name := range without {
			l.remove(job + "/" + name)
		}
	})
}

// lifeStates bring a queue that was not migrated into each state of the page docs/life.md.
var lifeStates = map[string]func(l *site){
	"running": func(l *site) { l.interrupted(9) },
	"done":    func(l *site) { l.mustMigrate(l.options()) },
	"partly": func(l *site) {
		l.mustMigrate(l.options())
		l.release(newqueue.HoldIngest)
	},
	"released": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
	},
	"rolling back": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
		l.rollbackInterrupted()
	},
	"one job kept": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
		l.fails()
		l.mustRollback(migrate.RollbackOptions{})
	},
	"completed": func(l *site) {
		l.mustMigrate(l.options())
		l.release()
		l.must(errorOf(migrate.Complete(l.t.Context(), l.w, migrate.CompleteOptions{})))
	},
}

// fails lets a worker that ignores holds fail the first job.
func (l *site) fails() {
	l.t.Helper()
	q := l.queue(client.IgnoreHolds())
	job, err := q.AcquireJob(l.t.Context(), newqueue.JobPending)
	if errors.Is(err, client.ErrNoneAvailable) {
		return
	}
	l.must(err)
	l.must(job.Fail(l.t.Context(), "bad digest"))
}

// atLegacy does something with a pending record of the legacy queue. If none is there, all were handed over: then a
// legacy client does nothing.
func atLegacy(do func(l *site, record string)) func(l *site) {
	return func(l *site) {
		for _, record := range []string{pendingRecord, otherRecord} {
			if l.has(record) {
				do(l, record)
				return
			}
		}
	}
}

func sets(status legacy.Status) func(l *site, path string) {
	return func(l *site, path string) { l.set(path, record(l.t, status, job("a", path[len(path)-1:]))) }
}

func (s *site) removes(path string) { s.remove(path) }

func onJob(record string, do func(l *site, job string)) func(l *site) {
	return func(l *site) {
		if job := l.jobOf(record); job != "" && l.has(job) {
			do(l, job)
		}
	}
}

var lifeEvents = map[string]func(l *site){
	"nothing":                            func(*site) {},
	"a legacy worker takes a record":     atLegacy(sets(legacy.Consumed)),
	"finishes one":                       atLegacy(sets(legacy.Completed)),
	"fails one":                          atLegacy(sets(legacy.Failed)),
	"an administrator holds one":         atLegacy(sets(legacy.Held)),
	"finishes one, and it is cleaned up": atLegacy((*site).removes),
	"an administrator deletes one":       atLegacy((*site).removes),
	"requeues one": atLegacy(func(l *site, path string) { // under a new name
		l.create("/ingest/mrtQ-05000000000010", l.data(path))
		sets(legacy.Deleted)(l, path)
	}),
	"an administrator renames one": atLegacy(func(l *site, path string) {
		l.create("/ingest/mrtQ-01000000000001", l.data(path))
		l.remove(path)
	}),
	"an administrator wipes the queue": func(l *site) { l.remove("/ingest"); l.create("/ingest", nil) },
	"an administrator makes the queue again, and puts back its records": func(l *site) {
		before := l.tree()
		l.remove("/ingest")
		for n := range before.All("/ingest") {
			l.create(n.Path, n.Data)
		}
	},
	"a record comes late": func(l *site) {
		l.create("/ingest/mrtQ-05000000000010", record(l.t, legacy.Pending, job("late", "10")))
	},
	"a record that was handed over is there again": func(l *site) {
		if !l.has(pendingRecord) && l.jobOf(pendingRecord) != "" {
			l.create(pendingRecord, record(l.t, legacy.Pending, job("a", "1")))
		}
	},
	"a worker fails a job": (*site).fails,
	"the hourly cleanup is half way through a batch": onJob(completedRecord, func(l *site, _ string) {
		l.removeJob(completedRecord, newqueue.JobCompleted, 7)
	}),
	"a killed cleanup leaves a job without its batch": leftByCleanup(),
	"leaves a part of one":                            leftByCleanup("bid", "configuration"),
	"inventory works on a job":                        onJob(inventoryRecord, func(l *site, job string) { l.set(job+"/metadata", []byte(`{"erc_what":"by inventory"}`)) }),
	"an administrator gives a job another priority": onJob(otherRecord, func(l *site, job string) {
		l.must(l.queue().SetPriority(l.t.Context(), znode.Name(job), 42))
	}),
	"an administrator deletes a job": onJob(otherRecord, func(l *site, job string) {
		l.must(l.door().Delete(newqueue.BatchEntryPath(string(l.data(job+"/bid")), newqueue.FolderProcessing, znode.Name(job)), -1))
		l.removeJob(otherRecord, newqueue.JobPending, 5)
	}),
	"a znode of a job is damaged": onJob(otherRecord, func(l *site, job string) { l.must(l.door().Delete(job+"/priority", -1)) }),
	"a hold is lifted by hand": func(l *site) {
		if err := l.door().Delete(newqueue.QueueHoldPath(newqueue.HoldIngest), -1); !errors.Is(err, zk.ErrNoNode) {
			l.must(err)
		}
	},
	"a person holds a queue": func(l *site) { l.hold("ops", newqueue.HoldIngest) },
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

// wordFor is what the page calls an error of a release or a rollback.
func wordFor(err error) string {
	for _, w := range []struct {
		err  error
		word string
	}{
		{migrate.ErrUndecided, "asks"}, {migrate.ErrAtWork, "waits"}, {migrate.ErrRestored, "restored"}, {migrate.ErrOtherSource, "wiped"}, {migrate.ErrDamaged, "lost"},
		{migrate.ErrUnfinished, "later"}, {migrate.ErrNotVerified, "repair"}, {migrate.ErrNoRun, "–"}, {migrate.ErrCompleted, "over"},
		{migrate.ErrHoldsChanged, "once more"},
	} {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	return ""
}

// The outcomes of the four commands, as the page has them.

func verifyOutcome(l *site) string {
	v, err := migrate.Verify(l.t.Context(), nil, &l.w.Reader, migrate.VerifyOptions{})
	if errors.Is(err, migrate.ErrDamaged) {
		return "lost"
	}
	l.must(err)
	l.adviceAgrees(v, l.status())
	for _, w := range []struct {
		group migration.DifferenceGroup
		word  string
	}{{migration.UnfinishedGroup, "open"}, {migration.RestoredGroup, "restored"}, {migration.DamageGroup, "damage"}, {migration.UndecidedGroup, "asks"}, {migration.ActedOnGroup, "acted"}} {
		if v.CountGroup(w.group) > 0 {
			return w.word
		}
	}
	return "ok"
}

func releaseOutcome(l *site, opt migrate.ReleaseOptions) (string, error) {
	opt.Save = l.save
	res, err := migrate.Release(l.t.Context(), l.w, opt)
	if res != nil {
		l.undecided = res.Undecided
	}
	if word := wordFor(err); word != "" {
		return word, err
	}
	l.must(err)
	if res.Withdrawn > 0 {
		return "withdraws", nil
	}
	if len(res.Lifted)+res.HandedOver+res.Absent > 0 {
		return "lifts", nil
	}
	return "–", nil
}

func rollbackOutcome(l *site, opt migrate.RollbackOptions) (string, error) {
	opt.Save = l.save
	undo, err := migrate.Rollback(l.t.Context(), l.w, opt)
	if undo != nil {
		l.undecided = undo.Undecided
	}
	if word := wordFor(err); word != "" {
		return word, err
	}
	l.must(err)
	if len(undo.Keeps) > 0 {
		return "keeps", nil
	}
	return "all", nil
}

func migrateOutcome(l *site) string {
	opt := l.options()
	opt.NewQueue = false
	res, err := migrate.Migrate(l.t.Context(), l.source(), l.w, opt)
	switch {
	case errors.Is(err, migrate.ErrBlocked):
		outcome := ""
		for _, p := range res.Plan.Problems {
			word := map[migration.ProblemKind]string{"released": "holds", "run-stands": "stands", "restored": "restored", "rollback-unfinished": "later", "other-origin": "other"}[p.Kind]
			outcome = cmp.Or(outcome, word, "blocked "+string(p.Kind))
		}
		return outcome
	case errors.Is(err, migrate.ErrDamaged):
		return "lost"
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

// words are what an operator says to a command that did not end.
type words struct {
	migrate.Decisions
	restored bool
	stopped  int
}

const tries = 8

// leadsOn gives a command again and again, and does or says what it asks for, until it ends. before is the tree before
// anything happened. It returns the outcome of the first try, and whether a question was asked.
func (l *site) leadsOn(before *znode.Tree, try func(words) (string, error), answer migration.Answer) (first string, asked bool) {
	l.t.Helper()
	w := words{Decisions: migrate.Decisions{RecordIs: map[string]migration.Answer{}, Save: l.save}}
	var said []string
	for range tries {
		word, err := try(w)
		switch said = append(said, word); word {
		case "asks":
			for _, u := range l.undecided {
				w.RecordIs[u.Record], asked = answer, true
			}
		case "once more":
		case "waits":
			w.stopped = 100
		case "restored":
			w.restored = true
		case "wiped":
			w.Vanished, asked = answer, true
		case "later":
			l.finish(before, answer)
		case "repair":
			l.leadsOn(before, func(w words) (string, error) {
				return rollbackOutcome(l, migrate.RollbackOptions{Decisions: w.Decisions, Restored: w.restored, Force: true})
			}, answer)
		case "lost": // from a dump that was made after the last run
			l.restore(before, "/migration")
		default:
			if err != nil && word != "–" && word != "over" {
				l.t.Errorf("%s: %v", word, err)
			}
			return said[0], asked
		}
	}
	l.t.Errorf("it does not end: %v", said)
	return said[0], asked
}

func (l *site) finish(before *znode.Tree, answer migration.Answer) {
	l.t.Helper()
	if l.status().Step == migrate.StepFinish {
		opt := l.options()
		opt.Restored = true
		res, err := l.migrate(opt)
		if p := problem(res.Plan, "other-origin"); p == nil || !strings.Contains(p.Next, "roll back what was migrated") {
			l.must(err)
			return
		}
	}
	l.leadsOn(before, l.rollsBack, answer)
}

// releases is one try of a release. When it has ended, status may still ask about a record.
func (l *site) releases(w words) (string, error) {
	word, err := releaseOutcome(l, migrate.ReleaseOptions{Decisions: w.Decisions, Restored: w.restored, WorkersStopped: w.stopped})
	if err != nil {
		return word, err
	}
	if st := l.status(); st.Step == migrate.StepDecideRecords {
		for _, of := range st.Legacy {
			for _, u := range of.Undecided {
				w.RecordIs[u.Record] = migration.AnswerNew
			}
		}
		_, err = releaseOutcome(l, migrate.ReleaseOptions{Decisions: w.Decisions})
	}
	return word, err
}

func (l *site) rollsBack(w words) (string, error) {
	return rollbackOutcome(l, migrate.RollbackOptions{Decisions: w.Decisions, Restored: w.restored})
}

// inOneQueue demands that no work can be done in both queues, and that none was lost unless somebody removed it.
func (l *site) inOneQueue(mayBeGone bool) {
	l.t.Helper()
	for n := range lifeQueue(l.t).All("/") {
		if !strings.HasPrefix(znode.Name(n.Path), "mrtQ-") {
			continue
		}
		item, err := migrate.Find(l.t.Context(), &l.w.Reader, n.Path)
		if errors.Is(err, migrate.ErrNotFound) && mayBeGone {
			continue
		}
		l.must(err)
		queue := newqueue.HoldIngest
		if n.Path == accessRecord {
			queue = newqueue.HoldAccessSmall
		}
		job, legacyHas, held := len(item.Nodes) > 0, l.has(n.Path), l.has(newqueue.QueueHoldPath(queue))
		if job && legacyHas && !held || !job && !legacyHas && !mayBeGone {
			l.t.Errorf("%s is in the legacy queue: %t, and in the new queue: %t", n.Path, legacyHas, job)
		}
	}
}

// TestLife is the table of the page docs/life.md: in each state, each event, and what each of the four commands then does. Commands that
// write work on copies of their own. Where a release or a rollback does not end, its answers lead on, whatever
// somebody decides. Then all work is in one queue.
func TestLife(t *testing.T) {
	columns, rows := lifeTable(t)
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for i, state := range columns {
			begin := serve(t, lifeQueue(t), d)
			lifeStates[state](begin)
			before := begin.tree()
			for j, row := range rows {
				if !*torture && (i+j)%2 != slices.Index(newqueue.Dialects, d) {
					continue // the other dialect has it
				}
				cell := row.cells[i]
				if cell == "=" {
					cell = rows[0].cells[i]
				}
				want := strings.Fields(cell)
				if len(want) != 4 || strings.HasPrefix(cell, "(") {
					continue
				}
				for _, event := range row.events {
					t.Run(state+"/"+event, func(t *testing.T) {
						t.Parallel()
						happened := serve(t, before, d)
						lifeEvents[event](happened)
						after := happened.tree()
						got := []string{verifyOutcome(happened)} // it writes nothing
						for _, command := range []func(*site, words) (string, error){(*site).releases, (*site).rollsBack} {
							for _, answer := range []migration.Answer{migration.AnswerNew, migration.AnswerLegacy} {
								s := serve(t, after, d)
								first, asked := s.leadsOn(before, func(w words) (string, error) { return command(s, w) }, answer)
								if answer == migration.AnswerNew {
									got = append(got, first)
								}
								if first != "over" && !(first == "–" && len(got) == 3) { // else the release is the way on
									s.inOneQueue(event != "nothing")
								}
								if !asked {
									break
								}
							}
						}
						if got = append(got, migrateOutcome(happened)); !slices.Equal(got, want) {
							t.Errorf("verify, release, rollback, migrate: %v, the page says %v", got, want)
						}
					})
				}
			}
		}
	})
}

// lifeRow is a row of the table: its events have the same outcomes. A cell "=" is that of the first row.
type lifeRow struct {
	events []string
	cells  []string
}

func lifeTable(t *testing.T) (columns []string, rows []lifeRow) {
	columns, lines := pageTable(t, "event")
	n := 0
	for _, c := range lines {
		events := strings.Split(c[0], "; ")
		for _, event := range events {
			if n++; lifeEvents[event] == nil {
				t.Fatalf("there is no event %q", event)
			}
		}
		rows = append(rows, lifeRow{events, c[1:]})
	}
	if n != len(lifeEvents) || len(columns) != len(lifeStates) {
		t.Fatalf("the page has %d events and %d states, the test %d and %d", n, len(columns), len(lifeEvents), len(lifeStates))
	}
	return columns, rows
}

// pageTable reads the table of docs/life.md whose first column has this head.
func pageTable(t *testing.T, head string) (columns []string, rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../docs/life.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| "+head+" | ")
	if !ok {
		t.Fatalf("the page has no table of %s", head)
	}
	lines := strings.Split(table, "\n")
	columns = cells("| " + lines[0])
	for _, line := range lines[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		c := cells(line)
		if len(c) != len(columns)+1 {
			t.Fatalf("the row %q has not %d cells", c[0], len(columns)+1)
		}
		rows = append(rows, c)
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
