package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// A plan says which consumed and failed records might run twice or never under the choices, and in dialect mrt-zk
// which might be stored without their content when they are requeued.
func TestRisksOfConsumedAndFailedRecords(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1):       record(t, legacy.Consumed, job("a", "1")),
			ingest(2):       record(t, legacy.Failed, job("a", "2")),
			inventoryRecord: record(t, legacy.Failed, legacy.Payload{"manifestURL": "http://store.example/manifest/1/ark%3A%2F99999%2F7"}),
		}), d)
		one, two, three := ingest(1), ingest(2), inventoryRecord
		for _, c := range []struct {
			consumed, failed    string
			twice, never, empty []string
			left                []string
		}{
			{"leave", "failed", nil, []string{two, three}, []string{two}, []string{one}},
			{"held", "held", nil, []string{one, two, three}, nil, nil},
			{"pending", "pending", []string{one, two, three}, nil, nil, nil},
			{"failed", "held", nil, []string{one, two, three}, []string{one}, nil},
		} {
			opt := s.options()
			opt.Choices.Consumed, opt.Choices.Failed = c.consumed, c.failed
			if d != newqueue.MrtZK {
				c.empty = nil
			}
			p := s.plan(opt.PlanOptions)
			for effect, want := range map[migration.Effect][]string{migration.EffectRunsTwice: c.twice, migration.EffectNeverRuns: c.never, migration.EffectStoredEmpty: c.empty, "left undone": c.left} {
				if got := p.Affected(effect); !slices.Equal(got, want) {
					t.Errorf("consumed %s, failed %s: %s: %v, expected %v", c.consumed, c.failed, effect, got, want)
				}
			}
		}
	})
}

func (s *site) defaults() migrate.MigrateOptions {
	opt := s.options()
	opt.Choices = migration.DefaultChoices()
	return opt
}

// What the newest run was begun with holds for the next one, unless somebody chooses otherwise.
func TestNewestRunHasTheChoices(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Failed, job("a", "1")),
		ingest(2): record(t, legacy.Consumed, job("a", "2")),
	}), newqueue.Design)
	first, acl := s.options(), []migrate.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: "reader:hash"}}
	first.Choices.Failed, first.ACL = "held", acl
	src := value(migrate.OpenSource(t.Context(), &s.w.Reader, migration.DefaultQueues(), legacy.Options{Time: legacy.TimeMillis}))(s)
	if _, err := migrate.Migrate(t.Context(), src, s.w, first); err != nil {
		t.Fatal(err)
	}
	check := func(opt migration.PlanOptions, want migration.Choices) {
		t.Helper()
		p := s.plan(opt)
		if p.Blocked() || p.Choices != want || !slices.Equal(p.Settings.ACL, acl) || p.Settings.Time != "ms" {
			t.Errorf("%v %+v %+v", p.Problems, p.Choices, p.Settings)
		}
	}
	check(migration.PlanOptions{}, first.Choices)
	if p := s.plan(migration.PlanOptions{ACL: znode.OpenACL()}); p.Settings.ACL != nil {
		t.Errorf("chosen to be open to all: %v", p.Settings.ACL)
	}
	want := first.Choices
	want.Consumed = "held"
	check(migration.PlanOptions{Choices: migration.Choices{Consumed: "held"}}, want)
	s.mustRollback(migrate.RollbackOptions{})
	check(migration.PlanOptions{}, first.Choices)
}

