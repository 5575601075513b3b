package live

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/zkconn"
	"mrtq/migrate/internal/rules"
)

// SourceLooker counts the records of the legacy queues, and the legacy locks, again
// and again. It is not safe for concurrent use.
type SourceLooker struct {
	r       *zkconn.Reader
	now     func() time.Time
	folders []*folder
}

// NewSourceLooker returns a SourceLooker for the source of a session. The caller
// closes the session.
func NewSourceLooker(r *zkconn.Reader, queues rules.Queues, now func() time.Time) *SourceLooker {
	l := &SourceLooker{r: r, now: now}
	for _, root := range queues.Roots() {
		l.folders = append(l.folders, &folder{path: root})
	}
	return l
}

// Look counts once. It returns a folder for each legacy queue that exists, and for
// each folder of locks, with its path as its name. It does not read again what has
// not changed. Errors are as for [Looker.Look].
func (l *SourceLooker) Look(ctx context.Context) ([]Folder, error) {
	now := l.now()
	g, gctx := errgroup.WithContext(ctx)
	for _, f := range l.folders {
		g.Go(func() error { return f.look(gctx, l.r, now) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var list []Folder
	for _, f := range l.folders {
		n := len(list)
		if list = f.appendTo(list); len(list) > n {
			list[n].Name, list[n].Unlisted = f.path, "" // only the count matters
		}
	}
	return list, nil
}
