package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

func (s *site) inLegacy() (n int) {
	for node := range s.tree().All("/") {
		if strings.Contains(node.Path, "/mrtQ-") && !strings.HasPrefix(node.Path, "/mrtq-handed-over") {
			n++
		}
	}
	return n
}

// A release that was killed does not look like one that never began: status and verify say how many records it has left,
// and the next step is to finish it. One that nobody has begun, or that has ended for the queues that were asked for, does not
// look unfinished.
func TestKilledReleaseIsSeen(t *testing.T) {
	access := []newqueue.QueueHold{newqueue.HoldAccessSmall}
	for name, c := range map[string]struct {
		do         func(s *site)
		unfinished bool
		due        int
		step       migrate.NextStep
	}{
		"not begun":                       {func(*site) {}, false, 10, migrate.StepRelease},
		"killed after one":                {func(s *site) { s.releaseInterrupted(1) }, true, 9, migrate.StepRelease},
		"killed after half":               {func(s *site) { s.releaseInterrupted(5) }, true, 5, migrate.StepRelease},
		"killed before the holds":         {func(s *site) { s.releaseInterrupted(10) }, true, 0, migrate.StepRelease},
		"killed, and a hold lifted":       {func(s *site) { s.releaseInterrupted(5); s.remove("/locks/queue/ingest") }, true, 5, migrate.StepRelease},
		"one queue":                       {func(s *site) { s.release(access...) }, false, 9, migrate.StepRelease},
		"one queue, and the rest, killed": {func(s *site) { s.release(access...); s.releaseInterrupted(4) }, true, 5, migrate.StepRelease},
		"ended":                           {func(s *site) { s.release() }, false, 0, ""},
		"ended, and a late record":        {func(s *site) { s.release(); s.late(900); s.follow() }, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			s.mustMigrate(s.options())
			c.do(s)
			if n := s.inLegacy(); n != c.due {
				t.Fatalf("%d records are in the legacy queue", n)
			}
			want := fmt.Sprint(c.unfinished, c.due, c.step)
			if st := s.status(); fmt.Sprint(st.Releasing(), st.Due, st.Step) != want {
				t.Errorf("status: %t, %d, %s; want %s", st.Releasing(), st.Due, st.Step, want)
			}
			if v := s.mustVerify(); fmt.Sprint(v.Releasing, v.Due, migrate.VerdictStep(v)) != want {
				t.Errorf("verify: %t, %d, %s; want %s", v.Releasing, v.Due, migrate.VerdictStep(v), want)
			}
		})
	}
}

// A completion that was killed does not look like one that has ended: status and verify say how many kept records it has left, and
// the next step is to finish it.
func TestKilledCompletionIsSeen(t *testing.T) {
	for _, after := range []int{0, 1, 5, 10} {
		s := serve(t, lifeQueue(t), newqueue.MrtZK)
		s.mustMigrate(s.options())
		s.release()
		if st, v := s.status(), s.mustVerify(); st.Uncompleted != 0 || v.Uncompleted != 0 {
			t.Errorf("not begun: %d, %d", st.Uncompleted, v.Uncompleted)
		}
		_, err := migrate.Complete(until(t, migrate.PhaseRemoving, after), s.w, migrate.CompleteOptions{Limits: single})
		if !errors.Is(err, migrate.ErrInterrupted) && after < 10 {
			t.Fatal(err)
		}
		kept := 0
		for n := range s.tree().All("/mrtq-handed-over") {
			if strings.Count(n.Path, "/") == 3 {
				kept++
			}
		}
		var step migrate.NextStep
		if kept > 0 {
			step = migrate.StepComplete
		}
		if kept != 10-after {
			t.Fatalf("%d are kept", kept)
		}
		if st := s.status(); st.Uncompleted != kept || st.Step != step {
			t.Errorf("status: %d, %s; %d are kept", st.Uncompleted, st.Step, kept)
		}
		if v := s.mustVerify(); v.Uncompleted != kept || migrate.VerdictStep(v) != step {
			t.Errorf("verify: %d, %s; %d are kept", v.Uncompleted, migrate.VerdictStep(v), kept)
		}
		s.must(errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})))
		if st := s.status(); st.Uncompleted != 0 || st.Step != "" {
			t.Errorf("in the end: %d, %s", st.Uncompleted, st.Step)
		}
	}
}

// The phase that a command reports is the one that runs: while it waits for its turn, it looks at nothing but the election, and
// when a phase has done all of its steps, no more records are read in it.
func TestPhaseIsTheOneThatRuns(t *testing.T) {
	commands := map[string]struct {
		before func(s *site)
		do     func(ctx context.Context, s *site) error
	}{
		"migrate": {func(*site) {}, func(ctx context.Context, s *site) error {
			return errorOf(migrate.Migrate(ctx, s.source(), s.w, s.options()))
		}},
		"release": {lifeStates["done"], func(ctx context.Context, s *site) error {
			return errorOf(migrate.Release(ctx, s.w, migrate.ReleaseOptions{}))
		}},
		"rollback": {lifeStates["released"], func(ctx context.Context, s *site) error {
			return errorOf(migrate.Rollback(ctx, s.w, migrate.RollbackOptions{}))
		}},
		"complete": {lifeStates["released"], func(ctx context.Context, s *site) error {
			return errorOf(migrate.Complete(ctx, s.w, migrate.CompleteOptions{}))
		}},
		"verify": {lifeStates["released"], func(ctx context.Context, s *site) error {
			return errorOf(migrate.Verify(ctx, nil, &s.w.Reader, migrate.VerifyOptions{}))
		}},
		"status": {lifeStates["done"], func(ctx context.Context, s *site) error {
			return errorOf(migrate.ReadStatus(ctx, &s.w.Reader))
		}},
	}
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			c.before(s)
			var mu sync.Mutex
			var phase migrate.Phase
			var done, total, counted int
			ctx := migrate.WithProgress(t.Context(), func(p migrate.Phase, n, of int) {
				mu.Lock()
				defer mu.Unlock()
				if phase, done, total = p, n, of; n > 0 {
					counted++
				}
			})
			s.server.Inject(minizk.Fault{Do: minizk.Hold(nil), On: func(op minizk.Op) bool {
				mu.Lock()
				defer mu.Unlock()
				for _, path := range op.Paths {
					isRecord := strings.HasPrefix(znode.Name(path), "mrtQ-") && op.Session == s.session
					switch {
					case op.Session != s.session || phase == "":
					case phase == migrate.PhaseAwaitingTurn && path != "/migration" && !znode.Within(path, "/migration/election"):
						t.Errorf("it waits for its turn, and does %s %s", op.Code, path)
					case isRecord && total > 0 && done == total:
						t.Errorf("it is %s, %d of %d, and does %s %s", phase, done, total, op.Code, path)
					}
				}
				return false
			}})
			s.must(c.do(ctx, s))
			mu.Lock()
			defer mu.Unlock()
			if counted == 0 {
				t.Error("it counted nothing")
			}
		})
	}
}
