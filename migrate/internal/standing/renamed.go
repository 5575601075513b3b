package standing

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"

	"mrtq/internal/znode"
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
	to    map[string]source.Fetched // by the ledger's path
	from  map[string]string         // the ledger's path, by the name that they have now
	taken map[string]bool           // by the ledger's path
	// Unsure counts the records of which nothing shows whether they were renamed: they have no key, or share it.
	Unsure int
}

// From returns the name that the ledger has for a record of the legacy queue; "" if no migrated record was renamed to it.
func (r Renames) From(record string) string { return r.from[record] }

// To returns the record of the legacy queue that a record of the ledger is now; its There is false if it was not renamed.
func (r Renames) To(record string) source.Fetched { return r.to[record] }

// IsTaken reports whether another target has handed over a record of the ledger, so that somebody must decide about it, whatever its name is now.
func (r Renames) IsTaken(record string) bool { return r.taken[record] }

// FindRenames looks for renamed records: migrated records that are gone, of which the legacy queue has one that no run has migrated, with the
// same bytes or else with the same key. If several could be the one, none is. After a restore from a backup nothing is said, because a
// record could have been handed over since. A record that was marked as deleted has no work, and one that was there when the run began is no
// new name. These records are read only if there are both. An error comes from reading.
func FindRenames(ctx context.Context, t *target.Target, src *source.Source) (Renames, error) {
	r, err := findRenames(ctx, t, src)
	if err != nil || len(r.to) == 0 {
		return r, err
	}
	others, err := readOthers(ctx, t)
	if err != nil {
		return r, err
	}
	for e := range t.Ledger.All() {
		r.taken[e.Record] = r.to[e.Record].There && others.have(e)
	}
	return r, nil
}

// findRenames is FindRenames without what other targets have.
func findRenames(ctx context.Context, t *target.Target, src *source.Source) (Renames, error) {
	r := Renames{to: map[string]source.Fetched{}, from: map[string]string{}, taken: map[string]bool{}}
	gone, others, err := FindGone(ctx, t, src)
	if err != nil {
		return r, err
	}
	bytes, keys := map[migration.Hash][]*ledger.Migrated{}, map[migration.Hash][]*ledger.Migrated{}
	for _, e := range gone {
		if src.Kind(e.Record) == "" || t.Ledger.Runs[e.Run].Restored {
			continue
		}
		bytes[e.Hash] = append(bytes[e.Hash], e)
		if e.Key != (migration.Hash{}) && src.Kind(e.Record) != migration.Inventory { // two of one manifest may be two works
			keys[e.Key] = append(keys[e.Key], e)
		} else {
			r.Unsure++
		}
	}
	if len(bytes) == 0 {
		return r, nil
	}
	var byKey []source.Fetched // that have the key of a record that is gone, and other bytes
	for _, names := range []iter.Seq[string]{t.Ledger.NotMigrated(src.Paths()), slices.Values(others)} {
		for f, err := range src.Fetch(ctx, names) {
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
				byKey = append(byKey, f)
			}
		}
	}
	for _, f := range byKey {
		if !r.match(t, keys[keyOf(f)], f) {
			r.Unsure++
		}
	}
	return r, nil
}

// FindGone finds the migrated records that were not handed over and that are not in the legacy queue under their names: somebody has removed
// them, and other records may have their names. others are those of these that no run has migrated. It reads
// the records with these names. An error comes from reading.
func FindGone(ctx context.Context, t *target.Target, src *source.Source) (gone []*ledger.Migrated, others []string, err error) {
	var there, differ []*ledger.Migrated // what has these names has other bytes than they had
	var names []string
	for e := range t.Ledger.All() {
		switch {
		case src.Has(e.Record):
			there, names = append(there, e), append(names, e.Record)
		case !e.HandedOver:
			gone = append(gone, e)
		}
	}
	err = src.Reader().GetEach(ctx, names, func(n znode.Node) {
		for len(there) > 0 && there[0].Record != n.Path { // it was removed since it was listed
			there = there[1:]
		}
		if len(there) == 0 {
			return
		}
		if there[0].Hash != ledger.HashOf(sha256.Sum256(n.Data)) {
			differ = append(differ, there[0])
		}
		there = there[1:]
	})
	if err != nil || len(differ) == 0 {
		return gone, nil, err
	}
	names = names[:0]
	for _, e := range differ {
		names = append(names, e.Record)
	}
	queues := src.Czxids()
	for f, err := range src.Fetch(ctx, slices.Values(names)) {
		if err != nil {
			return nil, nil, err
		}
		e := differ[0]
		differ = differ[1:]
		if !FactsOf(e, &t.Ledger.Runs[e.Run], f, queues).Another {
			continue
		}
		if !e.HandedOver {
			gone = append(gone, e)
		}
		if isNew(t.Ledger, e, f) {
			others = append(others, f.Path)
		}
	}
	return gone, others, nil
}

// isNew reports whether another record that has a record's name is in no ledger. Of the entries of one name, the newest is asked.
func isNew(l *ledger.Ledger, e *ledger.Migrated, other source.Fetched) bool {
	return l.IsNewest(e) && EntryOf(l, other) == nil
}

func keyOf(f source.Fetched) migration.Hash { return ledger.HashOfKey(rules.KeyOf(f.Record)) }

// match says that a record is the one of some that are gone that no other record is, if there is just one. It reports whether it is.
func (r Renames) match(t *target.Target, gone []*ledger.Migrated, f source.Fetched) bool {
	left := slices.DeleteFunc(slices.Clone(gone), func(e *ledger.Migrated) bool {
		return r.to[e.Record].There || f.Stat.Czxid != 0 && f.Stat.Czxid <= t.Ledger.Runs[e.Run].Read // a dump may lack it
	})
	if len(left) != 1 {
		return false
	}
	r.to[left[0].Record], r.from[f.Path] = f, left[0].Record
	return true
}
