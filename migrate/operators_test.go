package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

func (s *site) operator() *site {
	o := &site{t: s.t, server: s.server, dialect: s.dialect, second: s.door()}
	o.begin()
	return o
}

func (s *site) late(n int) {
	s.create(ingest(n), record(s.t, legacy.Pending, job("late", "late")))
}

func (s *site) records() (paths []string) {
	for path := range s.source().Paths() {
		paths = append(paths, path)
	}
	return paths
}

// Commands at the same time: one works, the others wait for it. In the end there is what one
// of the orders gives, and nothing is made twice.
func TestCommandsAtOnce(t *testing.T) {
	tolerated := []error{migrate.ErrNoRun, migrate.ErrRolledBack, migrate.ErrBlocked, migrate.ErrUnfinished, migrate.ErrNotReleased, migrate.ErrHoldsChanged}
	release, rollback := commands[1].do, commands[3].do
	for name, both := range map[string][]func(*site) error{
		"migrate, migrate":                     {commands[0].do, commands[0].do, commands[0].do},
		"rollback, rollback":                   {commands[2].do, commands[2].do},
		"migrate, rollback":                    {commands[0].do, commands[2].do, commands[0].do, commands[2].do},
		"release, release":                     {release, release, release},
		"release, rollback":                    {release, rollback, release, rollback},
		"migrate, release, rollback":           {commands[0].do, release, rollback, release, commands[0].do},
		"released: rollback, rollback":         {rollback, rollback},
		"released: rollback, release, migrate": {rollback, release, commands[0].do, rollback},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, corpus(t), newqueue.MrtZK)
			if !strings.HasPrefix(name, "migrate, migrate") {
				s.mustMigrate(s.options())
				s.late(900)
			}
			if strings.HasPrefix(name, "released: ") {
				s.release()
			}
			all := s.records()
			var working sync.WaitGroup
			errs := make([]error, len(both))
			for i, do := range both {
				o := s.operator()
				working.Go(func() { errs[i] = do(o) })
			}
			working.Wait()
			for _, err := range errs {
				if err != nil && !slices.ContainsFunc(tolerated, func(is error) bool { return errors.Is(err, is) }) {
					t.Error(err)
				}
			}
			v := s.verify()
			if !v.OK() {
				t.Errorf("verify: %v", v.Differences)
			}
			if name == "migrate, migrate" && v.Records.Migrated != 12 || name == "rollback, rollback" && v.Records.Migrated != 0 {
				t.Errorf("%+v", v.Records)
			}
			held := s.holdsNow() != ""
			for _, record := range all {
				job, legacyHas := s.jobOf(record) != "", s.has(record)
				if !job && !legacyHas || job && legacyHas && !held {
					t.Errorf("%s has a record: %t, and a job: %t", record, legacyHas, job)
				}
			}
			if left, _, err := s.door().Children("/migration/election"); err != nil || len(left) > 0 {
				t.Errorf("left in the election: %v, %v", left, err)
			}
		})
	}
}

