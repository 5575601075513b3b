package standing

import (
	"context"
	"slices"

	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// Renames are the migrated records that are in the legacy queue under another name: an administrator has renamed them, or the legacy library has
// requeued them, which makes a record with another name. The zero value has none.
type Renames struct {
	to   map[string]source.Fetched // by the ledger's path
	from map[string]string         // the ledger's path, by the name that they have now
	// Unsure counts the records of which nothing shows whether they were renamed: they have no key, or share it.
	Unsure int
}

// From returns the name that the ledger has for a record of the legacy queue; "" if no migrated record was renamed to it.
func (r Renames) From(record string) string { return r.from[record] }

// To returns the record of the legacy queue that a record of the ledger is now; its There is false if it was not renamed.
func (r Renames) To(record string) source.Fetched { return r.to[record] }

// FindRenames looks for renamed records: migrated records that are not in the legacy queue and were not handed over, of which it has
// one that no run has migrated, with the same bytes or else with the same key. If several could be the one, none is. After a restore from a
// backup nothing is said, because a record could have been handed over since. A record that was marked as deleted has no work, and one
// that was there when the run began is no new name. These records are read only if there are both. An error comes from reading.
func FindRenames(ctx context.Context, t *target.Target, src *source.Source) (Renames, error) {
	r := Renames{to: map[string]source.Fetched{}, from: map[string]string{}}
	bytes, keys := map[migration.Hash][]string{}, map[migration.Hash][]string{}
	for e := range t.Ledger.All() {
		if e.HandedOver || src.Has(e.Record) || src.Kind(e.Record) == "" || t.Ledger.Runs[e.Run].Restored {
			continue
		}
		bytes[e.Hash] = append(bytes[e.Hash], e.Record)
		if e.Key != (migration.Hash{}) && src.Kind(e.Record) != migration.Inventory { // two of one manifest may be two works
			keys[e.Key] = append(keys[e.Key], e.Record)
		} else {
			r.Unsure++
		}
	}
	if len(bytes) == 0 {
		return r, nil
	}
	var others []source.Fetched // that have the key of an absent record, and other bytes
	for f, err := range src.Fetch(ctx, t.Ledger.NotMigrated(src.Paths())) {
		if err != nil {
			return r, err
		}
		if !f.There || f.Err != nil || f.Legacy.Header.Status == legacy.Deleted {
			continue
		}
		is := ledger.HashOf(f.SHA256())
		switch {
		case r.match(t, bytes[is], f) || len(keys[keyOf(f)]) == 0:
		case t.Ledger.Withdrew(is): // it was another one with this key, or the same one in other words
			r.Unsure++
		default:
			others = append(others, f)
		}
	}
	for _, f := range others {
		if !r.match(t, keys[keyOf(f)], f) {
			r.Unsure++
		}
	}
	return r, nil
}

func keyOf(f source.Fetched) migration.Hash { return ledger.HashOfKey(rules.KeyOf(f.Record)) }

// match says that a record is the one of some absent ones that no other record is, if there is just one. It reports whether it is.
func (r Renames) match(t *target.Target, absent []string, f source.Fetched) bool {
	left := slices.DeleteFunc(slices.Clone(absent), func(record string) bool {
		run := t.Ledger.Runs[t.Ledger.Find(record).Run]
		return r.to[record].There || f.Stat.Czxid != 0 && f.Stat.Czxid <= run.Read // a dump may lack it
	})
	if len(left) != 1 {
		return false
	}
	r.to[left[0]], r.from[f.Path] = f, left[0]
	return true
}
