package migrate

import (
	"context"

	"mrtq/migrate/internal/target"
)

// Made is what a run made of a legacy record.
type Made struct {
	Record string
	Job    string // the path of the job or access request
	Batch  string // its id; "" for an access request
}

// ReadMade returns what the runs at a target have made, by their ledger. The error wraps [ErrDamaged], or comes from
// reading.
func ReadMade(ctx context.Context, at *Reader) ([]Made, error) {
	t, err := target.ReadWhole(ctx, at)
	if err != nil {
		return nil, &TargetError{err}
	}
	var all []Made
	for e := range t.Ledger.All() {
		all = append(all, Made{e.Record, e.Job, e.Batch})
	}
	return all, nil
}
