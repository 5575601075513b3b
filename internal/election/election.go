// Package election lets one of several processes work at a time, as Zuul's
// elections do (its ZooKeeper Map, "An election to determine which …"). Each
// process takes a place, an ephemeral sequential znode below the election's
// znode. The process whose place has the lowest name leads. Each other process
// looks again and again until there is no place before its own. A process that dies
// loses its place when its session ends.
//
// The caller creates and removes the election's own znode.
package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// placePrefix begins the name of every place.
const placePrefix = "n-"

// Place is one process's place in an election.
type Place struct {
	s        *zkconn.Writer
	election string
	path     string
	strays   map[string]bool // the places that Lead has reported; true for one without a session, which it skips
}

// Join takes the last place. The election's znode must exist. owner names this
// process to the others. acl says who may delete the place. It is usually the
// ACL of the znodes that the process works on.
func Join(ctx context.Context, s *zkconn.Writer, election, owner string, acl []znode.ACL) (*Place, error) {
	path, err := s.CreateEphemeral(ctx, znode.Join(election, placePrefix), []byte(owner), acl)
	if err != nil {
		return nil, fmt.Errorf("join the election: %w", err)
	}
	return &Place{s: s, election: election, path: path, strays: map[string]bool{}}, nil
}

// Path returns the place's znode.
func (p *Place) Path() string { return p.path }

// Ahead is the place before another place.
type Ahead struct {
	Path  string
	Owner string // the owner that the process gave to Join
	// Stray says that no session holds the place. No process uses it, and
	// nothing would ever remove it, so Lead skips it.
	Stray bool
}

// pause is the time between two looks at the places.
const pause = 200 * time.Millisecond

// Lead waits until there is no place before this one. It calls report once with
// each place that it waits for or skips. The error wraps [zkconn.ErrSessionLost] if
// the place itself was removed.
func (p *Place) Lead(ctx context.Context, report func(Ahead)) error {
	for {
		ahead, err := p.ahead(ctx)
		if err != nil || ahead == "" {
			return err
		}
		if _, reported := p.strays[ahead]; !reported {
			n, err := p.s.Get(ctx, ahead)
			if errors.Is(err, znode.ErrNoNode) {
				continue
			}
			if err != nil {
				return err
			}
			p.strays[ahead] = n.Stat.EphemeralOwner == 0
			if p.strays[ahead] {
				report(Ahead{Path: ahead, Stray: true})
				continue
			}
			report(Ahead{Path: ahead, Owner: string(n.Data)})
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ahead is the place just before this one, "" if this one leads.
func (p *Place) ahead(ctx context.Context) (string, error) {
	if err := p.s.Sync(ctx); err != nil { // without a sync, the list may still have a place that was removed
		return "", err
	}
	names, err := p.s.Children(ctx, p.election)
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return "", err
	}
	best, there := "", false
	for _, name := range names {
		path := znode.Join(p.election, name)
		there = there || path == p.path
		if path < p.path && path > best && !p.strays[path] {
			best = path
		}
	}
	if !there {
		return "", fmt.Errorf("%w: this session's place in the election was removed", zkconn.ErrSessionLost)
	}
	return best, nil
}

// Resign gives up the place. If the server can't be reached before ctx ends,
// the end of the session removes the place.
func (p *Place) Resign(ctx context.Context) error {
	for {
		err := p.s.Multi(ctx, []znode.Op{znode.Delete(p.path, -1)})
		switch {
		case errors.Is(err, znode.ErrNoNode):
			return nil
		case errors.Is(err, zkconn.ErrUnknownOutcome) && ctx.Err() == nil:
			continue // ZooKeeper never gives a name twice, so the delete can be repeated
		case err != nil:
			return fmt.Errorf("leave the election: %w", err)
		}
		return nil
	}
}
