package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// errSourceChanged says that a record is not what it was when the plan was made.
var errSourceChanged = errors.New("the source has changed since it was read")

// loaded reads the records of jobs a second time, in the order of the jobs, and
// yields the jobs with them. A record that is another, or gone, ends it: the error
// wraps errSourceChanged.
func (p *Plan) loaded(ctx context.Context, jobs []*planned) iter.Seq2[*job, error] {
	paths := func(yield func(string) bool) {
		for _, j := range jobs {
			if !yield(j.rec.Path) {
				return
			}
		}
	}
	return func(yield func(*job, error) bool) {
		i := 0
		for f, err := range p.queue.fetch(ctx, paths) {
			if err != nil {
				yield(nil, err)
				return
			}
			j := jobs[i]
			i++
			if !f.there() || f.Err != nil || f.Legacy.SHA256 != j.rec.Legacy.SHA256 {
				yield(nil, fmt.Errorf("%s: %w", j.rec.Path, errSourceChanged))
				return
			}
			whole := *j.job
			whole.rec = &f.Record
			if !yield(&whole, nil) {
				return
			}
		}
	}
}
