package life_test

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

var torture = flag.Bool("torture", false, "explore everything, try all cuts, and the servers of an ensemble that fail")

// The explorer takes each command that writes, and each gap between two of its requests. There the command waits, its
// process is killed, or a request or an answer is lost; and somebody else acts. One such combination is lived to its end
// in a small ZooKeeper of its own, in time that does not pass. Most are left out: those whose act the next request
// can't notice.

type night struct {
	name    string
	before  func(*explored)
	command string
	back    bool // the legacy queue again, and not the new one
	// kinds are what the operator migrates, and others what another target's operator does; none means all.
	kinds, others []migration.QueueKind
}

var nights = []night{
	{name: "migrate", before: func(*explored) {}, command: "migrate"},
	{name: "release while a legacy worker is at work", before: func(e *explored) { e.must("migrate") }, command: "release"},
	{name: "release", before: func(e *explored) { e.finishLegacy(); e.must("migrate") }, command: "release"},
	{name: "release --only ingest", before: func(e *explored) { e.finishLegacy(); e.must("migrate") }, command: "release ingest"},
	{name: "hold", before: func(e *explored) { e.finishLegacy(); e.must("migrate", "release") }, command: "hold"},
	{name: "migrate again, after the end of a migration", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		e.steps(1)
		e.must("complete", "hold all")
		e.deposited("10", "bid-1", legacy.Pending)
		e.deposited("11", "bid-4", legacy.Pending)
	}, command: "migrate"},
	{name: "follow", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		e.steps(1)
		e.deposited("10", "bid-1", legacy.Pending)
		e.deposited("11", "bid-4", legacy.Pending)
		e.deposited("12", "bid-4", legacy.Failed)
		e.requested("/accessSmall.1", "token-3")
	}, command: "follow"},
	{name: "rollback", before: func(e *explored) { e.must("migrate") }, command: "rollback", back: true},
	{name: "rollback after the release", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		e.steps(2)
	}, command: "rollback", back: true},
	{name: "complete", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		e.steps(2)
	}, command: "complete"},
	{name: "migrate, after a kill", before: func(e *explored) { e.killed("migrate", 4) }, command: "migrate"},
	{name: "release, after a kill", before: func(e *explored) { e.finishLegacy(); e.must("migrate"); e.killed("release", 8) }, command: "release"},
	{name: "rollback, after a kill", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		e.steps(2)
		e.killed("rollback", 4)
	}, command: "rollback", back: true},
	// Another target was migrated from the same legacy queue, by mistake. Nobody works there.
	{name: "release beside a mistyped target", before: func(e *explored) { e.finishLegacy(); e.other("migrate"); e.must("migrate") }, command: "release"},
	{name: "rollback beside a mistyped target", before: func(e *explored) {
		e.finishLegacy()
		e.must("migrate")
		e.other("migrate")
		e.must("release ingest")
		e.other("release") // the access requests
	}, command: "rollback", back: true},
	{name: "complete beside a target of other queue nodes", before: func(e *explored) {
		e.finishLegacy()
		e.other("migrate")
		e.must("migrate", "release")
		e.other("release")
	}, command: "complete", kinds: []migration.QueueKind{migration.Ingest, migration.Inventory}, others: []migration.QueueKind{migration.AccessSmall, migration.AccessLarge}},
}

// moment is everything at one moment, so that a world can begin there.
type moment struct {
	tree       *znode.Tree
	truth      truth
	home       *daemons.Home
	executions map[string]daemons.Execution
	emails     []daemons.Email
}

type explored struct {
	*site
	truth
	night   night
	home    *daemons.Home
	fails   bool // the next work that a new worker can fail
	alone   bool // the next worker gets a session of its own
	words   words
	choices migration.Choices
	// repeated says that the operator has repeated the command that was disturbed.
	repeated bool
	others   int           // how often mrtq said that this is another legacy queue
	cleared  bool          // a migration can't be finished, because this is another legacy queue
	deposed  bool          // the first operator's place in the election is gone
	reused   string        // the key of the record that got the name of another one in the last act; "" if none did
	turn     *daemons.Turn // of a worker that has acquired something; nil if none has
	busy     bool          // the workers of both queues take a turn before each step of the operator
	story    []string

	life          bool     // many acts, and not one: see TestLives
	unserviceable []string // records that no service can do
	large         bool     // transactions are as large as they can be
}

