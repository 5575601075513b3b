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
		if !f.There || f.Err != nil {
			continue
		}
		w := migration.LegacyActivity{Path: f.Path, What: shows[f.Legacy.Header.Status], Queue: f.Queue.Hold()}
		if w.What == "" || w.What == migration.ActivityWaiting && !waiting {
			continue
		}
		if f.Stat.Mtime != 0 { // a dump may lack it
			w.Since = time.UnixMilli(f.Stat.Mtime).UTC()
		}
		work = append(work, w)
	}
	for _, l := range src.Locks {
		w := migration.LegacyActivity{Path: l.Path, What: migration.ActivityLocked, Queue: migration.Ingest.Hold()}
		if l.Err == nil {
			w.Since = l.Legacy.Time
		}
		work = append(work, w)
	}
	return work, nil
}
