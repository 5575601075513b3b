package daemons_test

import (
	"errors"
	"sync"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// crowd are legacy workers that nobody stops: some worlds of them, each in a goroutine of its own.
type crowd struct {
	worlds []*daemons.World
	begun  sync.WaitGroup // until they are in the middle
	dry    chan struct{}  // is closed when the workers may end as soon as they find nothing
	ended  sync.WaitGroup
}

// crowds is how many legacy workers of each kind there are, and warm how often each of them looks
// for work before the other side begins.
const crowds, warm = 2, 2

// start lets the legacy workers work. No turn may fail.
func (c *crowd) start(t *testing.T) {
	c.dry = make(chan struct{})
	for _, w := range c.worlds {
		c.begun.Add(1)
		c.ended.Go(func() {
			begin := sync.OnceFunc(c.begun.Done)
			defer begin()
			for round := 1; ; round++ {
				may := isClosed(c.dry) // before it looks: what it finds then was there before
				did := false
				for _, a := range w.LegacyWorkers() {
					one, err := a.Step()
					if err != nil {
						t.Errorf("%s: %v", a.Name, err)
						return
					}
					did = did || one
				}
				if may && !did {
					return
				}
				if round == warm {
					begin()
				}
			}
		})
	}
	c.begun.Wait()
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// runDry waits until the legacy workers find nothing any more.
func (c *crowd) runDry() {
	close(c.dry)
	c.ended.Wait()
}

// until calls do until workers are no reason any more why it could not end.
func until(t *testing.T, do func() error) {
	t.Helper()
	for {
		err := do()
		if !errors.Is(err, migrate.ErrAtWork) && !errors.Is(err, migrate.ErrContended) {
			must(t, err)
			return
		}
	}
}

// Legacy workers that nobody stops work beside a release, and then beside a rollback. None of them
// fails, they run dry, and the work of each record is done once.
func TestLegacyWorkersBesideTheCutover(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			tree := value(legacyqueue.Make(legacyqueue.Options{Records: 500, Seed: 3}))(t)
			s, opt := serve(t, tree), options()
			opt.Dialect = d
			p := value(migrate.MakePlan(t.Context(), s.source(t), &s.open(t).Reader, opt))(t)
			value(migrate.Migrate(t.Context(), s.source(t), s.open(t), migrate.MigrateOptions{Options: opt}))(t)

			place := s.place(t)
			services := daemons.New(daemons.Options{New: place, Dialect: d})
			t.Cleanup(services.Close)
			var old crowd
			for range crowds {
				w := daemons.New(daemons.Options{New: place, Legacy: place, Dialect: d})
				t.Cleanup(w.Close)
				old.worlds = append(old.worlds, w)
			}
			// A worker may have done a record and cleaned it up. Nobody deletes one here.
			decided := migrate.Decisions{Vanished: migrate.IsLegacy, Save: func([]znode.Node) error { return nil }}
			w := s.open(t)
			handed, withdrawn, given := 0, 0, 0
			release := func() error {
				res, err := migrate.Release(t.Context(), w, migrate.ReleaseOptions{Decisions: decided})
				if res != nil {
					handed, withdrawn = handed+res.HandedOver, withdrawn+res.Withdrawn
				}
				return err
			}
			old.start(t)
			until(t, release)
			old.runDry()
			for _, a := range services.Workers() {
				for range 10 {
					value(a.Step())(t)
				}
			}
			old.start(t)
			until(t, func() error {
				undo, err := migrate.Rollback(t.Context(), w, "", migrate.RollbackOptions{Decisions: decided})
				if undo != nil {
					given += undo.GivesBack
				}
				return err
			})
			old.runDry()
			must(t, release()) // the jobs that stay wait for it
			must(t, services.Run())
			if handed == 0 || withdrawn == 0 || given == 0 {
				t.Errorf("%d handed over, %d withdrawn, %d given back: the workers were not beside it", handed, withdrawn, given)
			}
			counted(t, tree, p, append(old.worlds, services))
		})
	}
}

// counted compares how often the work of each record was done with what its plan says.
func counted(t *testing.T, tree *znode.Tree, p *migrate.Plan, worlds []*daemons.World) {
	t.Helper()
	times := map[string]int{}
	for _, w := range worlds {
		for key, e := range w.Executions() {
			times[key] += e.Times()
		}
	}
	told := map[string]bool{} // the plan says that the services can't do its work
	for _, f := range p.Services {
		for _, i := range f.Items {
			told[i.Path] = told[i.Path] || f.Blocking
		}
	}
	for _, r := range p.Records {
		n := times[daemons.LegacyKey(value(legacy.Decode(znode.Name(r.Path), tree.Get(r.Path).Data, legacy.Options{}))(t).Payload)]
		if n > 1 || n == 0 && r.Status == legacy.Pending.String() && !told[r.Path] {
			t.Errorf("the work of %s, which was %s, was done %d times", r.Path, r.Status, n)
		}
	}
}
