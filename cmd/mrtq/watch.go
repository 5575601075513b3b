package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mrtq/internal/zkconn"
	"mrtq/migrate"
	"mrtq/migrate/live"
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
that you can see when the queues are empty.

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
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) > 1 {
				return args("TARGET", "SOURCE")(cmd, given)
			}
			return args("TARGET")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	choice(f, &c.output, "output", "o", "format", "table", "ndjson")
	f.DurationVar(&c.interval, "interval", usualInterval, "time between two views")
	f.BoolVar(&c.once, "once", false, "show one view and exit")
	metricsFlag(f, &c.metrics)
	c.nodeFlags(f)
	return cmd
}

func (c *watchCmd) run(ctx context.Context, a *app, given []string) error {
	target := given[0]
	e, err := parseEndpoint("TARGET", target)
	switch {
	case err != nil:
		return err
	case e.file != "":
		return usageError("TARGET %q: a dump does not change, so there is nothing to watch; mrtq status %s shows what is in it", target, target)
	case c.interval < shortestInterval:
		return usageError("--interval %v: want %v or more", c.interval, shortestInterval)
	case c.once && c.metrics != "":
		return usageError("--once and --metrics: with --once, mrtq exits before the metrics can be read; leave one of them out")
	}
	s := &watchReader{}
	if s.target, err = a.connConfig(e.addr); err != nil {
		return failed("watch", target, err)
	}
	if len(given) > 1 {
		if err := c.addSource(a, s, given[1]); err != nil {
			return err
		}
	}
	if c.once {
		return c.lookOnce(ctx, a, target, s)
	}
	m := &watchMetrics{}
	stop, err := a.serveMetrics(c.metrics, m)
	if err != nil {
		return failed("watch", target, err)
	}
	defer stop()
	var show viewer = c.printer(a)
	if file, ok := screenFile(a.stdout.Writer); ok && c.output == "table" {
		s := newScreen(a.stdout, file)
		defer s.leave()
		show = s
	}
	w := watchState{target: target, interval: c.interval}
	if err := w.loop(ctx, s, show, m.set); err != nil {
		return failed("watch", target, err)
	}
	return nil
}

// addSource adds the legacy queues to what s reads.
func (c *watchCmd) addSource(a *app, s *watchReader, source string) error {
	e, err := parseEndpoint("SOURCE", source)
	if err != nil {
		return err
	}
	if e.file != "" || e.data != nil {
		return usageError("SOURCE %q: files don't change, so there is nothing to watch; give a server", source)
	}
	if s.queues, err = c.queues(); err != nil {
		return err
	}
	cfg, err := a.connConfig(e.addr)
	if err != nil {
		return failed("watch", source, err)
	}
	s.source = &cfg
	return nil
}

func (c *watchCmd) lookOnce(ctx context.Context, a *app, target string, s *watchReader) error {
	defer s.close()
	snap, err := s.look(ctx)
	if err != nil {
		return failed("watch", target, err)
	}
	w := watchState{target: target}
	w.saw(snap)
	if err := c.printer(a).show(w.view(snap.At)); err != nil || snap.NoQueue == nil {
		return err
	}
	text := noQueueAt(placeOf(target), snap.NoQueue)
	a.conclude(bad, "Watch: %s. %s.", text, checkPlace)
	return checkError(fmt.Errorf("watch: %s", text))
}

// viewer shows views, one after the other.
type viewer interface {
	// show shows the view after a reading, or after an interval without one.
	show(live.View) error
	// redraw draws the view again, if it is on a screen.
	redraw(live.View) error
	// signals sends the system's signals about the terminal, for handle.
	signals() <-chan os.Signal
	handle(os.Signal)
	// leave restores the terminal.
	leave()
}

// watchState is what watch knows about a target.
type watchState struct {
	target   string
	interval time.Duration
	history  live.History
	// trouble says why the target can't be read. It is "" if it can.
	trouble string
	since   time.Time
	failed  bool // whether the last reading failed
}

func (w *watchState) saw(s live.Snapshot) {
	w.history = w.history.Add(s)
	w.trouble, w.failed = "", false
}

func (w *watchState) troubled(now time.Time, why string) {
	if w.trouble == "" {
		w.since = now
	}
	w.trouble = why
}

