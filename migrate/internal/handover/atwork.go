package handover

import (
	"context"
	"time"

	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/newqueue"
)

// AtWork is what shows that a legacy worker may be at work: a consumed record, or a lock. A worker that died leaves
// these for ever, and nothing in ZooKeeper tells it from one that works for an hour.
type AtWork struct {
	Path  string             `json:"path"`
	What  Work               `json:"what"`
	Since time.Time          `json:"since,omitzero"`
	Queue newqueue.QueueHold `json:"queue"`
}

// Work is how a record or lock shows that a worker may be at work.
type Work string

// The ways.
const (
	Consumed Work = "consumed" // a record is
	Locked   Work = "locked"   // an object is
)

// LegacyWork finds what shows that legacy workers may be at work, in byte order of the paths, the locks last.
func LegacyWork(ctx context.Context, src *source.Source) (work []AtWork, err error) {
	for f, err := range src.Fetch(ctx, src.Paths()) {
		if err != nil {
			return nil, err
		}
		if f.There && f.Err == nil && f.Legacy.Header.Status == legacy.Consumed {
			w := AtWork{Path: f.Path, What: Consumed, Queue: f.Queue.Hold()}
			if f.Stat.Mtime != 0 { // a dump may lack it
				w.Since = time.UnixMilli(f.Stat.Mtime).UTC()
			}
			work = append(work, w)
		}
	}
	for _, l := range src.Locks {
		w := AtWork{Path: l.Path, What: Locked, Queue: rules.Ingest.Hold()}
		if l.Err == nil {
			w.Since = l.Legacy.Time
		}
		work = append(work, w)
	}
	return work, nil
}
