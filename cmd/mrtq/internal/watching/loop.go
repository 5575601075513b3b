// Package watching shows a target while it is used: on a terminal over the last view, in a pipe
// one view below the other, to Prometheus as metrics.
//
//	loop.go     reads at each interval, and shows what it saw
//	records.go  looks from time to time for legacy records that came late, could run twice or may have
//	lines.go    draws a view as lines; pure
//	screen.go   one view over the last one, on a terminal
//	metrics.go  a view as metrics; pure
//	serve.go    serves them
package watching

import (
	"context"
	"errors"
	"io"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
	"mrtq/migrate/live"
)

// viewer shows views, one after the other.
type viewer interface {
	// show shows the view after a reading, or after an interval without one.
	show(live.View) error
	// redraw draws the view again, if it is on a screen.
	redraw(live.View) error
}

// Watch shows a target at each interval.
type Watch struct {
	Target   string
	Source   string // the address of the legacy queue, "" if none is given
	Interval time.Duration
	Reader   *Reader
	JSON     bool   // one object a line
	Metrics  string // the address at which metrics are served; "" is none
	Out      *screen.Output
	Say      func(format string, args ...any)

	state
}

// state is what watch knows about a target.
type state struct {
	history live.History
	// trouble says why the target can't be read. It is "" if it can.
	trouble string
	since   time.Time
	failed  bool // whether the last reading failed
	checked checked
}

func (w *Watch) saw(v live.View) {
	w.history = w.history.Add(v)
	w.trouble, w.failed = "", false
}

func (w *Watch) troubled(now time.Time, why string) {
	if w.trouble == "" {
		w.since = now
	}
	w.trouble = why
}

func (w *Watch) view(now time.Time) live.View {
	v := w.history.View()
	v.Target, v.Time = w.Target, now.UTC()
	v.Connected, v.Trouble = w.trouble == "" && len(w.history) > 0, w.trouble
	if w.trouble != "" {
		v.Troubled = now.Sub(w.since).Round(time.Millisecond).Seconds()
	}
	if r := v.Migration; r != nil && v.Migrators == 0 && (r.Unfinished() || r.Damage != "") {
		v.Notes = append(v.Notes, "for what to do next: mrtq status "+advice.Word(w.Target))
	}
	if w.checked.err != nil {
		v.Notes = append(v.Notes, "the legacy records could not be checked: "+w.checked.err.Error())
	}
	if v.Records = w.checked.records; v.Records != nil && v.Records.Late.Count+v.Records.Missed.Count+v.Records.Twice.Count+v.Records.Over.Count+v.Records.Kept+v.Records.Gone > 0 {
		v.Notes = append(v.Notes, "for what to do about the legacy records: mrtq status "+advice.Word(w.Target)+" "+advice.Word(w.Source))
	}
	return v
}

// Once shows one view. found is what is at the target instead of a new queue, nil if there is
// one. The error comes from reading.
func (w *Watch) Once(ctx context.Context) (found *migrate.NoQueue, err error) {
	defer w.Reader.close()
	v, err := w.Reader.look(ctx)
	if err != nil {
		return nil, err
	}
	w.saw(v)
	if w.Reader.Source != nil && v.Migration != nil {
		w.checked = w.Reader.check(ctx)
	}
	return v.NoQueue, w.printer().show(w.view(v.AsOf))
}

func (w *Watch) printer() *printer { return &printer{out: w.Out, json: w.JSON} }

// Run shows views until ctx ends. It returns an error if the target can never be read, or if
// nothing can be shown.
func (w *Watch) Run(ctx context.Context) error {
	m := &metrics{}
	stop, err := serveMetrics(w.Metrics, m, w.Say)
	if err != nil {
		return err
	}
	defer stop()
	var show viewer = w.printer()
	if file, ok := screenFile(w.Out.Writer); ok && !w.JSON {
		show = &full{out: w.Out, file: file}
		defer io.WriteString(w.Out, "\r\n") // the shell goes on below the last view
	}
	return w.loop(ctx, w.Reader, show, m.set)
}

// loop reads the target and shows a view at each interval, until ctx ends.
func (w *Watch) loop(ctx context.Context, s *Reader, v viewer, also func(live.View)) error {
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
	check := newChecking(s)
	defer func() {
		if busy {
			<-looks
		}
		check.wait()
		s.close()
	}()
	tick := time.NewTicker(w.Interval)
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
			if silent := s.Target.Pulse.Silence(); silent >= screen.Patience && w.trouble == "" {
				w.troubled(time.Now().Add(-silent), screen.NoAnswer)
			}
			err = show()
		case l := <-looks:
			busy = false
			switch {
			case ctx.Err() != nil:
				return nil
			case l.err == nil:
				w.saw(l.view)
				check.start(ctx, l.view)
			case len(w.history) == 0 && hopeless(l.err):
				return l.err
			default:
				w.failed = true
				w.troubled(started, l.err.Error())
			}
			err = show()
		case w.checked = <-check.done:
			check.ended(w.checked)
			err = v.redraw(w.view(time.Now()))
		case text := <-news:
			if !w.failed { // the error of a failed reading says more
				w.troubled(started, text)
			}
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

// Reader reads a target, and a source if one is given. If a session is lost, it opens
// another one.
type Reader struct {
	Target migrate.Config
	Source *migrate.Config // nil if none is given
	Queues migrate.Queues  // the source's

	readers []*zkconn.Reader
	looker  *live.Looker
	legacy  *zkconn.Reader
}

// say calls tell with news of an attempt to connect, instead of printing them.
func (s *Reader) say(tell func(string)) {
	s.Target.Say = tell
	if s.Source != nil {
		s.Source.Say = tell
	}
}

type look struct {
	view live.View
	err  error
}

func (s *Reader) lookNow(ctx context.Context) look {
	v, err := s.look(ctx)
	return look{v, err}
}

func (s *Reader) look(ctx context.Context) (v live.View, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.looker == nil {
		r, err := s.open(ctx, s.Target)
		if err != nil {
			return v, err
		}
		s.looker = live.NewLooker(r, time.Now)
	}
	if s.Source != nil && s.legacy == nil {
		if s.legacy, err = s.open(ctx, *s.Source); err != nil {
			return v, err
		}
	}
	if v, err = s.looker.Look(ctx); err == nil && s.legacy != nil {
		v.Source, err = live.LegacyQueues(ctx, s.legacy, s.Queues)
	}
	return v, err
}

func (s *Reader) open(ctx context.Context, cfg migrate.Config) (*zkconn.Reader, error) {
	r, err := zkconn.OpenReader(ctx, cfg)
	if err == nil {
		s.readers = append(s.readers, r)
	}
	return r, err
}

func (s *Reader) close() {
	for _, r := range s.readers {
		r.Close()
	}
	s.readers, s.looker, s.legacy = nil, nil, nil
}