func (w *watchState) view(now time.Time) live.View {
	v := w.history.View()
	v.Target, v.Time = w.target, now.UTC()
	v.Connected, v.Trouble = w.trouble == "" && len(w.history) > 0, w.trouble
	if w.trouble != "" {
		v.Troubled = now.Sub(w.since).Round(time.Millisecond).Seconds()
	}
	if r := v.Migration; r != nil && v.Migrators == 0 && (r.Unfinished() || r.Damage != "") {
		v.Notes = append(v.Notes, "for what to do next: mrtq status "+shellWord(w.target))
	}
	return v
}

// patience is how long a reading may take before watch says that there is no answer.
const patience = 3 * time.Second

// loop reads the target and shows a view at each interval, until ctx ends. It returns an
// error if the target can never be read, or if nothing can be shown.
func (w *watchState) loop(ctx context.Context, s *watchReader, v viewer, also func(live.View)) error {
	news := make(chan string, 1)
	s.say(func(text string) {
		select {
		case news <- text:
		default:
		}
	})
	looks := make(chan look, 1)
	started, busy := time.Now(), true
	start := func() {
		started, busy = time.Now(), true
		go func() { looks <- s.lookNow(ctx) }()
	}
	defer func() {
		v.leave()
		if busy {
			<-looks
		}
		s.close()
	}()
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	show := func() error {
		view := w.view(time.Now())
		also(view)
		return v.show(view)
	}
	start()
	w.troubled(started, "connecting")
	if err := v.redraw(w.view(started)); err != nil {
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if !busy {
				start()
				continue
			}
			if time.Since(started) >= patience && w.trouble == "" {
				w.troubled(started, "no answer yet")
			}
			err = show()
		case l := <-looks:
			busy = false
			switch {
			case ctx.Err() != nil:
				return nil
			case l.err == nil:
				w.saw(l.snapshot)
			case len(w.history) == 0 && hopeless(l.err):
				return l.err
			default:
				w.failed = true
				w.troubled(started, l.err.Error())
			}
			err = show()
		case text := <-news:
			if !w.failed { // the error of a failed reading says more
				w.troubled(started, text)
			}
			err = v.redraw(w.view(time.Now()))
		case signal := <-v.signals():
			v.handle(signal)
			err = v.redraw(w.view(time.Now()))
		}
		if err != nil {
			return err
		}
	}
}

func hopeless(err error) bool {
	var c *zkconn.ConnectError
	return errors.As(err, &c) && c.Hopeless()
}

// watchReader reads a target, and a source if one is given. If a session is lost, it opens
// another one.
type watchReader struct {
	target zkconn.Config
	source *zkconn.Config // nil if none is given
	queues migrate.Queues // the source's

	readers []*zkconn.Reader
	looker  *live.Looker
	legacy  *live.SourceLooker
}

// say calls tell with news of an attempt to connect, instead of printing them.
func (s *watchReader) say(tell func(string)) {
	s.target.Say = tell
	if s.source != nil {
		s.source.Say = tell
	}
}

type look struct {
	snapshot live.Snapshot
	err      error
}

func (s *watchReader) lookNow(ctx context.Context) look {
	snap, err := s.look(ctx)
	return look{snap, err}
}

func (s *watchReader) look(ctx context.Context) (snap live.Snapshot, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.looker == nil {
		r, err := s.open(ctx, s.target)
		if err != nil {
			return snap, err
		}
		s.looker = live.NewLooker(r, time.Now)
	}
	if s.source != nil && s.legacy == nil {
		r, err := s.open(ctx, *s.source)
		if err != nil {
			return snap, err
		}
		s.legacy = live.NewSourceLooker(r, s.queues, time.Now)
	}
	if snap, err = s.looker.Look(ctx); err == nil && s.legacy != nil {
		snap.Source, err = s.legacy.Look(ctx)
	}
	return snap, err
}

func (s *watchReader) open(ctx context.Context, cfg zkconn.Config) (*zkconn.Reader, error) {
	r, err := zkconn.OpenReader(ctx, cfg)
	if err == nil {
		s.readers = append(s.readers, r)
	}
	return r, err
}

func (s *watchReader) close() {
	for _, r := range s.readers {
		r.Close()
	}
	s.readers, s.looker, s.legacy = nil, nil, nil
}
