package verify

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

const partSize part.Size = 250

type item struct {
	entry  *ledger.Migrated
	run    *migration.Run
	queue  newqueue.QueueHold
	record *migration.Record // as it was migrated; nil if it is not there any more, or has changed
	state  rules.State       // in which its job began; zero if record is nil
	// changed says that somebody changed the record after its run had first read it. Then its job is made of what is there now, as
	// the hash says, but nobody knows what its batch is made of, and in which order it was met.
	changed bool
}

func (v *verifier) records(ctx context.Context) error {
	compare := v.newComparison(ctx)
	defer compare.stop()
	var unsure []*ledger.Migrated // to which queue they belong
	for part := range slices.Chunk(slices.Collect(v.t.Ledger.All()), recordsPerRead.N()) {
		records, err := v.fetch(ctx, part)
		if err != nil {
			return err
		}
		for i, e := range part {
			v.mu.Lock()
			it := v.migrated(records[i], e)
			v.verdict.Records.Total++
			again := e.HandedOver && v.src.Has(e.Record)
			v.mu.Unlock()
			if again || !e.HandedOver && (it.record == nil || !v.names.Has(e.Job)) {
				unsure = append(unsure, e)
				continue
			}
			if err := compare.add(it); err != nil {
				return err
			}
		}
	}
	look := &standing.Reader{Target: v.t, Names: v.names, Src: v.src, Decide: standing.DecideRelease}
	if err := v.decide(ctx, look, compare, unsure); err != nil {
		return err
	}
	if err := compare.finish(); err != nil {
		return err
	}
	return v.others(ctx, look)
}

const recordsPerRead part.Size = 4 * partSize

// fetch reads records: where they are kept, if they were handed over, else in the legacy queue. A record that is not there has only
// its path.
func (v *verifier) fetch(ctx context.Context, entries []*ledger.Migrated) ([]source.Fetched, error) {
	records := make([]source.Fetched, len(entries))
	var legacyPaths, keptPaths []string
	var inLegacy, inKept []int
	kept := map[string]string{}
	for i, e := range entries {
		run := &v.t.Ledger.Runs[e.Run]
		switch {
		case !e.HandedOver && v.src.Has(e.Record):
			legacyPaths, inLegacy = append(legacyPaths, e.Record), append(inLegacy, i)
		case e.Kept && !v.completed(e):
			path := run.KeptPath(e.Job)
			keptPaths, inKept = append(keptPaths, path), append(inKept, i)
			kept[path] = e.Record
		}
	}
	read := func(fetched iter.Seq2[source.Fetched, error], at []int) error {
		for f, err := range fetched {
			if err != nil {
				return err
			}
			if f.There && isUnreadable(f.Record) {
				if e := entries[at[0]]; e.HandedOver {
					return standing.UnreadableKept(e.Record, v.t.Ledger.Runs[e.Run].KeptPath(e.Job), f.Err.Msg)
				}
				return standing.Unreadable(f.Path, f)
			}
			records[at[0]], at = f, at[1:]
			v.mu.Lock()
			if v.read++; v.done == 0 {
				v.opt.Reading(v.read, v.t.Ledger.Len())
			}
			v.mu.Unlock()
		}
		return nil
	}
	if err := read(v.src.Fetch(ctx, slices.Values(legacyPaths)), inLegacy); err != nil {
		return nil, err
	}
	if len(keptPaths) == 0 {
		return records, nil
	}
	return records, read(v.src.FetchKept(ctx, slices.Values(keptPaths), kept), inKept)
}

// isUnreadable reports whether a record's data could not be read. Then it is not known
// whether the record has changed.
func isUnreadable(r migration.Record) bool { return r.Err != nil && r.Err.Kind == migration.Unreadable }

func (v *verifier) migrated(f source.Fetched, entry *ledger.Migrated) item {
	it := item{entry: entry, run: &v.t.Ledger.Runs[entry.Run], queue: rules.KindOf(entry.Job).Hold()}
	is := ledger.HashOf(f.SHA256())
	switch {
	case entry.HandedOver && entry.Kept && !v.completed(entry) && it.run.State != migration.RunRolledBack && (!f.There || is != entry.KeptHash):
		v.notice(it, fmt.Sprintf("%s, so it can't be given back: %s", standing.KeptProblem(f.There), it.run.KeptPath(entry.Job)))
		return it
	case entry.HandedOver && v.completed(entry):
		v.verdict.NotCompared++
		return it
	case !f.There || f.Err != nil || is != entry.Hash, !entry.HandedOver && standing.FactsOf(entry, it.run, f, v.queues).Record != standing.AsMigrated:
		return it
	}
	d := rules.Decide(f.Record, it.run.Choices)
	if d.Do != migration.Migrate {
		return it
	}
	r := f.Record
	it.record, it.state = &r, d.State
	it.changed = !it.run.Restored && f.Stat.Mzxid > it.run.Read
	if b := v.batches[entry.Batch]; b != nil && entry.Run == b.of.Run {
		b.add(it, v.dialect)
	}
	return it
}

