package life_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Nights of follow, with the choices that the command has by itself. Submitters, workers, a reporter and two cleanups act before each of its
// requests; reporter and cleanups stop between two of their writes. Before one request follow is killed, cut or held, and somebody acts.

// nightOf is one such night. It is drawn by its number.
type nightOf struct {
	number int
	mode   mode
	gap    int // the number of the request
	deed   *deed
	pace   int  // how many requests come between two records
	large  bool // transactions are as large as they can be
	slips  bool // a legacy worker is started by mistake
	back   bool // the operator rolls back in the end
	hasty  bool // the workers do all jobs at once, now and then
}

func (n nightOf) String() string {
	return fmt.Sprintf("night %d: %s at request %d, %s; a record every %d requests, large %v, slips %v, hasty %v, back %v", n.number, n.mode, n.gap, n.deed.name, n.pace, n.large, n.slips, n.hasty, n.back)
}

// lateDeeds are what happens in the gap. The record is the one that was submitted last.
var lateDeeds = []string{"a legacy worker takes a record", "a legacy worker does a record", "a legacy worker does a record, and cleans up", failsIt,
	"a legacy worker takes a record and requeues it", submittedAgain, "a legacy administrator marks a record as deleted",
	"a legacy administrator deletes a record", "a legacy administrator renames a record", "a legacy administrator writes a record as it is", "a legacy administrator changes a record",
	"a legacy administrator deletes a record, and a new one gets its name", "the workers do everything", "the workers do everything, and the cleanup",
	"an administrator holds a queue", "a second operator rolls back", "a second operator completes", "a second operator holds", "the election is removed, and a second operator rolls back"}

const failsIt = "a legacy worker fails a record"

const submittedAgain = "a submitter lost the answer, and submits a record again"

const tooLarge = 60 << 10 // with its kept bytes, in one transaction

const mostRequests = 600 // of a follow, about

func drawNight(number int) nightOf {
	r := rand.New(rand.NewPCG(uint64(number), 0))
	n := nightOf{number: number, mode: []mode{held, killed, requestLost, answerLost}[r.IntN(4)], gap: 1 + r.IntN(mostRequests), pace: 1 + r.IntN(8), large: r.IntN(2) == 0, slips: r.IntN(4) == 0, back: r.IntN(5) == 0}
	if i := r.IntN(len(lateDeeds) + 2); i < len(lateDeeds) {
		n.deed = deedOf(lateDeeds[i])
	} else {
		n.deed = &deed{name: "a second operator follows"}
	}
	n.hasty = r.IntN(2) == 0
	return n
}

var followNights = flag.Int("follow.nights", 25, "how many nights of follow")

// TestExplorerFollow lives nights of follow. Each record's work is done once, in one queue, and reported in one mail.
func TestExplorerFollow(t *testing.T) {
	gc := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(gc) })
	count := *followNights
	if *torture {
		count = max(count, 3000)
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			begin := beforeFollow(t, d)
			violations, names, seconds, mails := 0, 0, 0, 0
			for number := range count {
				n := drawNight(number)
				story, failed := world(t, d, night{command: "follow", back: n.back}, begin, func(e *explored) {
					e.liveNight(n)
					for name := range e.names {
						names++
						if strings.HasSuffix(name, "-2") {
							seconds++
						}
					}
					mails += len(e.world.Emails)
				})
				if failed != "" {
					t.Errorf("%v: %s\n    %s", n, failed, strings.Join(story, "\n    "))
					if violations++; violations == enough {
						break
					}
				}
			}
			t.Logf("%d nights, %d batches, %d of them of a second name, %d mails, %d violations", count, names, seconds, mails, violations)
		})
	}
}

