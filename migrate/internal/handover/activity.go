package handover

import (
	"context"
	"time"

	"mrtq/legacy"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/migration"
)

var shows = map[legacy.Status]migration.ActivityKind{legacy.Consumed: migration.ActivityConsumed, legacy.Pending: migration.ActivityWaiting}

// FindActivity finds what shows that legacy workers may be at work, in byte order of the paths, the locks last. If waiting is
// set, so does a record that waits. read is called after each record.
func FindActivity(ctx context.Context, src *source.Source, waiting bool, read func()) (work []migration.LegacyActivity, err error) {
	for f, err := range src.Fetch(ctx, src.Paths()) {
		if err != nil {
			return nil, err
		}
		read()
		if w := RecordActivity(f); w.What != "" && (waiting || w.What != migration.ActivityWaiting) {
			work = append(work, w)
		}
	}
	return append(work, LockActivity(src)...), nil
}

// RecordActivity is what a record shows; its What is "" if that is nothing.
func RecordActivity(f source.Fetched) (w migration.LegacyActivity) {
	if !f.There || f.Err != nil {
		return w
	}
	w = migration.LegacyActivity{Path: f.Path, What: shows[f.Legacy.Header.Status], Queue: f.Queue.Hold()}
	if f.Stat.Mtime != 0 { // a dump may lack it
		w.Since = time.UnixMilli(f.Stat.Mtime).UTC()
	}
	return w
}

// LockActivity is what the locks show.
func LockActivity(src *source.Source) (work []migration.LegacyActivity) {
	for _, l := range src.Locks {
		w := migration.LegacyActivity{Path: l.Path, What: migration.ActivityLocked, Queue: migration.Ingest.Hold()}
		if l.Err == nil {
			w.Since = l.Legacy.Time
		}
		work = append(work, w)
	}
	return work
}
