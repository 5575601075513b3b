package accept

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// world is one scenario's: a chroot of its own, who acts in it, and what the
// second connection saw before and after the last act.
type world struct {
	spelling
	suite *suite
	ctx   context.Context // the scenario's: steps have no other way to it
	root  string
	now   time.Time // what the clock of the code under test says
	// actors are whoever has a session, by what scenarios call them.
	actors map[string]*actor
	// names are the paths of what scenarios have given a name: "job A".
	names map[string]string

	before *znode.Tree  // before the last act
	want   *znode.Tree  // before, with what the Thens have said since
	seen   *znode.Tree  // after the last act, and what was written by hand since
	there  *znode.Tree  // after the last act
	byHand []znode.Node // written by hand since
	last   outcome
	saw    []sighting
	// unsettled: an act's outcome has not been compared as a whole yet.
	unsettled bool
	uuid      string // of the scenario's submission
	highest   string // id of a batch that there has been
	report    newqueue.Report
	target    string   // where the last step that can't be was to lead
	jobs      []wanted // of the scenario's table
	onTheWay  []error  // what was not as documented in an act of several steps
	// meanwhile, unless it is nil, is what somebody else does just before the
	// code under test writes.
	meanwhile func() error
}

// outcome is what the code under test answered, for a Then to judge.
type outcome struct {
	err    error
	judged bool // a Then has looked at the error
	// warnings, ids, report, fired and looked are the answers of those operations that
	// have one.
	warnings []string
	ids      []string
	report   newqueue.Report
	fired    int
	looked   []string
}

// actor is somebody with a session, and what he has acquired in it.
type actor struct {
	conn   *zkconn.Session
	q      *newqueue.Queue
	job    *newqueue.Job
	batch  *newqueue.Batch
	access *newqueue.Access
}

// start is when every scenario begins; all that its Givens wrote is older.
var start = time.Date(2024, 3, 1, 12, 0, 0, 0, time.FixedZone("", -8*3600))

// longAgo is when what the Givens write was last touched.
var longAgo = start.Add(-240 * time.Hour)

// actTimeout bounds one act; nothing in a scenario waits for long.
const actTimeout = 30 * time.Second

// setUp makes the scenario's chroot with what is always there.
func (w *world) setUp(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
	w.ctx, w.spelling = ctx, spell(dialectOf(sc))
	if err := context.Cause(ctx); err != nil {
		return ctx, err
	}
	return ctx, w.furnish()
}

// tearDown gives the sessions back, removes the chroot, and judges what no Then
// has.
func (w *world) tearDown(ctx context.Context, sc *godog.Scenario, err error) (context.Context, error) {
	for _, a := range w.actors {
		w.suite.idle.put(a.conn)
	}
	if ctx.Err() != nil {
		return ctx, nil // the run is over; whatever this one has shown doesn't count
	}
	if w.suite.opt.Tidy && w.there != nil {
		w.suite.door.remove(w.root, w.there)
	}
	var own error
	if err == nil && w.unsettled {
		own = errors.New("the scenario ends, and no Then has compared the whole tree after its last act")
	}
	w.suite.finished(sc, w, errors.Join(err, own))
	return ctx, own // godog has the other already
}

// actor opens a session for whoever has none yet.
func (w *world) actor(name string) (*actor, error) {
	if a, ok := w.actors[name]; ok {
		return a, nil
	}
	conn, err := w.suite.idle.take(w.ctx)
	if err != nil {
		return nil, w.stopIfLost(err)
	}
	a := &actor{conn: conn, q: w.suite.open(conn, w,
		newqueue.WithRoot(w.root), newqueue.WithClock(func() time.Time { return w.now }))}
	w.actors[name] = a
	return a, nil
}