// A record that blocks the plan may come while a run is unfinished. The choice about it is made then; the
// choices about what the run has migrated are not made anew.
func TestBlockedRecordsAreChosenLater(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Failed, job("a", "1")),
		ingest(3): record(t, legacy.Pending, job("a", "3")), ingest(4): record(t, legacy.Pending, job("b", "4")), ingest(5): record(t, legacy.Pending, job("b", "5")),
	}), newqueue.MrtZK)
	opt := s.defaults()
	opt.Limits = single
	if _, err := migrate.Migrate(until(t, migrate.PhaseSending, 1), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
		t.Fatalf("not interrupted: %v", err)
	}
	s.begin()
	unserviceable := job("b", "4")
	delete(unserviceable, "filename")
	s.set(ingest(4), record(t, legacy.Pending, unserviceable))
	s.set(ingest(5), []byte("x"))
	p := s.plan(s.defaults().PlanOptions)
	for kind, path := range map[migration.ProblemKind]string{migration.ProblemUnserviceable: ingest(4), migration.ProblemUndecodable: ingest(5)} {
		if found := problem(p, kind); found == nil || found.Path != path {
			t.Errorf("%s: %+v", kind, p.Problems)
		}
	}
	opt.Choices.Unserviceable, opt.Choices.Undecodable = "migrate", "quarantine"
	other := opt
	other.Choices.Failed = "held"
	if p := s.plan(other.PlanOptions); len(p.Problems) != 1 || p.Problems[0].Kind != migration.ProblemOtherChoices || p.Problems[0].Message != "run0000000000 was begun with other choices: failed was failed and is now held" {
		t.Errorf("%+v", p.Problems)
	}
	s.mustMigrate(opt)
	if got, want := accounted(s.mustVerify()), "total 4: migrated 3, quarantined 1"; got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
}

// Consumed records are left to the legacy worker that has them, unless somebody chooses otherwise. They don't stop the
// migration, and another run takes them if they are pending again.
func TestConsumedRecordsAreLeft(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Consumed, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")),
		}), d)
		if p := s.plan(s.defaults().PlanOptions); p.Blocked() || p.Records[0].Action != migration.ActionSkip || !strings.Contains(p.Records[0].Reason, "left") {
			t.Errorf("%v %+v", p.Problems, p.Records)
		}
		s.mustMigrate(s.defaults())
		if got, want := accounted(s.mustVerify()), "total 2: migrated 1, skipped 1"; got != want {
			t.Errorf("%s, expected %s", got, want)
		}
		if l := s.status().Legacy[0]; l.Left != 1 || len(l.NotMigrated) > 0 || len(l.AtWork) != 1 {
			t.Errorf("%+v", l)
		}
		s.set(ingest(1), record(t, legacy.Pending, job("a", "1"))) // requeued
		s.release()
		if res := s.follow(); res.Moved != 1 {
			t.Errorf("%+v", res)
		}
	})
}

