package watching

import (
	"context"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/live"
)

// checking looks from time to time for legacy records that somebody has to look at. It reads all
// of them, so it works beside the readings of the target, with sessions of its own.
type checking struct {
	reader *Reader
	done   chan checked
	busy   bool
	next   time.Time // not before
}

// checked is what one check found.
type checked struct {
	records *live.RecordsView
	err     error
	took    time.Duration
}

// A check begins at most once a minute, and takes at most a twentieth of the time.
const (
	checkEvery = time.Minute
	checkShare = 20
)

func newChecking(s *Reader) *checking { return &checking{reader: s, done: make(chan checked, 1)} }

// start begins a check after a reading, if one is due.
func (c *checking) start(ctx context.Context, v live.View) {
	if c.busy || c.reader.Source == nil || v.Migration == nil || time.Now().Before(c.next) {
		return
	}
	c.busy = true
	go func() { c.done <- c.reader.check(ctx) }()
}

// ended notes that a check has ended.
func (c *checking) ended(r checked) {
	c.busy, c.next = false, time.Now().Add(max(checkEvery, checkShare*r.took))
}

// wait returns when no check runs.
func (c *checking) wait() {
	if c.busy {
		<-c.done
	}
}

// check looks at all legacy records once.
func (s *Reader) check(ctx context.Context) checked {
	began := time.Now()
	records, err := s.checkRecords(ctx)
	return checked{records, err, time.Since(began)}
}

func (s *Reader) checkRecords(ctx context.Context) (*live.RecordsView, error) {
	began := time.Now()
	target, err := zkconn.OpenReader(ctx, s.Target)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	source, err := zkconn.OpenReader(ctx, *s.Source)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	src, err := migrate.OpenSource(ctx, source, s.Queues, legacy.Options{})
	if err != nil {
		return nil, err
	}
	queues, err := migrate.ReadLegacy(ctx, target, src)
	if err != nil {
		return nil, err
	}
	v := &live.RecordsView{AsOf: began}
	for _, q := range queues {
		v.Late.Add(q.Late)
		v.Missed.Add(q.Missed)
		v.Twice.Add(q.Twice)
		v.Over.Add(q.MayHaveRunTwice())
		v.Kept, v.Gone = v.Kept+q.Kept, v.Gone+q.Gone
	}
	return v, nil
}
