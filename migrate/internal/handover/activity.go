package handover

import (
	"context"
	"time"

	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/newqueue"
)

// Activity is what shows that a legacy worker may be at work: a consumed record, or a lock. A worker that died leaves
// these for ever, and nothing in ZooKeeper tells it from one that works for an hour. After a rollback it is also a record
// that waits, because the legacy workers have the work again.
type Activity struct {
	Path  string             `json:"path"`
	What  ActivityKind       `json:"what"`
	Since time.Time          `json:"since,omitzero"`
	Queue newqueue.QueueHold `json:"queue"`
}

// ActivityKind is how a record or lock shows that a worker may be at work.
type ActivityKind string

// The ways.
const (
	Consumed ActivityKind = "consumed" // a record is
	Locked   ActivityKind = "locked"   // an object is
	Waiting  ActivityKind = "waiting"  // a pending record does
)

var shows = map[legacy.Status]ActivityKind{legacy.Consumed: Consumed, legacy.Pending: Waiting}

// FindActivity finds what shows that legacy workers may be at work, in byte order of the paths, the locks last. If waiting is
// set, so does a record that waits. read is called after each record.
func FindActivity(ctx context.Context, src *source.Source, waiting bool, read func()) (work []Activity, err error) {
	for f, err := range src.Fetch(ctx, src.Paths()) {
		if err != nil {
			return nil, err
		}
		read()
		if !f.There || f.Err != nil {
			continue
		}
		w := Activity{Path: f.Path, What: shows[f.Legacy.Header.Status], Queue: f.Queue.Hold()}
		if w.What == "" || w.What == Waiting && !waiting {
			continue
		}
		if f.Stat.Mtime != 0 { // a dump may lack it
			w.Since = time.UnixMilli(f.Stat.Mtime).UTC()
		}
		work = append(work, w)
	}
	for _, l := range src.Locks {
		w := Activity{Path: l.Path, What: Locked, Queue: rules.Ingest.Hold()}
		if l.Err == nil {
			w.Since = l.Legacy.Time
		}
		work = append(work, w)
	}
	return work, nil
}