// completed reports whether a completion has removed the kept bytes of an entry: it removes those of all runs until then, also of
// one that was rolled back.
func (v *verifier) completed(entry *ledger.Migrated) bool {
	return slices.ContainsFunc(v.t.Ledger.Runs[entry.Run:], func(run migration.Run) bool { return !run.Completed.IsZero() })
}

func (v *verifier) decide(ctx context.Context, look *standing.Reader, compare *comparison, entries []*ledger.Migrated) error {
	for c, err := range look.All(ctx, entries) {
		if err != nil {
			return err
		}
		it := item{entry: c.Entry, run: c.Run, queue: c.Queue()}
		if c.Other.There {
			if err := v.notMigrated(c.Other); err != nil {
				return err
			}
		}
		if c.Record == standing.AsMigrated && !c.HandedOver && c.RecordRead.Err == nil { // its job is gone
			it.state = rules.Decide(c.RecordRead.Record, c.Run.Choices).State
		}
		v.mu.Lock()
		v.verdict.BlocksLate = v.verdict.BlocksLate || c.BlocksLate()
		switch {
		case c.Action == standing.Ask:
			v.verdict.Records.Undecided++
			v.differ(migration.Difference{Kind: migration.DifferenceKind(c.Question), Path: c.Entry.Record, Record: c.Entry.Record, Queue: it.queue, Message: fmt.Sprintf("%s (%s)", c.Question.Says(), c.Entry.Job)})
		case c.Action == standing.Withdraw:
			v.verdict.Records.AtLegacy++
			v.verdict.Legacy = append(v.verdict.Legacy, c.Note("the legacy queue has its work: a release withdraws its job"))
		default: // its job is judged as all others
			if c.Twice() {
				v.notice(it, standing.TwiceSays)
			}
			v.mu.Unlock()
			if err := compare.add(it); err != nil {
				return err
			}
			continue
		}
		for _, n := range c.JobRead.Entries { // they are where they should be
			v.expected[znode.Parent(n.Path)]++
		}
		v.mu.Unlock()
	}
	return nil
}

func (v *verifier) others(ctx context.Context, look *standing.Reader) error {
	for f, err := range v.src.Fetch(ctx, v.t.Ledger.NotMigrated(v.src.Paths())) {
		if err != nil {
			return err
		}
		if f.There && !look.IsRenamed(f.Path) {
			if err := v.notMigrated(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) notMigrated(f source.Fetched) error {
	if isUnreadable(f.Record) {
		return standing.Unreadable(f.Path, f)
	}
	r := f.Record
	v.mu.Lock()
	defer v.mu.Unlock()
	count := &v.verdict.Records
	count.Total++
	switch outcome, _ := OutcomeOf(v.t.Ledger.Current(), rules.Decide(r, v.verdict.Choices)); outcome {
	case OutcomeSkipped:
		count.Skipped++
	case OutcomeFinished:
		count.Finished++
	case OutcomeQuarantined:
		count.Quarantined++
		if v.opt.Quarantined != nil && !v.opt.Quarantined(r) {
			v.differ(migration.Difference{Kind: migration.DifferenceNotKept, Path: r.Path, Record: r.Path, Queue: r.Queue.Hold(), Message: "it can't be decoded, and the quarantine file does not have its bytes"})
		}
	default:
		count.NotMigrated++
		v.verdict.NotMigrated = append(v.verdict.NotMigrated, r.Path)
	}
	return nil
}

func (it item) note(why string) migration.Note {
	return migration.Note{Record: it.entry.Record, Job: it.entry.Job, Why: why, Queue: it.queue}
}

func (v *verifier) notice(it item, what string) {
	v.verdict.Notices = append(v.verdict.Notices, it.note(what))
}

func (v *verifier) removed(it item) {
	what := "it was removed: finished and cleaned up, or deleted"
	v.verdict.Records.Removed++
	v.verdict.Removed = append(v.verdict.Removed, it.note(what))
	if v.isExact(it.run, it.queue) {
		v.differ(migration.Difference{Kind: migration.DifferenceActedOn, Path: it.entry.Job, Record: it.entry.Record, Queue: it.queue, Message: what})
	}
}

func (v *verifier) there(it item, state string) {
	v.verdict.States[state]++
	v.verdict.Records.Migrated++
}

// checkOrder compares the order of two jobs of one group: those that the same legacy
// consumer would have taken, with the same priority. The new queue hands jobs of one
// priority out by their ids, and items come in the order of the ledger. A run that was interrupted leaves a consumed
// record behind, and takes it later if its worker has given it back meanwhile.
func (v *verifier) checkOrder(it item) {
	if it.changed {
		return
	}
	key := it.record.Legacy.Key
	group := fmt.Sprintf("%s %s %d %t %s", it.run.ID, it.record.Queue, key.Priority, key.HighPriority, key.Worker)
	last := v.last[group]
	if last != nil && (last.Job >= it.entry.Job || source.Compare(last.Record, it.entry.Record) > 0) {
		v.differ(migration.Difference{Kind: migration.DifferenceOutOfOrder, Path: it.entry.Job, Record: it.entry.Record, Queue: it.queue,
			Message: fmt.Sprintf("it comes after %s, although its record comes before %s", last.Job, last.Record)})
	}
	v.last[group] = it.entry
}