func (e *explored) say(format string, args ...any) {
	e.story = append(e.story, fmt.Sprintf(format, args...))
}

// failf ends the combination. class says in general what is wrong.
func (e *explored) failf(class, format string, args ...any) {
	e.say("%s: %s", strings.ToUpper(class), fmt.Sprintf(format, args...))
	panic(failure(class))
}

// world lets do act in a world that begins at a moment; nil is the beginning, with a legacy queue. It returns what
// happened, and why it failed; "" if it did not.
func world(t *testing.T, d newqueue.Dialect, n night, at *moment, do func(*explored)) (story []string, failed string) {
	synctest.Test(t, func(t *testing.T) {
		e := &explored{night: n, choices: willing}
		defer func() {
			story = e.story
			switch r := recover().(type) {
			case nil:
			case failure:
				failed = string(r)
			default:
				failed = fmt.Sprintf("panic: %v", r)
				e.say("%s", debug.Stack())
				story = e.story
			}
			if e.site != nil {
				e.site.close()
			}
		}()
		opt := daemons.Options{Fails: e.failsNow, Home: daemons.NewHome()}
		opt.New.Connect = e.session
		opt.Legacy.Connect = e.session
		var tree *znode.Tree
		if at != nil {
			e.truth, opt.Home, tree = at.truth.clone(), at.home.Clone(), at.tree
		}
		e.home = opt.Home
		e.site = newSite(context.Background(), d, tree, opt)
		if at != nil {
			e.world.Remember(at.executions)
			e.world.Emails = slices.Clone(at.emails)
		} else {
			e.fill()
		}
		do(e)
	})
	return story, failed
}

// session gives all workers one session, because opening one takes longer than what they do with it. A worker that stops
// in the middle of something has its own.
func (e *explored) session() (daemons.Session, error) {
	if e.alone {
		return e.connect()
	}
	return shared{e.conn}, nil
}

type shared struct{ daemons.Session }

func (shared) Close() {}

func (e *explored) moment() *moment {
	return &moment{e.tree(), e.truth.clone(), e.home.Clone(), e.world.Executions(), slices.Clone(e.world.Emails)}
}

type combination struct {
	deed *deed
	mode mode
	gap  int // the number of the request before which it is, from 1; 0 is after the command
	busy bool
}

// mode is what becomes of the request behind a gap.
type mode string

const (
	held        mode = "held"         // it waits while the act happens
	killed      mode = "killed"       // the operator's process is killed before it
	requestLost mode = "request lost" // the connection is lost before the server has it
	answerLost  mode = "answer lost"  // and after the server has done it
)

func (r *recording) run(t *testing.T, c combination) ([]string, string) {
	at := r.moments[0]
	if c.mode == killed {
		at = r.moments[r.requests[c.gap-1].step]
	}
	return world(t, r.dialect, r.night, at, func(e *explored) {
		e.busy = c.busy
		switch {
		case c.mode == killed:
			e.say("operator: %s is killed before request %d", r.night.command, c.gap)
			e.act(c.deed, nil)
		case c.gap == 0:
			e.run(r.night.command)
			e.act(c.deed, nil)
		default:
			e.disturbed(r, c)
		}
		e.end(r)
	})
}

func (e *explored) disturbed(r *recording, c combination) {
	o := e.operator()
	defer o.close()
	nth := c.gap
	if c.mode != held { // the next request after the lost connection waits
		do := minizk.CutBefore()
		if c.mode == answerLost {
			do = minizk.CutAfter()
		}
		e.zk.Inject(minizk.Fault{On: o.sends, Nth: nth, Do: do})
		nth++
	}
	e.say("operator: %s, %s at request %d (%v)", r.night.command, c.mode, c.gap, r.requests[c.gap-1].Op)
	e.learn(r.night.command, e.during(e.ctx, o, r.night.command, nth, func() { e.act(c.deed, o) }))
}

