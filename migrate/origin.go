package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// OpenOrigin lists the legacy queue that was migrated to a target, as the records of its runs name it, in
// the target's own session. If a run is unfinished, these are its own queue nodes alone. Queue nodes that do not exist any more
// are among its Missing. The source is nil if nothing was migrated.
//
// The error wraps [ErrTwoEnsembles] if the legacy queue is not in the target's ensemble, [ErrDamaged], or comes
// from reading.
func OpenOrigin(ctx context.Context, dst *Reader) (*Source, error) {
	t, err := readWhole(ctx, dst)
	if err != nil {
		return nil, &TargetError{err}
	}
	if run := t.Ledger.Current(); run != nil && run.State == migration.RunRunning {
		return openOrigin(ctx, t, run, run.Origin.Queues)
	}
	return originOf(ctx, t)
}

func originOf(ctx context.Context, t *target.Target) (*Source, error) {
	run := originRun(t)
	if run == nil {
		return nil, nil
	}
	return openOrigin(ctx, t, run, allQueues(t, run.Origin.Chroot))
}

func openOrigin(ctx context.Context, t *target.Target, run *migration.Run, queues migration.Queues) (*Source, error) {
	if !run.Origin.OneEnsemble {
		return nil, fmt.Errorf("%w: %s took its records from %s", ErrTwoEnsembles, run.ID, run.Source)
	}
	unit, err := legacy.ParseTimeChoice(run.Time)
	if err != nil {
		return nil, err
	}
	report(ctx, PhaseReadingSource, 0, 0)
	src, err := source.OpenKnown(ctx, t.Reader.WithChroot(run.Origin.Chroot), queues, legacy.Options{Time: unit})
	return src, cancelled(err)
}

// originRun is the run that says where the legacy queue is; nil if there is none.
func originRun(t *target.Target) *migration.Run {
	for run := range newestFirst(t) {
		return run
	}
	return nil
}

// newestFirst yields those runs that were not rolled back, the newest first, then in the same way those of which something stayed, and then
// the others.
func newestFirst(t *target.Target) iter.Seq[*migration.Run] {
	var ranks [3][]*migration.Run
	for i := range slices.Backward(t.Ledger.Runs) {
		run, rank := &t.Ledger.Runs[i], 0
		if run.State == migration.RunRolledBack {
			rank = 2
			for range t.Ledger.OfRun(i) {
				rank = 1
				break
			}
		}
		ranks[rank] = append(ranks[rank], run)
	}
	return slices.Values(slices.Concat(ranks[:]...))
}

// allQueues are the queues of all runs that took their records from below a chroot. A run that was told wrong kinds may have been rolled
// back, so a node is what the first run in the order of newestFirst says.
func allQueues(t *target.Target, chroot string) migration.Queues {
	all := migration.Queues{Nodes: map[migration.QueueKind][]string{}}
	for run := range newestFirst(t) {
		if !run.Origin.OneEnsemble || run.Origin.Chroot != chroot {
			continue
		}
		taken := all.Roots()
		add := func(to []string, paths []string) []string {
			return append(to, slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(taken, path) })...)
		}
		for kind, paths := range run.Origin.Queues.Nodes {
			all.Nodes[kind] = add(all.Nodes[kind], paths)
		}
		all.Locks = add(all.Locks, run.Origin.Queues.Locks)
	}
	return all
}

// checkOrigin refuses records that are gone with their queue node, which was removed since their run, or removed and created
// again: their jobs are the only copies. Those that somebody decided about pass, and those that have another name now. A
// record that was handed over needs only a queue node to which it can be given back.
func checkOrigin(ctx context.Context, src *Source, t *target.Target, entries []*ledger.Migrated, d Decisions) error {
	now := src.Czxids()
	var renames *standing.Renames // nil before they are needed
	for _, e := range entries {
		run, queue := &t.Ledger.Runs[e.Run], znode.Parent(e.Record)
		path := run.Origin.Path(queue)
		is := standing.QueueOf(run, queue, now)
		switch {
		case e.HandedOver && is == standing.Removed:
			return fmt.Errorf("%w: %w: %s. Create it, so that records can be given back", ErrOtherSource, ErrQueueGone, path)
		case e.HandedOver, is == standing.Same, src.Has(e.Record), d.Vanished != migration.AnswerNone, cmp.Or(d.RecordIs[e.Job], d.RecordIs[e.Record]) != migration.AnswerNone:
			continue
		}
		if renames == nil {
			found, err := standing.FindRenames(ctx, t, src)
			if err != nil {
				return cancelled(err)
			}
			renames = &found
		}
		switch {
		case renames.To(e.Record).There:
		case is == standing.Removed:
			return fmt.Errorf("%w: %s does not exist any more", ErrOtherSource, path)
		default:
			return fmt.Errorf("%w: %s was removed and created again since %s", ErrOtherSource, path, run.ID)
		}
	}
	return nil
}

// sharesEnsemble reports whether a source and a target are in one ensemble: it looks through the source for the
// place that this session has just taken in the target's election. Two ensembles that were restored from one
// snapshot differ in that, too.
func sharesEnsemble(ctx context.Context, src *Source, w *Writer, place string) (bool, error) {
	here, there, err := w.Exists(ctx, place)
	if err != nil || !there {
		return false, cmp.Or(err, errNoPlace)
	}
	other := src.Reader().WithChroot("/")
	if err := other.Sync(ctx); err != nil {
		return false, err
	}
	seen, there, err := other.Exists(ctx, chrooted(w.Address().Chroot, place))
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		return false, nil
	case err != nil:
		return false, err
	case there && seen.Czxid == here.Czxid && seen.Ctime == here.Ctime && seen.EphemeralOwner == here.EphemeralOwner:
		return true, nil
	}
	// It must still be there, or its absence shows nothing.
	if _, there, err = w.Exists(ctx, place); err == nil && !there {
		err = errNoPlace
	}
	return false, err
}

var errNoPlace = fmt.Errorf("%w: this session's place in the election was removed", ErrSessionLost)

func chrooted(chroot, path string) string { return strings.TrimSuffix(chroot, "/") + path }
