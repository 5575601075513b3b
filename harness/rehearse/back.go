package rehearse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

// workedBefore is the part of the work that is done before the second copy is rolled back.
const workedBefore = 0.3

// nobodyWorks says that no worker is at work, whatever records, locks and jobs show: here they stand still.
const nobodyWorks = math.MaxInt

// goBack rehearses the way back: when a part of the queue was worked, the run is rolled back, and the legacy workers do the rest. The jobs that
// were begun stay in the new queue, as the only copies, and its workers end them.
func (p *attempt) goBack(ctx context.Context) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer p.crew.Close()
	deposits := p.newDepositor()
	if err := p.arrive(ctx, deposits, deposits.Models()); err != nil {
		return err
	}
	before, part := p.done(), int(workedBefore*float64(p.due))
	if err := p.work(ctx, func() bool { return p.done()-before >= part }); err != nil {
		return err
	}
	begun := p.done()
	for _, a := range p.crew.Workers() { // they are stopped before a rollback, and a job with which one is stuck is free
		a.Kill()
		a.Expire()
	}
	if _, err := migrate.Rollback(ctx, p.new, migrate.RollbackOptions{}); err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	p.crew.forget()
	if err := p.crew.work(ctx, p.crew.LegacyWorkers(), nil, p.show, func(bool, int) error { return p.crew.SweepLegacy() }); err != nil {
		return err
	}
	p.report.DoneBefore, p.report.DoneAfter = begun-before, p.done()-begun
	if _, err := migrate.Release(ctx, p.new, migrate.ReleaseOptions{WorkersStopped: nobodyWorks}); err != nil {
		return fmt.Errorf("release after the rollback: %w", err)
	}
	p.crew.forget()
	if err := p.work(ctx, nil); err != nil {
		return err
	}
	p.differ(p.crew.stuck...)
	seen, err := p.crew.result()
	if err != nil {
		return err
	}
	for i := range p.records {
		f := &p.records[i]
		// Legacy workers know a record without a key by its path. What they fail is their own affair.
		if slices.Contains(slices.Concat(seen.executions[f.Key].States, seen.executions[f.Path].States), legacy.Failed.String()) {
			seen.failed[f.Key] = true
		}
		key, _ := legacy.ParseKey(znode.Name(f.Path))                           // the plan could read it
		f.Told = f.Told || f.Status != legacy.Pending.String() || key.Skipped() // then no legacy worker takes it
	}
	for _, d := range compareTimes(p.records, seen) {
		if d.Kind != Empty { // what a legacy worker finds in a folder is its own affair, and the first copy shows the rest
			d.Message += "; on the second copy, which was rolled back"
			p.differ(d)
		}
	}
	return nil
}
