// Package election lets one of several processes work at a time, as Zuul's
// elections do (its ZooKeeper Map, "An election to determine which …"): each takes
// a place, an ephemeral sequential znode below the election's; the one with the
// lowest name leads, and each of the others waits for the one just before it to
// go. So a process that dies makes room when its session ends, and one that goes
// wakes one other, not all.
//
// Who makes the election's own znode, and removes it, is the caller's business.
package election

import (
	"context"
	"errors"
	"fmt"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// placePrefix begins the name of every place.
const placePrefix = "n-"

// Session is what an election needs of a session; [zkconn.Writer] says what each
// of it does.
type Session interface {
	Get(ctx context.Context, path string) (znode.Node, error)
	Children(ctx context.Context, path string) ([]string, error)
	Sync(ctx context.Context) error
	Multi(ctx context.Context, ops []znode.Op) error
	CreateEphemeral(ctx context.Context, prefix string, data []byte, acl []znode.ACL) (string, error)
	WaitGone(ctx context.Context, path string) error
}

// Place is what one process has in an election.
type Place struct {
	s        Session
	election string
	path     string
	strays   map[string]bool // told of, and passed by
}

// Join takes a place behind those that are there. The election's znode must be
// there. owner tells the others who has the place, and acl, as a rule that of the
// work itself, who may take it away.
func Join(ctx context.Context, s Session, election, owner string, acl []znode.ACL) (*Place, error) {
	path, err := s.CreateEphemeral(ctx, znode.Join(election, placePrefix), []byte(owner), acl)
	if err != nil {
		return nil, fmt.Errorf("join the election: %w", err)
	}
	return &Place{s: s, election: election, path: path, strays: map[string]bool{}}, nil
}

// Path is the place's znode.
func (p *Place) Path() string { return p.path }

// Ahead is what stands before a place.
type Ahead struct {
	Path  string
	Owner string // what the one who has it says of itself
	// Stray says that no session holds it. It is nobody's place, would stand there
	// for ever, and is passed by.
	Stray bool
}

// Lead waits until no other has a place before this one; tell is told, once each,
// of what stands before it. The error wraps [zkconn.ErrLost] if the place itself
// is gone.
func (p *Place) Lead(ctx context.Context, tell func(Ahead)) error {
	for {
		ahead, err := p.ahead(ctx)
		if err != nil || ahead == "" {
			return err
		}
		n, err := p.s.Get(ctx, ahead)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		if !Held(n.Stat) {
			p.strays[ahead] = true
			tell(Ahead{Path: ahead, Stray: true})
			continue
		}
		tell(Ahead{Path: ahead, Owner: string(n.Data)})
		if err := p.s.WaitGone(ctx, ahead); err != nil {
			return err
		}
	}
}

// ahead is what stands just before the place, "" if it leads.
func (p *Place) ahead(ctx context.Context) (string, error) {
	if err := p.s.Sync(ctx); err != nil { // else what is gone may be listed for ever
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
		return "", fmt.Errorf("%w: this session's place in the election is gone", zkconn.ErrLost)
	}
	return best, nil
}

// Resign gives the place up. If that can't be told to the server before ctx ends,
// the end of the session tells it.
func (p *Place) Resign(ctx context.Context) error {
	for {
		err := p.s.Multi(ctx, []znode.Op{znode.Delete(p.path, -1)})
		switch {
		case errors.Is(err, znode.ErrNoNode):
			return nil
		case errors.Is(err, zkconn.ErrUnknownOutcome) && ctx.Err() == nil:
			continue // no name is given twice, so it can be done again
		case err != nil:
			return fmt.Errorf("leave the election: %w", err)
		}
		return nil
	}
}

// Held reports whether a znode in an election is somebody's place: a session
// holds it.
func Held(stat znode.Stat) bool { return stat.EphemeralOwner != 0 }
