// Package ledger is what a migration records about itself in the target: its runs, which
// records they migrated, and who holds the queues. It has no I/O: it turns bytes into
// values and back (docs/migration.md, "What a migration records").
//
//	/jobs                                    data: the newest run's id
//	/migration/runs/RUN                      a [migration.Run], as JSON
//	/migration/ledger/RUN/GROUP/NNNNNNNNNN   [Line]s: what one transaction created or removed
//	/locks/queue/QUEUE                       the [migration.HoldOwners], as JSON
//
// The ledger is the only truth of what was migrated. A record was migrated if and only if
// a run's ledger says so. The job that it became is the one that the ledger names.
package ledger

import (
	"errors"
	"fmt"

	"mrtq/internal/part"
	"mrtq/internal/znode"
)

// The migration's own znodes.
const (
	MigrationPath = "/migration"
	RunsPath      = "/migration/runs"
	EntriesPath   = "/migration/ledger"
	ElectionPath  = "/migration/election"
	FollowersPath = "/migration/followers" // the election of those who follow the legacy queue
)

// groupSize is how many entries a group has, so that no list of children is too long for
// a client.
const groupSize part.Size = 1000

// RunPath returns the znode of a run.
func RunPath(run string) string { return znode.Join(RunsPath, run) }

// RunEntriesPath returns the parent of the groups of a run's entries.
func RunEntriesPath(run string) string { return znode.Join(EntriesPath, run) }

// EntryPath returns the znode of a run's entry n, counted from 0. group is its parent, and
// first reports whether it is the first in the group.
func EntryPath(run string, n int) (path, group string, first bool) {
	group = fmt.Sprintf("%s/%07d", RunEntriesPath(run), n/groupSize.N())
	return fmt.Sprintf("%s/%010d", group, n), group, n%groupSize.N() == 0
}

// ErrDamaged says that the migration's own records are not complete, or can't be read. What
// was migrated is not known, so nothing may be written. The error is a [*DamageError].
var ErrDamaged = errors.New("the migration's own records are damaged")

// DamageError says which of the migration's own records are missing or can't be read. It is
// an [ErrDamaged].
type DamageError struct {
	Path string // of the znode
	What string // is wrong with it
}

// Error says what is wrong and what to do.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%v: %s: %s; restore %s from a dump of this target that was made after the last migrate, release or rollback", ErrDamaged, e.Path, e.What, MigrationPath)
}

// Is makes it an [ErrDamaged].
func (e *DamageError) Is(target error) bool { return target == ErrDamaged }
