package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mrtq/internal/election"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
)

// OwnerName returns a name for a migrator: its host, its process and the time.
func OwnerName(now time.Time) string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s pid %d since %s", host, os.Getpid(), now.UTC().Format(time.RFC3339))
}

// Turn is a migrator's turn.
type Turn struct {
	Place string // its znode in the election
	// Resign lets the next one lead. Call it when the work is done or has failed.
	Resign func()
}

// Lead waits until no other migrator works on the target. say is called with what it waits
// for.
//
// Lead creates the election and its parent, if they are missing, with this ACL.
func Lead(ctx context.Context, w *zkconn.Writer, owner string, acl []znode.ACL, say func(string)) (*Turn, error) {
	return leadIn(ctx, w, ledger.ElectionPath, "migration is running", owner, acl, say)
}

// LeadFollowers is [Lead] for those who follow the legacy queue: each of their moves takes a turn among the migrators.
func LeadFollowers(ctx context.Context, w *zkconn.Writer, owner string, acl []znode.ACL, say func(string)) (*Turn, error) {
	return leadIn(ctx, w, ledger.FollowersPath, "follow is at work", owner, acl, say)
}

func leadIn(ctx context.Context, w *zkconn.Writer, path, other, owner string, acl []znode.ACL, say func(string)) (*Turn, error) {
	place, err := join(ctx, w, path, owner, acl)
	if err != nil {
		return nil, err
	}
	turn := &Turn{Place: place.Path(), Resign: func() {
		// If the server can't be reached, the end of the session removes the place.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = place.Resign(ctx)
	}}
	err = place.Lead(ctx, func(a election.Ahead) {
		if a.Stray {
			say(fmt.Sprintf("%s: no session holds this place in the election; skipped", a.Path))
			return
		}
		say(fmt.Sprintf("waiting: another %s (%s); if its process was killed, its session ends after %s", other, a.Owner, w.SessionTimeout()))
	})
	if err != nil {
		turn.Resign()
		return nil, err
	}
	return turn, nil
}

// maxJoins is how often in a row others may remove the election before this migrator has a place in it.
const maxJoins = 100

// join takes a place in an election. If somebody removes the election meanwhile, join makes it again.
func join(ctx context.Context, w *zkconn.Writer, path, owner string, acl []znode.ACL) (*election.Place, error) {
	for try := 1; ; try++ {
		err := Ensure(ctx, w, ledger.MigrationPath, acl)
		if err == nil {
			err = Ensure(ctx, w, path, acl)
		}
		var place *election.Place
		if err == nil {
			place, err = election.Join(ctx, w, path, owner, acl)
		}
		switch {
		case !errors.Is(err, znode.ErrNoNode) || ctx.Err() != nil:
			return place, err
		case try == maxJoins:
			return nil, fmt.Errorf("%w: %w", ErrContended, err)
		}
	}
}

// Ensure creates a znode that is missing, without data. The error comes from the server.
func Ensure(ctx context.Context, w *zkconn.Writer, path string, acl []znode.ACL) error {
	for {
		_, there, err := w.Exists(ctx, path)
		if err != nil || there {
			return err
		}
		err = w.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: path, Data: []byte{}, ACL: acl}})
		switch {
		case err == nil, errors.Is(err, znode.ErrNodeExists):
			return nil
		case errors.Is(err, zkconn.ErrUnknownOutcome) && ctx.Err() == nil:
			continue // look again
		}
		return err
	}
}
