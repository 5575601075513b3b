package standing

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migration"
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
// one that no run has migrated, with the same bytes or else with the same key. The key of a record that is not there is in its job. If
// several could be the one, none is. After a restore from a backup nothing is said, because a record could have been handed over since. The jobs
// and these records are read only if there are both. An error comes from reading.
func FindRenames(ctx context.Context, t *target.Target, src *source.Source) (Renames, error) {
	r := Renames{to: map[string]source.Fetched{}, from: map[string]string{}}
	var absent []*ledger.Migrated
	for e := range t.Ledger.All() {
		if !e.HandedOver && !src.Has(e.Record) && !t.Ledger.Runs[e.Run].Restored {
			absent = append(absent, e)
		}
	}
	if len(absent) == 0 {
		return r, nil
	}
	late := slices.Collect(t.Ledger.NotMigrated(src.Paths()))
	if len(late) == 0 {
		return r, nil
	}
	bytes, keys := map[migration.Hash][]string{}, map[rules.Key][]string{}
	for part := range slices.Chunk(absent, partSize.N()) {
		jobs, err := t.Jobs(ctx, part, false)
		if err != nil {
			return r, err
		}
		for _, j := range jobs {
			bytes[j.Of.Hash] = append(bytes[j.Of.Hash], j.Of.Record)
			if key := keyOf(j); key != "" {
				keys[key] = append(keys[key], j.Of.Record)
			} else {
				r.Unsure++
			}
		}
	}
	var others []source.Fetched // that have the key of an absent record, and other bytes
	for f, err := range src.Fetch(ctx, slices.Values(late)) {
		if err != nil {
			return r, err
		}
		if !f.There || f.Err != nil {
			continue
		}
		is := ledger.HashOf(f.SHA256())
		switch {
		case r.match(bytes[is], f) || len(keys[rules.KeyOf(f.Record)]) == 0:
		case t.Ledger.Withdrew(is): // it was another one with this key, or the same one in other words
			r.Unsure++
		default:
			others = append(others, f)
		}
	}
	for _, f := range others {
		if !r.match(keys[rules.KeyOf(f.Record)], f) {
			r.Unsure++
		}
	}
	return r, nil
}

// match says that a record is the one of some absent ones that no other record is, if there is just one. It reports whether it is.
func (r Renames) match(absent []string, f source.Fetched) bool {
	left := slices.DeleteFunc(slices.Clone(absent), func(record string) bool { return r.to[record].There })
	if len(left) != 1 {
		return false
	}
	r.to[left[0]], r.from[f.Path] = f, left[0]
	return true
}

// keyOf is the key of the record that a job was made from; "" if the job is gone.
func keyOf(j target.Job) rules.Key {
	node := "configuration"
	if rules.KindOf(j.Of.Job).IsAccess() {
		node = "token"
	}
	i := slices.IndexFunc(j.Nodes, func(n znode.Node) bool { return n.Path == j.Of.Job+"/"+node })
	if i < 0 {
		return ""
	}
	return rules.KeyOfJob(j.Of.Job, j.Nodes[i].Data)
}
