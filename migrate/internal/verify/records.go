package verify

import (
	"context"
	"fmt"

	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/newqueue"
)

// partSize is how many jobs are compared together.
const partSize = 250

// item is a migrated record, with the job or request that it became.
type item struct {
	entry  *ledger.Migrated
	run    *ledger.Run
	queue  newqueue.QueueHold
	record *rules.Record // nil if it is not in the source, or has changed
	state  rules.State   // in which its job began; zero if record is nil
	moved  Kind          // [Changed] or [Vanished], "" if neither
	// waits says that it has changed, and waits for the legacy workers, which have their queue back:
	// they will run it, whatever became of its job.
	waits bool
}

// records looks at every legacy record, and at the jobs that they became.
func (v *verifier) records(ctx context.Context) error {
	compare := v.newComparison(ctx)
	defer compare.stop()
	for f, err := range v.src.Fetch(ctx, v.src.InOrder()) {
		if err != nil {
			return err
		}
		if !f.There {
			continue
		}
		if isUnreadable(f.Record) {
			return fmt.Errorf("the legacy record %s can't be read: %s; verify needs credentials that can read it, or a dump that was made with them", f.Path, f.Err.Msg)
		}
		entry := v.t.Ledger.Find(f.Path)
		compare.mu.Lock()
		v.verdict.Records.Total++
		if entry == nil {
			v.notMigrated(f.Record)
		}
		compare.mu.Unlock()
		if entry == nil {
			continue
		}
		if err := compare.add(v.migrated(f, entry)); err != nil {
			return err
		}
	}
	return compare.finish()
}

// isUnreadable reports whether a record's data could not be read. Then it is not known
// whether the record has changed.
func isUnreadable(r rules.Record) bool { return r.Err != nil && r.Err.Kind == rules.Unreadable }

// migrated is the item of a record that is in the ledger.
func (v *verifier) migrated(f source.Fetched, entry *ledger.Migrated) item {
	it := item{entry: entry, run: &v.t.Ledger.Runs[entry.Run], queue: f.Queue.Hold()}
	d := rules.Decide(f.Record, it.run.Choices)
	if f.Err != nil || d.Do != rules.Migrate || ledger.HashOf(f.Legacy.SHA256) != entry.Hash {
		it.moved = Changed
		it.waits = v.t.Ledger.AllBack() && f.Err == nil && f.Legacy.Header.Status == legacy.Pending
		return it
	}
	r := f.Record
	it.record, it.state = &r, d.State
	if b := v.batches[entry.Batch]; b != nil && entry.Run == b.of.Run {
		b.add(it, v.dialect)
	}
	return it
}

// notMigrated accounts for a record that is in no ledger.
func (v *verifier) notMigrated(r rules.Record) {
	run := v.t.Ledger.Current()
	count := &v.verdict.Records
	switch outcome, _ := OutcomeOf(run, r.Path, rules.Decide(r, v.verdict.Choices)); outcome {
	case WasSkipped:
		count.Skipped++
	case WasQuarantined:
		count.Quarantined++
		if v.opt.Quarantined != nil && !v.opt.Quarantined(r) {
			v.differ(Difference{Kind: NotKept, Path: r.Path, Record: r.Path, Queue: r.Queue.Hold(), Message: "it can't be decoded, and the quarantine file does not have its bytes"})
		}
	case CameLate:
		count.Late++
		v.verdict.Late = append(v.verdict.Late, r.Path)
	case WasMissed:
		count.Missed++
		v.differ(Difference{Kind: Missed, Path: r.Path, Record: r.Path, Queue: r.Queue.Hold(), Message: "it was not migrated"})
	default:
		if run == nil || run.State == ledger.Running {
			count.Waiting++
		} else {
			count.Returned++
		}
	}
}

// vanished looks at the jobs whose records are not in the source any more.
func (v *verifier) vanished(ctx context.Context) error {
	compare := v.newComparison(ctx)
	defer compare.stop()
	for e := range v.t.Ledger.All() {
		if v.src.Has(e.Record) {
			continue
		}
		it := item{entry: e, run: &v.t.Ledger.Runs[e.Run], queue: rules.KindOf(e.Job).Hold(), moved: Vanished}
		if err := compare.add(it); err != nil {
			return err
		}
	}
	return compare.finish()
}

// moved names a record that changed or vanished after it was migrated. state is the state
// of its job. If the job can still run, the record could run twice: a legacy worker is at
// it. After the release, a record that vanished is no difference, because then somebody may
// clear the legacy queue. It is only named, if retire did not remove it. If its run was rolled
// back, its job is kept as the only copy.
func (v *verifier) moved(it item, state string) {
	word := map[Kind]string{Changed: "it has changed", Vanished: "it is not in the source any more"}[it.moved]
	over := !it.waits && (state == string(newqueue.JobCompleted) || state == string(newqueue.JobDeleted))
	switch {
	case over && it.moved == Changed:
		v.notice(it, fmt.Sprintf("%s since it was migrated; its job is %s", word, state))
	case over:
	case it.moved == Vanished && v.t.Released(it.run, it.queue):
		if !it.entry.Retired && it.run.Settled() == ledger.Done {
			v.verdict.Vanished = append(v.verdict.Vanished, Remark{it.entry.Record, it.entry.Job, "its job is " + state})
		}
	default:
		v.differ(Difference{Kind: it.moved, Path: it.entry.Record, Record: it.entry.Record, Queue: it.queue,
			Message: fmt.Sprintf("%s since it became %s, which is %s: a legacy worker works on it, and it could run twice", word, it.entry.Job, state)})
	}
}

func (v *verifier) notice(it item, what string) {
	v.verdict.Notices = append(v.verdict.Notices, Remark{it.entry.Record, it.entry.Job, what})
}

// removed accounts for a job that was removed.
func (v *verifier) removed(it item) {
	what := "it was removed: finished and cleaned up, or deleted"
	if it.moved != Vanished {
		v.verdict.Records.Removed++
		v.verdict.Removed = append(v.verdict.Removed, Remark{it.entry.Record, it.entry.Job, what})
	}
	switch {
	case it.waits:
		v.moved(it, "removed")
	case it.moved == Changed:
		v.notice(it, "it has changed since it was migrated, and its job was removed")
	}
	if v.isExact(it.run, it.queue) {
		v.differ(Difference{Kind: ActedOn, Path: it.entry.Job, Record: it.entry.Record, Queue: it.queue, Message: what})
	}
}

// there accounts for a job that is there.
func (v *verifier) there(it item, state string) {
	v.verdict.States[state]++
	if it.moved != Vanished {
		v.verdict.Records.Migrated++
	}
	if it.moved != "" {
		v.moved(it, state)
	}
}

// checkOrder compares the order of two jobs of one group: those that the same legacy
// consumer would have taken, with the same priority. The new queue hands jobs of one
// priority out by their ids. Records come in the order of the old queue.
func (v *verifier) checkOrder(it item) {
	key := it.record.Legacy.Key
	group := fmt.Sprintf("%s %s %d %t %s", it.run.ID, it.record.Queue, key.Priority, key.HighPriority, key.Worker)
	if last := v.lastJobs[group]; last >= it.entry.Job {
		v.differ(Difference{Kind: OutOfOrder, Path: it.entry.Job, Record: it.entry.Record, Queue: it.queue,
			Message: fmt.Sprintf("it comes before %s, although its record comes later", last)})
	}
	v.lastJobs[group] = it.entry.Job
}