// beforeFollow is the moment after a release: of one batch a job is held, one is done, one was removed, and one is complete and not reported.
func beforeFollow(t *testing.T, d newqueue.Dialect) (begin *moment) {
	story, failed := world(t, d, night{}, nil, func(e *explored) {
		e.choices = migration.DefaultChoices()
		e.finishLegacy()
		e.lose(e.paths[inventory]) // it would block the plan
		e.mayStayFailed(e.paths[failedOne])
		e.deposited("10", "bid-gone", legacy.Pending)
		e.must("migrate", "release")
		must(e.world.Run())
		must(e.world.Clean())
		e.deposited("11", "bid-done", legacy.Pending)
		e.must("follow")
		for e.work() {
		}
		e.noteNames(false)
		begin = e.moment()
	})
	if failed != "" {
		t.Fatalf("%s\n    %s", failed, strings.Join(story, "\n    "))
	}
	return begin
}

var reporters = []string{"BatchReport", "UpdateBatchReport", "watcher", "report", "update report"}

// work lets all workers but the reporters take a turn.
func (e *explored) work() (worked bool) {
	for _, a := range e.world.Workers() {
		if !slices.Contains(reporters, a.Name) {
			worked = value(a.Step()) || worked
		}
	}
	return worked
}

// crowd are those who act before each request of follow.
type crowd struct {
	*explored
	night   nightOf
	rand    *rand.Rand
	records []func() string // still to submit
	twins   []string        // whose work was submitted twice
	turns   map[*daemons.Actor]*daemons.Turn
	report  []*daemons.Actor
	cleanup []*daemons.Actor
}

