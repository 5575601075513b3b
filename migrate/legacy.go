package migrate

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// LegacyStatus is what became of the records of one legacy queue.
type LegacyStatus struct {
	Path     string   `json:"path"`
	Records  int      `json:"records"` // that are there
	Migrated int      `json:"migrated"`
	Waiting  int      `json:"waiting"`  // only in the legacy queue: no run, an unfinished one, or rolled back
	Left     int      `json:"left"`     // by the run's choices: skipped or in quarantine
	Late     []string `json:"late"`     // added since the last run
	Missed   []string `json:"missed"`   // not migrated, although they were there
	Changed  []string `json:"changed"`  // since they were migrated
	Vanished []string `json:"vanished"` // removed since they were migrated, but not by Retire, and their job can still run
	// Twice are those of Changed and Vanished that could run twice, because their job can still
	// run. After a rollback, a record that vanished can't.
	Twice []string `json:"could_run_twice"`
	// Gone counts the migrated records that are not there any more, although no retire removed them: a legacy
	// worker finished them, the legacy cleanup runs, or a person deleted them.
	Gone int `json:"gone"`
	// Kept counts the records that are as they were migrated, if every run was rolled back: the new
	// queue has their jobs. [Retire] removes them, so that no legacy worker runs them.
	Kept int `json:"kept"`
}

// MayHaveRunTwice are the records of Changed that can't run again, because their jobs are over. A
// legacy worker may have run what the new queue ran, too.
func (l LegacyStatus) MayHaveRunTwice() (paths []string) {
	twice := map[string]bool{}
	for _, path := range l.Twice {
		twice[path] = true
	}
	for _, path := range l.Changed {
		if !twice[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// ReadLegacy says what became of the records of each legacy queue, as [ReadStatus] does. It
// writes nothing. The error wraps [ErrDamaged], or comes from reading.
func ReadLegacy(ctx context.Context, at *Reader, src *Source) ([]LegacyStatus, error) {
	t, err := target.ReadWhole(ctx, at)
	if err != nil {
		return nil, &TargetError{err}
	}
	return readLegacy(ctx, t, src)
}

// readLegacy is ReadLegacy for a target that was read.
func readLegacy(ctx context.Context, t *target.Target, src *Source) ([]LegacyStatus, error) {
	r := legacyReader{t: t, run: t.Ledger.Current(), choices: rules.DefaultChoices()}
	for _, n := range src.Nodes {
		r.queue(n.Path)
	}
	if r.run != nil {
		r.choices = r.run.Choices
	}
	err := readAll(ctx, asPlanned(src, t), src.Paths(), ReadingSource, func(f source.Fetched) error {
		if f.There {
			r.add(f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for e := range t.Ledger.All() {
		if !src.Has(e.Record) && !e.Retired {
			r.queue(znode.Parent(e.Record)).Gone++
			r.moved = append(r.moved, e)
		}
	}
	return r.queues, r.findTwice(ctx, src)
}

type legacyReader struct {
	t       *target.Target
	run     *ledger.Run // the current one; nil if there is none
	choices rules.Choices
	queues  []LegacyStatus
	moved   []*ledger.Migrated // changed, or not there any more
}

// queue is what is known of a legacy queue.
func (r *legacyReader) queue(path string) *LegacyStatus {
	i := slices.IndexFunc(r.queues, func(l LegacyStatus) bool { return l.Path == path })
	if i < 0 {
		i = len(r.queues)
		r.queues = append(r.queues, LegacyStatus{Path: path, Late: []string{}, Missed: []string{}, Changed: []string{}, Vanished: []string{}, Twice: []string{}})
	}
	return &r.queues[i]
}

// add accounts for a record that is in the source.
func (r *legacyReader) add(f source.Fetched) {
	l := r.queue(znode.Parent(f.Path))
	l.Records++
	e := r.t.Ledger.Find(f.Path)
	if e != nil {
		l.Migrated++
		unreadable := f.Err != nil && f.Err.Kind == rules.Unreadable // nobody knows whether it has changed
		if !unreadable && ledger.HashOf(f.SHA256()) != e.Hash {
			l.Changed = append(l.Changed, f.Path)
			if r.t.Ledger.AllBack() && f.Err == nil && f.Legacy.Header.Status == legacy.Pending {
				l.Twice = append(l.Twice, f.Path) // legacy workers will run it, whatever became of its job
			} else {
				r.moved = append(r.moved, e)
			}
		} else if r.t.Ledger.AllBack() {
			l.Kept++
		}
		return
	}
	switch outcome, _ := verify.OutcomeOf(r.run, f.Path, rules.Decide(f.Record, r.choices)); outcome {
	case verify.WasSkipped, verify.WasQuarantined:
		l.Left++
	case verify.CameLate:
		l.Late = append(l.Late, f.Path)
	case verify.WasMissed:
		l.Missed = append(l.Missed, f.Path)
	default:
		l.Waiting++
	}
}

// findTwice finds which of the records that moved could run twice: those whose job is there, and
// neither completed nor deleted.
func (r *legacyReader) findTwice(ctx context.Context, src *Source) error {
	var paths []string
	entries := map[string]*ledger.Migrated{} // by the paths
	for _, e := range r.moved {
		paths = append(paths, e.Job+"/status")
		entries[e.Job+"/status"] = e
	}
	err := r.t.Reader.MarkUnreadable().GetEach(ctx, paths, func(n znode.Node) {
		state := newqueue.JobState(stateIn(n.Data))
		if state == newqueue.JobCompleted || state == newqueue.JobDeleted {
			return
		}
		e := entries[n.Path]
		l := r.queue(znode.Parent(e.Record))
		vanished := !src.Has(e.Record)
		if vanished {
			l.Vanished = append(l.Vanished, e.Record)
		}
		if !vanished || r.t.Ledger.Runs[e.Run].Settled() == ledger.Done {
			l.Twice = append(l.Twice, e.Record)
		}
	})
	if err != nil {
		return &TargetError{err}
	}
	return nil
}