// A migrator that waited looks again, and does not begin a new run if others rolled back the
// run that it knew: the operator decides again then. If they finished it, it migrates what is left.
func TestRolledBackOrFinishedWhileWaiting(t *testing.T) {
	roll := func(o *site) error { return errorOf(o.rollback(migrate.RollbackOptions{})) }
	finish := func(o *site) error { return commands[0].do(o) }
	for _, c := range []struct {
		name       string
		rolledBack bool // the run was rolled back before; otherwise it was interrupted
		approved   bool
		between    func(*site) error
		want       error
		adds       int // records that the one that waited migrates
		runs       int // in the end
	}{
		{name: "an unfinished run was rolled back", between: roll, want: migrate.ErrRolledBack, runs: 1},
		{name: "a run of an approved plan was rolled back", approved: true, between: roll, want: migrate.ErrRolledBack, runs: 1},
		{name: "its rollback was interrupted", between: func(o *site) error {
			o.rollbackInterrupted()
			return nil
		}, want: migrate.ErrRolledBack, runs: 1},
		{name: "it was finished", between: finish, runs: 1},
		{name: "it was finished, and a record came since", between: func(o *site) error {
			opt := o.options()
			opt.Limits = single
			_, err := migrate.Migrate(migrate.WithProgress(o.t.Context(), func(p migrate.Phase, done, _ int) {
				if p == migrate.PhaseSending && done == 1 {
					o.late(901)
				}
			}), o.source(), o.w, opt)
			return err
		}, want: migrate.ErrBlocked, runs: 1},
		{name: "the run of an approved plan was finished", approved: true, between: finish, runs: 1},
		{name: "another run was done", rolledBack: true, between: finish, runs: 2},
		{name: "another one tried, and did nothing", rolledBack: true, adds: 6, runs: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 6, 2)), newqueue.Design)
			opt := s.options()
			if c.approved {
				opt.Approved = s.plan(opt.PlanOptions)
			}
			if c.rolledBack {
				s.mustMigrate(s.options())
				s.mustRollback(migrate.RollbackOptions{})
			} else {
				s.interrupted(2)
			}
			// Three are in the election: one that only keeps the others waiting, the one that
			// comes between, and the one that waits for it.
			keeper, other, waits := s.operator(), s.operator(), s.operator()
			resign := sync.OnceFunc(keeper.lead())
			ended := make(chan error, 1)
			if c.between == nil {
				ended <- nil
			} else {
				go func() { ended <- c.between(other) }()
				s.awaitPlaces(2)
			}
			opt.Notify = func(text string) {
				if strings.Contains(text, "waiting") {
					resign()
				}
			}
			res, err := waits.migrate(opt)
			resign()
			if !errors.Is(err, c.want) {
				t.Errorf("%v, expected %v", err, c.want)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if res.Created.Records() != c.adds || c.adds == 0 && res.Transactions > 0 {
				t.Errorf("the one that waited did %+v in %d transactions", res.Created, res.Transactions)
			}
			if status := s.status(); len(status.Runs) != c.runs {
				t.Errorf("there are %d runs, expected %d", len(status.Runs), c.runs)
			}
		})
	}
}

// lead takes the first place in the election, as a migrator does that is at work.
func (s *site) lead() (resign func()) {
	s.t.Helper()
	s.ensure("/migration", "/migration/election")
	place := value(s.w.CreateEphemeral(s.t.Context(), "/migration/election/n-", []byte("another"), nil))(s)
	return func() { s.must(s.door().Delete(place, -1)) }
}

func (s *site) awaitPlaces(n int) {
	s.t.Helper()
	for {
		names, _, changed, err := s.door().ChildrenW("/migration/election")
		s.must(err)
		if len(names) >= n {
			return
		}
		<-changed
	}
}

