package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type followCmd struct {
	every, quiet time.Duration
	once, dry    bool
	packet       int
	output       string
}

func (a *app) followCmd() *cobra.Command {
	c := &followCmd{}
	cmd := &cobra.Command{
		Use:   "follow TARGET",
		Short: "move the records that still arrive in the legacy queue",
		Long: `After a release, look at the legacy queue again and again, and move each record that
arrives: in one ZooKeeper transaction it leaves the legacy queue, its bytes are kept for
a rollback, and its job is created. No queue is held and no worker stops, so that
submitters can be switched one by one. A job goes into the batch of its batchID while
that is open, else into one with the name NAME-2.

A record that a legacy worker has waits until the worker is done. One that can't be
migrated, or was submitted twice, stays. Each is named once. Ctrl-C ends follow, and the
same command goes on. If the connection is lost, follow opens another one.

--once ends when nothing is left to move. Exit code 1 if a record waits or stays then.
--dry-run writes nothing, and says what becomes of each record that is there now.`,
		Example: `  mrtq follow zk1:2181/new
  mrtq follow zk1:2181/new --once`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	f.DurationVar(&c.every, "every", 250*time.Millisecond, "look at this interval")
	f.DurationVar(&c.quiet, "quiet", 200*time.Millisecond, "make a new batch when none of its records has come for this time")
	f.BoolVar(&c.once, "once", false, "end when nothing is left to move")
	f.BoolVar(&c.dry, "dry-run", false, "show what would be moved, and write nothing")
	f.IntVar(&c.packet, "packet", migration.DefaultMaxBuffer, "the servers' jute.maxbuffer, in `bytes`")
	outputFlag(f, &c.output, "ndjson")
	return cmd
}

func (c *followCmd) run(ctx context.Context, a *app, given []string) error {
	s, err := parseTarget(given)
	if err != nil {
		return err
	}
	c.once = c.once || !s.target.isServer() // nothing arrives in a dump
	if c.every < 10*time.Millisecond {
		return exit.Usagef("--every %v: expected at least 10ms", c.every)
	}
	if c.quiet < 0 {
		return exit.Usagef("--quiet %v: expected 0s or more", c.quiet)
	}
	if c.packet < leastPacket {
		return exit.Usagef("--packet %d: expected at least %d", c.packet, leastPacket)
	}
	moved, said := 0, map[migration.Followed]bool{}
	opt := migrate.FollowOptions{MaxBuffer: c.packet, Every: c.every, Once: c.once, Quiet: c.quiet, Limits: migration.TransactionLimits{Ops: a.conn.MaxRate}, Notify: func(text string) { a.Say("%s", text) },
		Each: func(r migration.Followed) {
			switch {
			case r.Fate == migration.FateMoves:
				moved++
			case said[r]: // in the session before
				return
			default:
				said[r] = true
				a.Say("%s %s: %s", r.Record, r.Fate, r.Why)
			}
			if c.output == "ndjson" {
				_ = screen.WriteJSONLine(a.Out, r)
			}
		}}
	var res *migrate.FollowResult // of the last session that has begun to follow
	for {
		now, err := c.follow(ctx, a, s, opt)
		if now != nil && now.Run != "" {
			res = now
		}
		switch ended := res != nil && ctx.Err() != nil; {
		case err != nil && !ended && (res == nil || !endsByItself(err) || a.Out.Err != nil):
			return a.wayOut(ctx, s.target, failed("target", s.target.Text, err))
		case err == nil || ended:
			return c.conclude(a, res, moved)
		}
		a.Say("%v; follow opens another session in %v", err, pauseOfSessions)
		select {
		case <-time.After(pauseOfSessions):
		case <-ctx.Done():
		}
	}
}

// endsByItself reports whether an error is about the servers, and not a refusal.
func endsByItself(err error) bool {
	return !exit.Is(err, exit.Usage) && !errors.Is(err, zkconn.ErrNoAuth) && !slices.ContainsFunc(checks, func(c error) bool { return errors.Is(err, c) })
}

func (c *followCmd) conclude(a *app, res *migrate.FollowResult, moved int) error {
	word, text := "done", fmt.Sprintf("%s moved to %s", screen.Count(moved, "record", "records"), res.Run)
	if c.dry {
		word, text = "dry run", screen.Count(moved, "record", "records")+" would be moved to "+res.Run
	}
	tone, left := screen.Good, len(res.Staying) > 0
	if left {
		text += "; " + screen.Count(len(res.Staying), "record waits or stays", "records wait or stay")
	}
	if left = left && c.once && !c.dry; left {
		tone, word = screen.Attention, "not finished"
	}
	a.Conclude(tone, word, text+".", advice.Next{})
	if left {
		return exit.Check(errors.New(text))
	}
	return nil
}

// pauseOfSessions is the time before another session is opened.
const pauseOfSessions = 2 * time.Second

func (c *followCmd) follow(ctx context.Context, a *app, s pair, opt migrate.FollowOptions) (res *migrate.FollowResult, err error) {
	if c.dry {
		side, err := a.open(ctx, s.target, true)
		if err != nil {
			return nil, err
		}
		defer side.Close()
		return migrate.PreviewFollow(ctx, side.Reader, opt)
	}
	if err := s.target.isThere(); err != nil {
		return nil, err
	}
	err = a.onTargetOrNew(ctx, s.target, c.packet, func(w *migrate.WritableSide) error {
		if res, err = migrate.Follow(ctx, w.Writer, opt); err == nil && res.Moved == 0 {
			return errUnchanged
		}
		return err
	})
	return res, err
}
