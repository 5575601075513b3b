package rehearse

import (
	"context"
	"math"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

// workedBefore is the part of the work that is done before the second copy is rolled back.
const workedBefore = 0.3

// back rehearses the way back, on a second copy: when a part of the queue was worked, the run is
// rolled back, and the legacy workers do the rest. The jobs that were begun stay in the new
// queue, as the only copies, and its workers end them. Nobody is disturbed here.
func (r *rehearsal) back(ctx context.Context) error {
	p, err := r.newAttempt(ctx, "/second")
	if err != nil {
		return err
	}
	defer p.close()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"plan again", p.makePlan},
		{"migrate again", p.migrate},
		{"release again", p.release},
	} {
		if err := r.step(ctx, step.name, step.do); err != nil || p.refused {
			return err
		}
	}
	if err := p.predict(ctx); err != nil {
		return err
	}
	crew := p.newCrew(ctx, 0)
	defer crew.World.Close()
	if err := crew.Start(); err != nil {
		return err
	}
	deposits := p.newDepositor()
	if err := p.arrive(ctx, crew, deposits, len(deposits.models)); err != nil {
		return err
	}
	r.report.Back = &RollbackReport{}
	if err := p.workSome(ctx, crew); err != nil {
		return err
	}
	for _, a := range crew.Workers() { // they are stopped before a rollback, and a job with which one is stuck is free
		a.Kill()
		a.Expire()
	}
	if err := r.step(ctx, "rollback", p.rollback); err != nil {
		return err
	}
	return p.workRest(ctx, crew)
}

// done counts the records whose work was done. A record that a legacy ingest worker adds for inventory
// is none of them.
func (p *attempt) done(c *crew) (n int) {
	all := c.Executions()
	for i := range p.records[:p.planned] {
		if all[p.records[i].Key].Times() > 0 {
			n++
		}
	}
	return n
}

func (p *attempt) workSome(ctx context.Context, crew *crew) error {
	part := int(workedBefore * float64(p.run()))
	show, finish := p.opt.Meter.Progress("the workers work on a part", "records")
	defer finish()
	before := p.done(crew)
	err := crew.work(ctx, crew.Workers(), func() bool { return p.done(crew)-before >= part }, func(n int) { show(n, part) })
	p.report.Back.Before = p.done(crew) - before
	return err
}

// nobodyWorks says that no worker is at work, whatever records, locks and jobs show: here they stand still.
const nobodyWorks = math.MaxInt

func (p *attempt) rollback(ctx context.Context) error {
	undo, err := migrate.Rollback(ctx, p.new, migrate.RollbackOptions{})
	if err == nil {
		p.report.Back.GivenBack, p.report.Back.Kept = undo.GivesBack, len(undo.Keeps)+undo.Gone
	}
	return err
}

func (p *attempt) workRest(ctx context.Context, crew *crew) error {
	crew.newQueue.Forget()
	crew.old.Forget()
	before := p.done(crew)
	show, finish := p.opt.Meter.Progress("the legacy workers work on the rest", "records")
	err := crew.rounds(ctx, crew.LegacyWorkers(), nil, func(n int) { show(n, len(p.records)) },
		func(bool, int) error { return crew.SweepLegacy() })
	finish()
	if err != nil {
		return err
	}
	p.report.Back.ByLegacy = p.done(crew) - before
	if _, err = migrate.Release(ctx, p.new, migrate.ReleaseOptions{WorkersStopped: nobodyWorks}); err != nil {
		return err
	}
	crew.newQueue.Forget()
	show, finish = p.opt.Meter.Progress("the workers work on what was kept", "records")
	err = crew.work(ctx, crew.Workers(), nil, func(n int) { show(n, len(p.records)) })
	finish()
	if err != nil {
		return err
	}
	p.differ(crew.stuck...)
	seen, err := crew.result()
	if err != nil {
		return err
	}
	for i := range p.records {
		f := &p.records[i]
		// Legacy workers know a record without a key by its path. What they fail is their own affair.
		states := slices.Concat(seen.executions[f.Key].States, seen.executions[f.Path].States)
		if slices.Contains(states, legacy.Failed.String()) && !seen.failed[f.Key] {
			seen.failed[f.Key] = true
			p.report.Back.Failed++
		}
		key, _ := legacy.ParseKey(znode.Name(f.Path)) // the plan could read it
		switch {
		case f.Status != legacy.Pending.String():
			f.Told = "no legacy worker takes it, because it is " + f.Status
		case key.Skipped():
			f.Told = "no legacy worker takes it, because its sequence number has wrapped"
		}
	}
	for _, d := range compareTimes(p.records, seen) {
		if d.Kind == Empty { // what a legacy worker finds in a folder is its own affair, and the first copy shows the rest
			continue
		}
		d.Message += "; on the second copy, which was rolled back"
		p.differ(d)
	}
	return nil
}
