package standing

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
)

// Renames are the migrated records that are in the legacy queue under another name: an administrator has renamed them, or the legacy library has
// requeued them, which makes a record with another name. The zero value has none.
type Renames struct {
	to   map[string]source.Fetched // by the ledger's path
	from map[string]string         // the ledger's path, by the name that they have now
	// Keyless counts the absent records without a key: nothing shows whether another record is one of them.
	Keyless int
}

// From returns the name that the ledger has for a record of the legacy queue; "" if no migrated record was renamed to it.
func (r Renames) From(record string) string { return r.from[record] }

// To returns the record of the legacy queue that a record of the ledger is now; its There is false if it was not renamed.
func (r Renames) To(record string) source.Fetched { return r.to[record] }

// FindRenames looks for renamed records. A migrated record that is not in the legacy queue, and was not handed over, has its key in its job. If a
// record that no run has migrated has the same key, it is the same record. The jobs and these records are read only if there are both.
// An error comes from reading.
func FindRenames(ctx context.Context, t *target.Target, src *source.Source) (Renames, error) {
	r := Renames{to: map[string]source.Fetched{}, from: map[string]string{}}
	var absent []*ledger.Migrated
	for e := range t.Ledger.All() {
		if !e.HandedOver && !src.Has(e.Record) {
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
	keys := map[rules.Key]string{}
	for part := range slices.Chunk(absent, partSize.N()) {
		jobs, err := t.Jobs(ctx, part, false)
		if err != nil {
			return r, err
		}
		for _, j := range jobs {
			if key := keyOf(j); key != "" {
				keys[key] = j.Of.Record
			} else {
				r.Keyless++
			}
		}
	}
	for f, err := range src.Fetch(ctx, slices.Values(late)) {
		if err != nil {
			return r, err
		}
		if !f.There || f.Err != nil {
			continue
		}
		if record, is := keys[rules.KeyOf(f.Record)]; is && r.from[f.Path] == "" && !r.to[record].There {
			r.to[record], r.from[f.Path] = f, record
		}
	}
	return r, nil
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