// act has somebody call the code under test, and looks at the tree before and
// after. The answer is stored and not judged.
func (w *world) act(name string, do func(ctx context.Context, a *actor, answer *outcome) error) error {
	if w.unsettled {
		return errors.New("nobody has compared the whole tree after the act before this one")
	}
	a, err := w.actor(name)
	if err != nil {
		return err
	}
	if w.before == nil || len(w.byHand) > 0 {
		if err := w.look(); err != nil {
			return err
		}
	}
	w.before = w.seen
	w.now = w.now.Add(time.Minute)
	w.last = outcome{}
	ctx, cancel := context.WithTimeout(w.ctx, actTimeout)
	defer cancel()
	w.last.err = w.stopIfLost(do(ctx, a, &w.last))
	w.unsettled = true
	w.want = w.before.Clone()
	if w.meanwhile != nil {
		return errors.New("nothing was written, and nobody was quicker")
	}
	return w.look()
}

// arrange is an act that is not what the scenario is about: it must succeed.
func (w *world) arrange(name string, do func(ctx context.Context, a *actor, answer *outcome) error) error {
	if err := w.act(name, do); err != nil {
		return err
	}
	w.unsettled = false
	if w.last.err != nil {
		return fmt.Errorf("this is needed for the scenario and failed: %w", w.last.err)
	}
	return nil
}

// look sees what the tree is, and what has happened since the last look.
func (w *world) look() error {
	if known, err := w.flush(); known || err != nil {
		return err
	}
	seen, err := w.suite.door.tree(w.root, w.there)
	if err != nil {
		return w.stopIfLost(err)
	}
	w.saw = append(w.saw, w.observe(w.seen, seen))
	w.seen, w.there = seen, seen.Clone()
	return nil
}

// write makes znodes by hand, at the latest before anybody acts. What is
// written by hand is nobody's step.
func (w *world) write(nodes ...znode.Node) error {
	for _, n := range nodes {
		if err := w.seen.Put(n); err != nil {
			return err
		}
	}
	w.byHand = append(w.byHand, nodes...)
	return nil
}

// flush sends what was written by hand. known says that this was all that there
// is, and needn't be looked at: see [door.write].
func (w *world) flush() (known bool, err error) {
	if len(w.byHand) == 0 {
		return false, nil
	}
	nodes := w.byHand
	w.byHand = nil
	made, err := w.suite.door.write(w.root, w.there, nodes...)
	if made != nil {
		w.seen, w.there = made, made.Clone()
	}
	return made != nil, w.stopIfLost(err)
}

// stopIfLost ends the whole run when err says that a connection broke: what is
// seen after that proves nothing, neither of this scenario nor of the next.
func (w *world) stopIfLost(err error) error {
	for _, lost := range connectionLost {
		if errors.Is(err, lost) {
			w.suite.stop(fmt.Errorf("the connection was lost: %w", err))
			return err
		}
	}
	if connecting := (*zkconn.ConnectError)(nil); errors.As(err, &connecting) {
		w.suite.stop(err)
	}
	return err
}

// connectionLost is how a broken connection shows in errors, those of the code
// under test included.
var connectionLost = []error{
	zk.ErrNoServer, zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing,
	newqueue.ErrUnknownOutcome, newqueue.ErrNotDone,
}

// furnish makes the scenario's chroot and what is in it before any batch or job.
func (w *world) furnish() (err error) {
	if _, err := w.suite.door.conn.Create(w.root, []byte{}, 0, w.suite.door.acl); err != nil {
		return w.stopIfLost(fmt.Errorf("make the scenario's chroot: %w", err))
	}
	w.seen, w.there = znode.NewTree(), znode.NewTree()
	var nodes []znode.Node
	for _, state := range w.folders {
		nodes = append(nodes, znode.Node{Path: "/jobs/states/" + state, Data: []byte{}})
	}
	if len(nodes) == 0 {
		return nil
	}
	return w.write(nodes...)
}

// path is the path of what a scenario has given a name.
func (w *world) path(name string) (string, error) {
	if p, ok := w.names[name]; ok {
		return p, nil
	}
	return "", fmt.Errorf("the scenario has no %s", name)
}
