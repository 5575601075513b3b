package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// A migrator plans, waits for its turn, and plans again if others were at work. What they
// did may be the opposite of what it was asked to do. Then it stops, and the operator
// decides again.

// ErrRolledBack says that others rolled a run back while a migrator waited, or since its
// plan was made. The migrator would have undone that. Nothing was written.
var ErrRolledBack = errors.New("a run was rolled back while this migrator waited")

// ErrFinished says that another migrator finished a run which this one would have
// finished, and that something else is left to do. Nothing was written.
var ErrFinished = errors.New("another migrator finished the run while this one waited")

// OvertakenError says which run others rolled back or finished. It is an [ErrRolledBack]
// or an [ErrFinished].
type OvertakenError struct {
	Run string
	By  error // ErrRolledBack or ErrFinished
}

// Error says what others did with the run, and that nothing was written.
func (e *OvertakenError) Error() string {
	if e.By == ErrFinished {
		return fmt.Sprintf("%s was finished by another migrator while this one waited, and the source has changed since. It does not begin a new run unasked; nothing was written", e.Run)
	}
	return fmt.Sprintf("%s was rolled back while this migrator waited. It does not migrate again unasked; nothing was written", e.Run)
}

// Is makes it an [ErrRolledBack] or an [ErrFinished].
func (e *OvertakenError) Is(target error) bool { return target == e.By }

// rolledBackSince returns the run that was rolled back between two looks at the runs, or
// nil. A rollback that keeps nothing removes the run's record, and the next run has the
// same id.
func rolledBackSince(before, now []Run) error {
	for _, was := range before {
		if was.State == RunRolledBack {
			continue
		}
		is, there := sameRun(now, was)
		if !there || is.State == RunRolledBack {
			return &OvertakenError{was.ID, ErrRolledBack}
		}
	}
	return nil
}

// finishedSince returns the run of this source that was finished between two looks at the
// runs, or nil.
func finishedSince(before, now []Run, source string) error {
	for _, was := range before {
		if is, there := sameRun(now, was); there && was.State == RunRunning && is.State == RunDone && was.Source == source {
			return &OvertakenError{was.ID, ErrFinished}
		}
	}
	return nil
}

func sameRun(runs []Run, r Run) (Run, bool) {
	i := slices.IndexFunc(runs, func(o Run) bool { return o.ID == r.ID && o.Started.Equal(r.Started) })
	if i < 0 {
		return Run{}, false
	}
	return runs[i], true
}

// runRecords reads the records of the runs by themselves. It leaves out the damaged ones,
// which the plan reports.
func runRecords(ctx context.Context, s side.Side) (runs []Run, err error) {
	names, err := s.Children(ctx, RunsPath)
	if errors.Is(err, znode.ErrNoNode) {
		return nil, nil
	}
	for _, name := range names {
		var n znode.Node
		if n, err = s.Get(ctx, znode.Join(RunsPath, name)); errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r, damage := parseRun(&n); damage == nil {
			runs = append(runs, r)
		}
	}
	return runs, err
}
