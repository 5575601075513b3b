package live

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// SourceLooker counts the records of the legacy queues again and again, and the
// legacy locks. It is not safe for concurrent use.
type SourceLooker struct {
	r       *zkconn.Reader
	now     func() time.Time
	folders []*folder
}

// NewSourceLooker looks over a session with the source.
func NewSourceLooker(r *zkconn.Reader, queues migrate.Queues, now func() time.Time) *SourceLooker {
	l := &SourceLooker{r: r, now: now}
	for _, root := range queues.Roots() {
		l.folders = append(l.folders, &folder{path: root})
	}
	return l
}

// Look looks at the source once. What has not changed is not read again.
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
			list[n].Name, list[n].Unlisted = f.path, "" // its names are nothing to us
		}
	}
	return list, nil
}
