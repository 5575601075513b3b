package standing

import (
	"iter"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// QueueCondition is what the node of a legacy queue is now.
type QueueCondition string

// What a queue node can be.
const (
	Same      QueueCondition = "same"
	MadeAgain QueueCondition = "made-again" // removed and created since: its names began again
	Removed   QueueCondition = "removed"
)

// QueueOf returns what a queue node is from which a run took its records. czxids are those of the nodes that are there, by their paths. A
// run whose record was restored from a backup can't tell one node from another.
func QueueOf(run *migration.Run, queue string, czxids map[string]int64) QueueCondition {
	was, known := run.Origin.Czxids[queue]
	is, there := czxids[queue]
	switch {
	case !there:
		return Removed
	case known && is != was && !run.Restored:
		return MadeAgain
	}
	return Same
}

// Due yields the migrated records that a release has something to do with: those that were not handed over, or are in the legacy queue
// again. src is nil if nobody knows what is there.
func Due(t *target.Target, src *source.Source) iter.Seq[*ledger.Migrated] {
	return func(yield func(*ledger.Migrated) bool) {
		for e := range t.Ledger.All() {
			if (!e.HandedOver || src != nil && src.Has(e.Record)) && !yield(e) {
				return
			}
		}
	}
}
