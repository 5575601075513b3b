package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/cmd/mrtq/internal/watching"
	"mrtq/migrate"
)

type watchCmd struct {
	legacyFlags
	interval time.Duration
	once     bool
	output   string
	metrics  string
}

const (
	usualInterval    = 2 * time.Second
	shortestInterval = 100 * time.Millisecond
)

func (a *app) watchCmd() *cobra.Command {
	c := &watchCmd{}
	cmd := &cobra.Command{
		Use:   "watch TARGET [SOURCE]",
		Short: "show what happens in the queues",
		Long: `Show the queues of a target while they are used, until Ctrl-C: how many jobs are in
each state and how many came and went in the last minute, access requests, batches,
holds, locks and their age, and how far a migration is. Nothing is written. watch
does not read every job, because ZooKeeper counts them and reports changes. It looks
for locks on the first 20 jobs of each state, in the order in which workers acquire
them. The oldest job of a state is the one that was created first. If you also give
a SOURCE, watch counts the records of its legacy queues and the legacy locks, so
that you can see when the queues are empty. At most once a minute, it also reads all
legacy records, and names those that came late, could run twice or may have.

If the connection is lost, watch says so, shows what it saw last, and tries again. If
there is no new queue at TARGET, it says what is there instead, and waits for one. In a
pipe, it prints one view below the other. -o ndjson prints one JSON object on a line at
each interval. --once prints one view and exits. In that case, a server that can't be
reached is an error, and the exit code is 1 if there is no new queue.

--metrics serves the same numbers to Prometheus, as OpenMetrics at /metrics. There
is no password. Without a host (--metrics :9464), only this machine can read them.
With 0.0.0.0:9464, anyone who can reach this machine can.`,
		Example: `  mrtq watch zk1:2181/new
  mrtq watch zk1:2181/new zk1:2181 -o ndjson --interval 10s
  mrtq watch zk1:2181/new --metrics :9464`,
		Args: args("TARGET", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	outputFlag(f, &c.output, "ndjson")
	f.DurationVar(&c.interval, "interval", usualInterval, "time between two views")
	f.BoolVar(&c.once, "once", false, "show one view and exit")
	f.StringVar(&c.metrics, "metrics", "", "serve metrics at `host:port`; without a host (:9464), to this machine only")
	c.nodeFlags(f)
	return cmd
}

func (c *watchCmd) run(ctx context.Context, a *app, given []string) error {
	target := given[0]
	p, err := parsePlace("TARGET", target)
	switch {
	case err != nil:
		return err
	case p.File != "":
		return exit.Usagef("TARGET %q: a dump does not change, so there is nothing to watch; mrtq status %s shows what is in it", target, target)
	case c.interval < shortestInterval:
		return exit.Usagef("--interval %v: expected %v or more", c.interval, shortestInterval)
	case c.once && c.metrics != "":
		return exit.Usagef("--once and --metrics: with --once, mrtq exits before the metrics can be read; leave one of them out")
	}
	r := &watching.Reader{}
	if r.Target, err = a.conn.Config(p.Server); err != nil {
		return failed("target", target, err)
	}
	if len(given) > 1 {
		if err := c.addSource(a, r, given[1]); err != nil {
			return err
		}
	}
	source := ""
	if len(given) > 1 {
		source = given[1]
	}
	w := &watching.Watch{Target: target, Source: source, Interval: c.interval, Reader: r, JSON: c.output == "ndjson", Metrics: c.metrics, Out: a.Out, Say: a.Say}
	if !c.once {
		return failed("target", target, w.Run(ctx))
	}
	found, err := w.Once(ctx)
	if err != nil || found == nil {
		return failed("target", target, err)
	}
	text := view.NoQueue(target, found)
	next := "Check the address and its chroot."
	if len(found.Legacy) > 0 {
		next = a.advice.Next(migrate.StepLegacyQueue, advice.Situation{Target: target, NoQueue: found})
	}
	a.Conclude(screen.Bad, "Watch: %s. %s", text, next)
	return exit.Check(errors.New(text))
}

// addSource adds the legacy queues to what r reads.
func (c *watchCmd) addSource(a *app, r *watching.Reader, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	if !p.isServer() {
		return exit.Usagef("SOURCE %q: files don't change, so there is nothing to watch; give a server", source)
	}
	if r.Queues, err = c.queues(); err != nil {
		return err
	}
	cfg, err := a.conn.Config(p.Server)
	r.Source = &cfg
	return failed("source", source, err)
}
