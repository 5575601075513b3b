package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// ErrSourceChanged says that a record is not what it was when the plan was made.
var ErrSourceChanged = errors.New("the source has changed since it was read")

// loaded reads the records of planned jobs a second time, in the order of the jobs. If a
// record has changed or is gone, it stops with an error that wraps [ErrSourceChanged].
func (p *Plan) loaded(ctx context.Context, jobs iter.Seq[*plannedJob]) iter.Seq2[loadedJob, error] {
	return func(yield func(loadedJob, error) bool) {
		var under []*plannedJob // the jobs whose records are being read
		paths := func(yield func(string) bool) {
			for pl := range jobs {
				under = append(under, pl)
				if !yield(p.listed.path(pl.record)) {
					return
				}
			}
		}
		for f, err := range p.queue.fetch(ctx, paths) {
			if err != nil {
				yield(loadedJob{}, err)
				return
			}
			pl := under[0]
			under = under[1:]
			if !f.there() || f.Err != nil || f.Legacy.SHA256 != p.rows[pl.record].sha {
				yield(loadedJob{}, fmt.Errorf("%s: %w", f.Path, ErrSourceChanged))
				return
			}
			if !yield(loadedJob{pl, &f.Record}, nil) {
				return
			}
		}
	}
}

// loadedJob is a planned job with its record.
type loadedJob struct {
	*plannedJob
	rec *Record
}
