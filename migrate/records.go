package migrate

import "context"

// MigratedRecord is what a run made of a legacy record.
type MigratedRecord struct {
	Record string
	Job    string // the path of the job or access request
	Batch  string // its id; "" for an access request
}

// ReadMigrated returns what the runs at a target have made, by their ledger. The error wraps [ErrDamaged], or comes from
// reading.
func ReadMigrated(ctx context.Context, dst *Reader) ([]MigratedRecord, error) {
	t, err := readWhole(ctx, dst)
	if err != nil {
		return nil, &TargetError{err}
	}
	var all []MigratedRecord
	for e := range t.Ledger.All() {
		all = append(all, MigratedRecord{e.Record, e.Job, e.Batch})
	}
	return all, nil
}