func (e *explored) during(ctx context.Context, o *operator, command string, nth int, meanwhile func()) outcome {
	gate := make(chan struct{})
	hold := e.zk.Inject(minizk.Fault{On: o.sends, Nth: nth, Do: minizk.Hold(gate)})
	done := e.begin(ctx, o, command)
	if !e.await(func() bool { return hold.Fired() > 0 || len(done) > 0 }) {
		e.failf("a command hangs", "before its gap")
	}
	meanwhile()
	hold.Remove()
	close(gate)
	if !e.await(func() bool { return len(done) > 0 }) {
		e.failf("a command hangs", "after its gap")
	}
	out := <-done
	if out.panicked != nil {
		panic(out.panicked)
	}
	return out
}

// begin begins a command beside the test.
func (e *explored) begin(ctx context.Context, o *operator, command string) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			out.panicked = recover() // the story is told where the life is
			done <- out
		}()
		out = e.command(ctx, o, command)
	}()
	return done
}

// await waits until something is so, for an hour of the bubble's time.
func (e *explored) await(is func() bool) bool {
	for range 36000 {
		synctest.Wait()
		if is() {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (o *operator) sends(op minizk.Op) bool {
	return o.ids[op.Session] && op.Code != jute.OpPing && op.Code != jute.OpCloseSession
}

var explorePart = flag.Int("explore", 50, "explore one of this many combinations")

// TestExplorer lets every other actor act in every gap of every command that writes. Then an operator does what
// mrtq says, and everybody works until nothing is left.
func TestExplorer(t *testing.T) {
	gc := debug.SetGCPercent(400) // worlds are small, and soon gone
	t.Cleanup(func() { debug.SetGCPercent(gc) })
	part := *explorePart
	if *torture {
		part = 1
	}
	for i, d := range newqueue.Dialects {
		for j, n := range nights {
			t.Run(string(d)+"/"+n.name, func(t *testing.T) {
				t.Parallel()
				r := recorded(t, d, n)
				found := r.explore(t, part, 5*i+3*j) // other combinations in each night
				t.Logf("%d requests, %d changes, %d acts: %d combinations, %d that no request can tell apart, %d violations",
					len(r.requests), len(r.changes), len(deeds), found.combinations, found.pruned, found.violations)
			})
		}
	}
}

type found struct{ combinations, pruned, violations int }

// enough violations of one night say what is wrong.
const enough = 5

// explore lives one of part combinations. Which one depends on first.
func (r *recording) explore(t *testing.T, part, first int) (f found) {
	number := first
	for step := range r.moments {
		for i := range deeds {
			if number++; number%part != 0 {
				continue
			}
			fp := r.footprint(t, step, &deeds[i])
			if fp == nil {
				continue
			}
			for _, c := range r.combinations(step, &deeds[i], fp, &f) {
				f.combinations++
				c.busy = number/part%2 == 0
				story, failed := r.run(t, c)
				if failed == "" {
					continue
				}
				t.Errorf("%s, %s before request %d, busy %v: %s: %s\n    %s", r.night.name, c.mode, c.gap, c.busy, c.deed.name, failed, strings.Join(story, "\n    "))
				if f.violations++; f.violations == enough {
					return f
				}
			}
		}
	}
	return f
}

func (r *recording) combinations(step int, d *deed, fp *footprint, f *found) (all []combination) {
	if step == len(r.changes) {
		all = append(all, combination{deed: d, mode: held})
	}
	for k, q := range r.requests {
		if q.step != step {
			continue
		}
		modes := []mode{held}
		if changes := step < len(r.changes) && k == r.changeAt[step]; changes {
			modes = append(modes, killed, requestLost, answerLost)
		}
		if !r.conflict(k, fp) {
			f.pruned += len(modes)
			continue
		}
		for _, m := range modes {
			all = append(all, combination{deed: d, mode: m, gap: k + 1})
		}
	}
	return all
}
