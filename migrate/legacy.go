package migrate

import (
	"context"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/migrate/migration"
)

// LegacyStatus is what is in one legacy queue.
type LegacyStatus struct {
	Path    string `json:"path"`
	Records int    `json:"records"` // that are there
	// Migrated counts those that were migrated, and that a release hands over to their jobs.
	Migrated int `json:"migrated"`
	// NotMigrated are in the legacy queue alone, and another run would migrate them. Finished counts those that legacy
	// workers have finished, so that nothing is left to do, and Left those that the choices of the run leave there.
	NotMigrated []string `json:"not_migrated"`
	Finished    int      `json:"finished"`
	Left        int      `json:"left"`
	// AtLegacy were migrated, but the legacy queue has their work: a release withdraws their jobs.
	AtLegacy []string `json:"at_legacy"`
	// Unreadable are those that this session may not read, so nobody knows what became of them.
	Unreadable []string `json:"unreadable,omitempty"`
	// Undecided are those about which somebody must decide, whether they are there or not.
	Undecided []migration.Note `json:"undecided"`
	// Twice are those whose work both queues may have done.
	Twice []migration.Note `json:"twice,omitempty"`
	// AtWork shows who may be at work there.
	AtWork []migration.LegacyActivity `json:"at_work"`

	blocksLate bool  // a record that waits does
	oldest     int64 // when the first of NotMigrated came, in milliseconds since 1970; 0 if it is not known
}

func readLegacy(ctx context.Context, src *Source, t *target.Target, names *target.Names) ([]LegacyStatus, error) {
	r, run := legacyReader{working: map[string]migration.LegacyActivity{}}, t.Ledger.Current()
	for _, n := range src.Nodes {
		r.queue(n.Path).Records = len(n.Names)
	}
	due := slices.Collect(standing.Due(t, src))
	done := 0
	look := &standing.Reader{Target: t, Names: names, Src: src, Decide: standing.DecideRelease, MayBeUnknown: true}
	for c, err := range look.All(ctx, due) {
		if err != nil {
			return nil, err
		}
		report(ctx, PhaseReadingSource, done, len(due))
		done++
		r.atWork(c.Named)
		l := r.queue(znode.Parent(c.Entry.Record))
		l.blocksLate = l.blocksLate || c.BlocksLate()
		if c.Other.There {
			r.notMigrated(run, c.Other)
		}
		if c.Record == standing.Unknown {
			l.Unreadable = append(l.Unreadable, c.Entry.Record)
		}
		if c.Twice() {
			l.Twice = append(l.Twice, c.Note(standing.TwiceSays))
		}
		switch c.Action {
		case standing.HandOver, standing.Wait:
			l.Migrated++
		case standing.Withdraw:
			l.AtLegacy = append(l.AtLegacy, c.Entry.Record)
		case standing.Ask:
			l.Undecided = append(l.Undecided, c.Note(""))
		}
	}
	err := readAll(ctx, src, t.Ledger.NotMigrated(src.Paths()), PhaseReadingSource, func(f source.Fetched) error {
		r.atWork(f)
		if f.There && !look.IsRenamed(f.Path) {
			r.notMigrated(run, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(r.working)) {
		l := r.queue(znode.Parent(path))
		l.AtWork = append(l.AtWork, r.working[path])
	}
	for _, w := range handover.LockActivity(src) {
		at := znode.Parent(w.Path)
		if len(r.queues) > 0 { // a lock is no queue's, so the first one shows it
			at = r.queues[0].Path
		}
		l := r.queue(at)
		l.AtWork = append(l.AtWork, w)
	}
	return r.queues, nil
}

type legacyReader struct {
	queues  []LegacyStatus
	working map[string]migration.LegacyActivity // by the path of the record that shows it
}

func (r *legacyReader) atWork(f source.Fetched) {
	if w := handover.RecordActivity(f); w.What == migration.ActivityConsumed {
		r.working[w.Path] = w
	}
}

func (r *legacyReader) notMigrated(run *migration.Run, f source.Fetched) {
	l := r.queue(znode.Parent(f.Path))
	if f.Err != nil && f.Err.Kind == migration.Unreadable {
		l.Unreadable = append(l.Unreadable, f.Path)
		return
	}
	switch outcome, _ := verify.OutcomeOf(run, rules.Decide(f.Record, run.Choices)); outcome {
	case verify.OutcomeNotMigrated:
		if came := f.Stat.Ctime; came != 0 && (l.oldest == 0 || came < l.oldest) {
			l.oldest = came
		}
		l.NotMigrated = append(l.NotMigrated, f.Path)
	case verify.OutcomeFinished:
		l.Finished++
	default:
		l.Left++
	}
}

func (r *legacyReader) queue(path string) *LegacyStatus {
	i := slices.IndexFunc(r.queues, func(l LegacyStatus) bool { return l.Path == path })
	if i < 0 {
		i = len(r.queues)
		r.queues = append(r.queues, LegacyStatus{Path: path, NotMigrated: []string{}, AtLegacy: []string{}, Undecided: []migration.Note{}, AtWork: []migration.LegacyActivity{}})
	}
	return &r.queues[i]
}
