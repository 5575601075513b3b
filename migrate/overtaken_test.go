package migrate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A migrator that waited for others does not begin a new run if they rolled back the run
// that it knew, or finished it. The operator decides again then.
func TestRolledBackOrFinishedWhileWaiting(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"jobID": "two"}),
	}
	src := source(t, queue(t, records))
	records["/ingest/mrtQ-05000000000003"] = record(t, legacy.Pending, legacy.Payload{"jobID": "late"})
	late := source(t, queue(t, records))
	const run = "run0000000000"
	rollback := func(ctx context.Context, m *Migrator) error {
		_, err := m.Rollback(ctx, run, false)
		return err
	}
	// cutOff is a rollback that ends after its first transaction.
	cutOff := func(ctx context.Context, m *Migrator) error {
		ctx, cancel := context.WithCancel(ctx)
		m.Progress = func(int, int) { cancel() }
		if err := rollback(ctx, m); !errors.Is(err, ErrInterrupted) {
			t.Errorf("the rollback was to be interrupted: %v", err)
		}
		return nil
	}
	finish := func(ctx context.Context, m *Migrator) error {
		_, err := m.Migrate(ctx, static(src), options(permissive()), nil)
		return err
	}
	for _, c := range []struct {
		name     string
		done     bool // the run was done before; otherwise it was interrupted
		approved bool
		between  func(context.Context, *Migrator) error
		now      *Source // when the one that waited has its turn
		want     error
		says     string
		runs     int // in the target at the end
	}{
		{name: "an unfinished run was rolled back", between: rollback, now: src, want: ErrRolledBack, says: "run0000000000 was rolled back while this migrator waited"},
		{name: "a run that is done was rolled back", done: true, between: rollback, now: late, want: ErrRolledBack, says: "run0000000000 was rolled back while this migrator waited"},
		{name: "a run of an approved plan was rolled back", approved: true, between: rollback, now: src, want: ErrRolledBack},
		{name: "its rollback was interrupted", between: cutOff, now: src, want: ErrBlocked, says: "run0000000000 is being rolled back", runs: 1},
		{name: "it was finished", between: finish, now: src, runs: 1},
		{name: "it was finished, and a record came since", between: finish, now: late, want: ErrFinished, says: "run0000000000 was finished by another migrator while this one waited", runs: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, znode.NewTree())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := &Migrator{Target: s.Target, Now: clock(), Budget: 1}
			if !c.done {
				first.Progress = func(int, int) { cancel() }
			}
			if _, err := first.Migrate(ctx, static(src), options(permissive()), nil); c.done != (err == nil) {
				t.Fatal(err)
			}
			opt := options(permissive())
			plan := makePlan(t, c.now, treeOf(t, s), opt)
			var expect *Expectation
			if c.approved {
				expect = plan.Expectation()
			}

			// Three are in the election: one that only keeps the others waiting, the one
			// that comes between, and the one that waits for it.
			keeps := NewTarget(open(t, s.zk))
			if err := keeps.lead(t.Context(), "keeps the others waiting", nil, nil, func(string) {}); err != nil {
				t.Fatal(err)
			}
			joined, ended := make(chan bool, 1), make(chan error, 1)
			other := &Migrator{Target: NewTarget(open(t, s.zk)), Now: clock(), Say: func(text string) {
				if strings.Contains(text, "waiting") {
					joined <- true
				}
			}}
			go func() { ended <- c.between(t.Context(), other) }()
			<-joined
			m := &Migrator{Target: NewTarget(open(t, s.zk)), Now: clock(), Plan: plan, Say: func(text string) {
				if strings.Contains(text, "waiting") {
					keeps.resign()
				}
			}}
			res, err := m.Migrate(t.Context(), static(c.now), opt, expect)
			if !errors.Is(err, c.want) || c.says != "" && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v: %s", err, c.want, c.says)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if c.want != nil && res.Steps > 0 {
				t.Errorf("%d transactions were sent", res.Steps)
			}
			tree := treeOf(t, s)
			if runs := tree.Children(RunsPath); len(runs) != c.runs {
				t.Errorf("the target has the runs %v, want %d", runs, c.runs)
			}
			if c.want == ErrRolledBack && !slices.Equal(tree.Paths("/"), []string{"/"}) {
				t.Errorf("left: %v", tree.Paths("/"))
			}
		})
	}
}

// What became of the runs between two looks is decided from their records.
func TestOvertaken(t *testing.T) {
	run := func(id string, state RunState, second int) Run {
		return Run{ID: id, State: state, Source: "source", Started: testNow.Add(time.Duration(second) * time.Second)}
	}
	running, done := run("run0", RunRunning, 0), run("run0", RunDone, 0)
	for name, c := range map[string]struct {
		before, now          []Run
		rolledBack, finished bool
	}{
		"nothing there":              {nil, nil, false, false},
		"as it was":                  {[]Run{running}, []Run{running}, false, false},
		"a run began":                {nil, []Run{running}, false, false},
		"a run began and ended":      {nil, []Run{done}, false, false},
		"finished":                   {[]Run{running}, []Run{done}, false, true},
		"finished before":            {[]Run{done}, []Run{done}, false, false},
		"removed":                    {[]Run{done}, nil, true, false},
		"removed, and another began": {[]Run{running}, []Run{run("run0", RunDone, 9)}, true, false},
		"rolled back, in part kept":  {[]Run{done}, []Run{run("run0", RunRolledBack, 0)}, true, false},
		"rolled back before":         {[]Run{run("run0", RunRolledBack, 0)}, []Run{run("run0", RunRolledBack, 0), run("run1", RunDone, 9)}, false, false},
		"its rollback ended":         {[]Run{run("run0", RunRollingBack, 0)}, nil, true, false},
		"its rollback was cut off":   {[]Run{running}, []Run{run("run0", RunRollingBack, 0)}, false, false},
	} {
		if err := rolledBackSince(c.before, c.now); errors.Is(err, ErrRolledBack) != c.rolledBack {
			t.Errorf("%s: rolled back: %v", name, err)
		}
		if err := finishedSince(c.before, c.now, "source"); errors.Is(err, ErrFinished) != c.finished {
			t.Errorf("%s: finished: %v", name, err)
		}
	}
	if err := finishedSince([]Run{running}, []Run{done}, "another"); err != nil {
		t.Errorf("a run of another source: %v", err)
	}
}