// A migrator that was stopped (SIGSTOP, a laptop's lid) and whose place in the election is
// gone can write nothing more.
func TestStoppedMigrator(t *testing.T) {
	for _, c := range []struct {
		name    string
		command int // in commands
		at      int // the transaction before which it is stopped
		others  func(o *site)
		want    error
	}{
		{"the run was finished", 0, 4, func(o *site) { o.mustMigrate(o.options()) }, migrate.ErrTakenOver},
		{"the run was rolled back", 0, 4, func(o *site) { o.mustRollback(migrate.RollbackOptions{}) }, migrate.ErrTakenOver},
		{"the run is being rolled back", 0, 4, func(o *site) { o.rollbackInterrupted() }, migrate.ErrTakenOver},
		{"before its first transaction, another run was done", 0, 1, func(o *site) { o.mustMigrate(o.options()) }, nil},
		{"before its first transaction, another run was done and rolled back", 0, 1, func(o *site) {
			o.mustMigrate(o.options())
			o.mustRollback(migrate.RollbackOptions{})
		}, migrate.ErrRolledBack},
		{"a rollback, which another finished", 2, 4, func(o *site) { o.mustRollback(migrate.RollbackOptions{}) }, migrate.ErrTakenOver},
		{"a release, and the run was rolled back", 1, 3, func(o *site) { o.mustRollback(migrate.RollbackOptions{}) }, migrate.ErrTakenOver},
		{"a release, which another finished", 1, 3, func(o *site) { o.release() }, migrate.ErrTakenOver},
		{"a release before it lifts, and the run was rolled back", 1, 7, func(o *site) { o.mustRollback(migrate.RollbackOptions{}) }, migrate.ErrHoldsChanged},
		{"a release before it lifts, and another one released", 1, 7, func(o *site) { o.release() }, migrate.ErrHoldsChanged},
		{"a release before it lifts, and a person holds the queue", 1, 7, func(o *site) { o.hold("ops") }, migrate.ErrHoldsChanged},
		{"a complete, which another finished", 4, 3, func(o *site) { o.must(commands[4].do(o)) }, migrate.ErrTakenOver},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 6, 2)), newqueue.MrtZK)
			commands[c.command].ready(&site{t: t, server: s.server, dialect: s.dialect, w: s.w, session: s.session, second: s.door()})
			o := s.operator()
			stopped, goOn := make(chan bool, 1), make(chan struct{})
			transaction, n := s.transactions(s.session), 0
			s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
				if transaction(op) {
					if n++; n == c.at {
						stopped <- true
					}
				}
				return transaction(op) && n == c.at
			}, Do: minizk.Hold(goOn)})
			ended := make(chan error, 1)
			go func() { ended <- commands[c.command].do(s) }()
			<-stopped
			places, _, err := s.door().Children("/migration/election")
			o.must(err)
			for _, name := range places { // as the end of its session does
				o.must(o.door().Delete("/migration/election/"+name, -1))
			}
			c.others(o)
			after := o.tree()
			close(goOn)
			if err := <-ended; !errors.Is(err, c.want) {
				t.Errorf("%v, expected %v", err, c.want)
			}
			roots := slices.Concat(queueRoots, legacyRoots, []string{"/migration/runs", "/migration/ledger", keptRoot})
			if a, b := dump(after, roots...), dump(s.tree(), roots...); a != b {
				t.Errorf("it still wrote:\n%s", b)
			}
		})
	}
}

// A release that has read that there is no run meets the first run's holds, whose records it has not handed over.
func TestFirstMigrationDuringARelease(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		o := s.operator()
		reads, goOn := make(chan bool, 1), make(chan struct{})
		session, once := s.session, false
		s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if once || op.Session != session || op.Path != newqueue.QueueLocksPath {
				return false
			}
			once = true
			reads <- true
			return true
		}, Do: minizk.Hold(goOn)})
		ended := make(chan error, 1)
		go func() { _, err := s.tryRelease(migrate.ReleaseOptions{}); ended <- err }()
		<-reads
		o.mustMigrate(o.options())
		holds := o.holdsNow()
		close(goOn)
		if err := <-ended; !errors.Is(err, migrate.ErrHoldsChanged) || o.holdsNow() != holds {
			t.Errorf("%v; held: %s", err, o.holdsNow())
		}
	})
}

// The znodes of an election have the ACL of the run, so a client that may not write to the
// run can't remove the migrator. A rollback gives its place the ACL of the run that it rolls
// back.
func TestElectionHasTheRunsACL(t *testing.T) {
	acl := []migrate.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: "reader:hash"}}
	s := serve(t, corpus(t), newqueue.Design)
	looks := 0
	look := func(migrate.Phase, int, int) {
		tree := s.server.Snapshot()
		for _, name := range tree.Children("/migration/election") {
			looks++
			if n := tree.Get("/migration/election/" + name); len(n.ACL) != 2 || n.ACL[1].ID != "reader:hash" {
				t.Errorf("%s has the ACL %v", n.Path, n.ACL)
			}
		}
	}
	opt := s.options()
	opt.ACL = acl
	if _, err := migrate.Migrate(migrate.WithProgress(t.Context(), look), s.source(), s.w, opt); err != nil || looks == 0 {
		t.Fatalf("%d looks, %v", looks, err)
	}
	looks = 0
	if _, err := migrate.Rollback(migrate.WithProgress(t.Context(), look), s.w, migrate.RollbackOptions{}); err != nil || looks == 0 {
		t.Fatalf("%d looks, %v", looks, err)
	}
}
