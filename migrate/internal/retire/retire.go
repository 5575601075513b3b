// Package retire decides which legacy records mrtq retire removes: those that were migrated
// and are as they were then, by their hash. The job that the ledger names has the work, so the
// record must not run again. It is pure.
package retire

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
)

// Item is a migrated record that is in the legacy queue.
type Item struct {
	Record string      `json:"record"`
	Hash   ledger.Hash `json:"hash"` // of the record, as it was migrated
	Job    string      `json:"job"`  // that it became
	Why    string      `json:"why"`  // it stays; "" if it is removed
}

// Decide decides about a record that is there, by its entry in the ledger.
func Decide(e *ledger.Migrated, f source.Fetched) Item {
	i := Item{Record: e.Record, Hash: e.Hash, Job: e.Job}
	switch {
	case f.Err != nil && f.Err.Kind == rules.Unreadable:
		i.Why = "it can't be read, so it is not known whether it has changed: " + f.Err.Msg
	case ledger.HashOf(f.SHA256()) != e.Hash:
		i.Why = "it has changed since it was migrated"
	case len(f.Below) > 0:
		i.Why = "it has znodes below it, for example " + f.Below[0]
	}
	return i
}

// OtherSource says what shows that a source is not the legacy queue that the ledger's records
// came from; "" if nothing does. A queue's counter never goes back. (Where records were created
// with their names, as in a copy, the highest name counts: see [source.Node.Next].)
func OtherSource(t *target.Target, src *source.Source) string {
	next := src.Next()
	runs := map[int32]bool{} // that have records
	for e := range t.Ledger.All() {
		runs[e.Run] = true
		parent := znode.Parent(e.Record)
		if _, there := next[parent]; !there || !e.Retired {
			continue
		}
		if key, err := legacy.ParseKey(znode.Name(e.Record)); err == nil {
			next[parent] = max(next[parent], uint32(key.Sequence)+1)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(runs)) {
		run := &t.Ledger.Runs[of]
		for _, path := range slices.Sorted(maps.Keys(run.Next)) {
			now, there := next[path]
			switch was := run.Next[path]; {
			case !there:
				return fmt.Sprintf("%s migrated %s, which is not among its queues", run.ID, path)
			case int32(now-was) < 0: // the counter wraps
				return fmt.Sprintf("when %s began, the next record of %s would have got number %d, and here it would get %d", run.ID, path, was, now)
			}
		}
	}
	return ""
}