// An interrupted run is finished with the queue nodes that it was begun with: with fewer, it would forget where the records of the
// others are, so that they seem to have vanished; with more, records would come out of order. OpenOrigin opens its own nodes, even if an
// earlier run had others.
func TestFinishedWithItsOwnQueues(t *testing.T) {
	both := map[migration.QueueKind][]string{migration.Ingest: {"/ingest", "/ingest2"}}
	for name, c := range map[string]struct {
		begun, finished map[migration.QueueKind][]string
		locks           []string
		refused         string
	}{
		"fewer": {both, map[migration.QueueKind][]string{migration.Ingest: {"/ingest"}}, []string{"/mrt.lock"},
			"run0000000000 was begun with other queue nodes: ingest was /ingest,/ingest2 and is now /ingest"},
		"more": {map[migration.QueueKind][]string{migration.Ingest: {"/ingest2"}}, both, []string{"/mrt.lock"},
			"run0000000000 was begun with other queue nodes: ingest was /ingest2 and is now /ingest,/ingest2"},
		"another kind": {both, map[migration.QueueKind][]string{migration.Ingest: {"/ingest"}, migration.AccessSmall: {"/ingest2"}}, []string{"/mrt.lock"},
			"run0000000000 was begun with other queue nodes: ingest was /ingest,/ingest2 and is now /ingest; accessSmall was none and is now /ingest2"},
		"other locks": {both, both, nil,
			"run0000000000 was begun with other queue nodes: locks was /mrt.lock and is now none"},
		"another order": {both, map[migration.QueueKind][]string{migration.Ingest: {"/ingest2", "/ingest"}}, []string{"/mrt.lock"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.MrtZK)
			s.create("/ingest2", nil)
			open := func(nodes map[migration.QueueKind][]string, locks []string) *migrate.Source {
				return value(migrate.OpenSource(t.Context(), &s.w.Reader, migration.Queues{Nodes: nodes, Locks: locks}, legacy.Options{}))(s)
			}
			for i := range 4 {
				s.create(fmt.Sprintf("/ingest2/mrtQ-0500%010d", i), record(t, legacy.Pending, job("z", fmt.Sprint("z", i))))
			}
			opt := s.options()
			opt.Limits = single
			_, err := migrate.Migrate(until(t, migrate.PhaseSending, 2), open(c.begun, []string{"/mrt.lock"}), s.w, opt)
			if !errors.Is(err, migrate.ErrInterrupted) {
				t.Fatal(err)
			}
			before := s.tree()
			res, err := migrate.Migrate(t.Context(), open(c.finished, c.locks), s.w, s.options())
			if p := problem(res.Plan, "other-choices"); c.refused == "" {
				s.must(err)
			} else if !errors.Is(err, migrate.ErrBlocked) || p == nil || p.Message != c.refused || dump(s.tree(), "/migration") != dump(before, "/migration") {
				t.Errorf("%v, %+v", err, res.Plan.Problems)
			}
			src := value(migrate.OpenOrigin(t.Context(), &s.w.Reader))(s)
			s.must(errorOf(migrate.Migrate(t.Context(), src, s.w, s.options())))
			s.mustVerify()
			s.release()
			if n := len(s.status().Runs); n != 1 || s.has("/ingest2/mrtQ-05000000000003") {
				t.Errorf("%d runs", n)
			}
		})
	}
}

// A run took the access queues' nodes for each other, when they were empty. The newest run that was not rolled back, or else the newest, says what they
// are: a node has one kind.
func TestNodesThatTwoRunsTookAsDifferentKinds(t *testing.T) {
	const small, large = "/accessSmall.1", "/accessLarge.1"
	mistyped := migration.Queues{Nodes: map[migration.QueueKind][]string{migration.Ingest: {"/ingest"}, migration.AccessSmall: {large}, migration.AccessLarge: {small}, migration.Inventory: {"/mrt.lock"}}}
	for name, goesOn := range map[string]func(*site, migrate.MigrateOptions){
		"the first was rolled back": func(s *site, opt migrate.MigrateOptions) {
			s.mustRollback(migrate.RollbackOptions{})
			s.mustMigrate(opt)
		},
		"both were rolled back": func(s *site, opt migrate.MigrateOptions) {
			s.mustRollback(migrate.RollbackOptions{})
			s.mustMigrate(opt)
			s.mustRollback(migrate.RollbackOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.MrtZK)
			s.ensure(small, large, "/mrt.lock")
			src := value(migrate.OpenSource(t.Context(), &s.w.Reader, mistyped, legacy.Options{}))(s)
			s.must(errorOf(migrate.Migrate(t.Context(), src, s.w, s.options())))
			s.create(small+"/mrtQ-000000000001", record(t, legacy.Pending, token("s")))
			s.create(large+"/mrtQ-000000000001", record(t, legacy.Pending, token("l")))
			goesOn(s, s.options())
			src = value(migrate.OpenOrigin(t.Context(), &s.w.Reader))(s)
			if got := migration.DefaultQueues().Changes(src.Queues); got != "" || src.Kind(small+"/x") != migration.AccessSmall {
				t.Errorf("%s", got)
			}
			if s.status().Newest().State == migration.RunDone {
				s.mustVerify()
				s.release()
				s.mustVerify()
			}
		})
	}
}