// late are the records that come, in some order.
func (c *crowd) late() (all []func() string) {
	e, r := c.explored, c.rand
	for _, batch := range []string{"bid-1", "bid-1", "bid-1", "bid-done", "bid-done", "bid-gone", "bid-gone", "bid-8", "bid-8", "bid-8", "bid-9"} {
		all = append(all, func() string { return e.deposited(e.newID(), batch, legacy.Pending) })
	}
	all = append(all,
		func() string { return e.deposited(e.newID(), "bid-8", legacy.Held) },
		func() string {
			path := e.deposited(e.newID(), []string{"bid-7", "bid-8"}[r.IntN(2)], legacy.Failed)
			e.mayStayFailed(path)
			return path
		},
		func() string { return e.requested("/accessSmall.1", "token-"+e.newID()) },
		func() string { // the submitter lost an answer, and submits it again
			path := e.deposited(e.newID(), []string{"bid-1", "bid-9"}[r.IntN(2)], legacy.Pending)
			data, _, err := e.conn.Get(path)
			must(err)
			c.twins = append(c.twins, e.key(path))
			return e.create("/ingest/mrtQ-0000", data, zk.FlagSequence)
		},
		func() string { // it can't be in one transaction with its kept bytes
			id := e.newID()
			e.fates["jid-"+id] = fate{1, 1}
			return e.submit("/ingest/mrtQ-0000", legacy.Pending, legacy.Payload{"batchID": "bid-8", "jobID": "jid-" + id, "profile": "merritt_content", "type": "file",
				"filename": id + ".zip", "update": false, "submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id, "title": strings.Repeat("x", tooLarge), "creator": "Someone"})
		})
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (c *crowd) submit() {
	if len(c.records) > 0 {
		path := c.records[0]()
		c.records = c.records[1:]
		if strings.HasPrefix(path, "/ingest/") {
			c.paths[ofBatch] = path
			c.bytes[path], _, _ = c.conn.Get(path)
		}
		c.say("submitted: %s, %s", path, c.key(path))
	}
}

// next lets an actor go on to its next write. A turn that was begun ends before another one begins.
func (c *crowd) next(a *daemons.Actor) {
	t := c.turns[a]
	if t == nil {
		t = a.Begin()
	}
	at, more := t.Next()
	if c.turns[a] = t; !more {
		delete(c.turns, a)
		return
	}
	c.say("  %s is before %s", a.Name, at.Write)
}

// acts lets somebody act before request number n.
func (c *crowd) acts(n int) {
	if n%c.night.pace == 0 {
		c.submit()
	}
	switch i := c.rand.IntN(16); {
	case i < 5:
		c.next(c.report[c.rand.IntN(len(c.report))])
	case i < 8:
		c.next(c.cleanup[c.rand.IntN(len(c.cleanup))])
	case i == 8:
		a := c.cleanup[0]
		a.Kill()
		delete(c.turns, a)
	case i < 12:
		workers := c.world.Workers()
		if a := workers[c.rand.IntN(len(workers))]; !slices.Contains(c.report, a) {
			value(a.Step())
		}
	case i == 13 && c.night.hasty:
		for c.work() {
		}
	case i == 12 && c.night.slips:
		turn(c.world.LegacyWorkers()[:1])
	}
}

func (e *explored) liveNight(n nightOf) {
	c := &crowd{explored: e, night: n, rand: rand.New(rand.NewPCG(uint64(n.number), 1)), turns: map[*daemons.Actor]*daemons.Turn{}}
	e.choices, e.repeated, e.life, e.large = migration.DefaultChoices(), true, true, n.large
	c.records = c.late()
	for _, a := range e.world.Workers() {
		if slices.Contains(reporters, a.Name) {
			c.report = append(c.report, a)
		}
	}
	c.cleanup = []*daemons.Actor{e.world.NewCleanup(), e.world.NewCleanup()}
	c.submit()
	c.follow()
	for len(c.records) > 0 {
		c.submit()
	}
	for _, t := range c.turns {
		_, _ = t.Finish()
	}
	var err error
	for range most {
		if err = e.run("follow"); err == nil || errors.Is(err, migrate.ErrRolledBack) {
			break
		}
	}
	c.removeTwins()
	if err == nil {
		c.nothingStays()
	}
	e.end(&recording{ended: map[[32]byte]bool{}})
	e.mails()
}

// mayStayFailed says that nobody can resume the failed job of a record in dialect design, because no step of it has succeeded.
func (e *explored) mayStayFailed(path string) {
	if e.dialect == newqueue.Design {
		e.mayBeLost(e.key(path))
	}
}

// removeTwins lets a person remove what was submitted twice: one record of each work is left, or its job. A legacy worker does a second one, if it gets it.
func (c *crowd) removeTwins() {
	first := map[string]string{}
	for key, x := range c.world.Executions() { // a cleanup may have removed the job
		if x.Times() > 0 {
			first[key] = "what was done"
		}
	}
	for _, j := range c.jobs() {
		first[j.key] = j.path
	}
	legacyHas := func(path string) bool {
		data, _, err := c.conn.Get(path)
		return err == nil && legacy.Status(data[0]) == legacy.Consumed
	}
	atWork := map[string]int{}
	for _, path := range c.explored.records() {
		if key := c.key(path); legacyHas(path) {
			first[key] = path
			atWork[key]++
		}
	}
	for _, path := range c.explored.records() {
		data, _, _ := c.conn.Get(path)
		switch key := c.key(path); {
		case legacy.Status(data[0]) == legacy.Deleted: // it was requeued: the other one has the work
		case first[key] == "":
			first[key] = path
		case first[key] != path && !legacyHas(path):
			c.say("a person removes %s, which was submitted again: %s", path, first[key])
			must(c.conn.Delete(path, -1))
		}
	}
	for _, key := range c.twins {
		most := 1 + atWork[key]
		for _, w := range c.world.Executions()[key].Workers {
			if strings.Contains(w, "legacy ") {
				most++
			}
		}
		c.fates[key] = fate{c.fates[key].least, most}
	}
}

// nothingStays fails if a record is left that follow can move.
func (c *crowd) nothingStays() {
	for _, path := range c.explored.records() {
		data, _, err := c.conn.Get(path)
		must(err)
		waits := slices.Contains([]legacy.Status{legacy.Pending, legacy.Held, legacy.Failed}, legacy.Status(data[0]))
		if waits && strings.HasPrefix(path, "/ingest/") && len(data) < tooLarge {
			c.failf("a record stays", "%s, %s", path, c.key(path))
		}
	}
}

// follow runs follow, and lets the others act before each of its requests.
func (c *crowd) follow() {
	o, n := c.operator(), c.night
	defer o.close()
	disturbance := c.disturbance(o)
	var second chan outcome
	wrote, writes := c.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool { return op.Write && o.ids[op.Session] }}), 0
	defer wrote.Remove()
	gate, requests := make(chan struct{}), 0
	hold := c.zk.Inject(minizk.Fault{On: o.sends, Do: minizk.Hold(gate)})
	done := c.begin(c.ctx, o, "follow")
	for {
		if !c.await(func() bool { return hold.Matched() > 0 || len(done) > 0 }) {
			c.failf("a command hangs", "follow")
		}
		if len(done) > 0 {
			break
		}
		before := requests
		requests += hold.Matched()
		if wrote.Matched() > writes {
			writes = wrote.Matched()
			c.noteNames(true)
			c.oneQueue()
		}
		c.acts(requests)
		switch {
		case before >= n.gap || requests < n.gap:
		case n.deed.do == nil:
			c.say("%s", n.deed.name)
			other := c.operator()
			defer other.close()
			second = c.begin(c.ctx, other, "follow")
		default:
			path := c.paths[ofBatch]
			key := c.key(path)
			if strings.HasPrefix(n.deed.name, "the workers do everything") {
				// A reporter that stands before its lock would report again what another one has reported: a race of mrt-zk's own.
				for _, a := range c.report {
					if turn := c.turns[a]; turn != nil {
						value(turn.Finish())
						delete(c.turns, a)
					}
				}
			}
			c.act(n.deed, o)
			switch n.deed.name {
			case submittedAgain:
				c.twins = append(c.twins, key)
			case failsIt:
				c.told[key] = true
				c.mayStayFailed(path)
			}
		}
		next := make(chan struct{})
		hold.Remove()
		hold = c.zk.Inject(minizk.Fault{On: o.sends, Do: minizk.Hold(next)})
		close(gate)
		gate = next
	}
	hold.Remove()
	close(gate)
	c.say("follow has ended after %d requests", requests)
	out := <-done
	if out.panicked != nil {
		panic(out.panicked)
	}
	for _, fault := range disturbance {
		fault.Remove()
	}
	if n.mode == killed && disturbance[0].Fired() > 0 {
		time.Sleep(time.Minute) // its session ends
	} else {
		c.learn("follow", out)
	}
	if second != nil {
		if !c.await(func() bool { return len(second) > 0 }) {
			c.failf("a command hangs", "the second follow")
		}
		c.learn("follow", <-second)
	}
}

// disturbance cuts the connection at the night's request, or kills the process there.
func (c *crowd) disturbance(o *operator) []*minizk.Injection {
	n := c.night
	switch n.mode {
	case requestLost:
		return []*minizk.Injection{c.zk.Inject(minizk.Fault{On: o.sends, Nth: n.gap, Do: minizk.CutBefore()})}
	case answerLost:
		return []*minizk.Injection{c.zk.Inject(minizk.Fault{On: o.sends, Nth: n.gap, Do: minizk.CutAfter()})}
	case killed:
		k, sent := &cut{}, 0
		k.faults = []*minizk.Injection{c.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if o.sends(op) {
				sent++
			}
			return o.ids[op.Session] && sent >= n.gap
		}, Do: minizk.CutBefore()})}
		o.kill = k
		return k.faults
	}
	return nil
}

// While something moves, follow says once a minute how much.
func TestFollowSaysHowMuchMoves(t *testing.T) {
	_, failed := world(t, newqueue.MrtZK, night{}, nil, func(e *explored) {
		e.finishLegacy()
		e.must("migrate", "release")
		o := e.operator()
		defer o.close()
		ctx, end := context.WithCancel(e.ctx)
		ended := make(chan error)
		var said []string
		go func() {
			_, err := migrate.Follow(ctx, o.w, migrate.FollowOptions{Every: time.Second, Quiet: time.Second, Notify: func(text string) { said = append(said, text) }})
			ended <- err
		}()
		for i := range 30 { // one every six seconds
			e.deposited(e.newID(), fmt.Sprintf("bid-%d", 20+i), legacy.Pending)
			time.Sleep(6 * time.Second)
		}
		time.Sleep(10 * time.Minute)
		end()
		must(<-ended)
		if len(said) != 4 || !strings.HasPrefix(said[3], "moved until now: ") {
			e.failf("follow says something else", "%q", said)
		}
	})
	if failed != "" {
		t.Error(failed)
	}
}
