package accept

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/accept/library"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

type request = library.Request

// world belongs to one scenario. It has a chroot of its own, the scenario's actors, and
// what the second connection observed before and after the last act.
type world struct {
	spelling
	suite *suite
	ctx   context.Context // the scenario's, because steps get no other
	root  string
	now   time.Time // the time on the clock of the code under test
	began time.Time // the last act, on the machine's clock
	// actors has the actors by their names in scenarios, and others the sessions of clients that are none.
	actors map[string]*actor
	others []*zk.Conn
	// names has the paths of items by their names in the scenario, such as "job A".
	names map[string]string

	before *znode.Tree // the tree before the last act
	want   *znode.Tree // before, with the changes that the Thens have named since
	seen   *znode.Tree // the tree after the last act, with byHand
	byHand []any       // the operations of what Givens have written since, not yet sent
	last   outcome
	saw    sighting
	lacks  string     // what the code under test has nothing for; then the scenario is not offered
	mu     sync.Mutex // guards lacks: several actors may be at work
	// unchecked is true if no Then has compared the whole tree since the last act.
	unchecked bool
	uuid      string   // of the scenario's submission
	earlier   []string // the ids of batches before the last submission
	jobs      []nodes  // of the scenario's table
	onTheWay  []error  // what was wrong during a When with several steps
}

// start is the time at which every scenario begins. The times that its Givens write are
// earlier.
var start = time.Date(2024, 3, 1, 12, 0, 0, 0, time.FixedZone("", -8*3600))

var longAgo = start.Add(-240 * time.Hour)

// actTimeout is the limit of one act. Nothing in a scenario waits for long. A driver that does not answer is
// killed before.
const actTimeout = 35 * time.Second

type actor struct {
	library.Session
	able library.Capabilities
	has  string // the path of what it acquired last
}

type outcome struct {
	library.Answer
	able     library.Capabilities // who has answered
	err      error
	judged   bool   // a Then has checked the error
	fired    int    // how often the watch did
	item, to string // what the last request was about, and the state to which it should move that
	watched  bool   // a watcher has waited
}

func (w *world) setUp(ctx context.Context, _ *godog.Scenario) (context.Context, error) {
	w.ctx, w.spelling = ctx, spell(newqueue.Dialect(runner.CaseOf(ctx).Dialect))
	if err := context.Cause(ctx); err != nil {
		return ctx, err
	}
	if _, err := w.suite.observer.conn.Create(w.root, []byte{}, 0, w.suite.observer.acl); err != nil {
		return ctx, w.stopIfLost(fmt.Errorf("create the scenario's chroot: %w", err))
	}
	w.seen = znode.NewTree()
	all := nodes{}
	if w.mrtZK() { // the deployed library expects them
		for _, at := range append([]string{w.localIDs}, startFolders...) {
			all[at] = ""
		}
		for _, state := range states.States(states.Job, string(w.dialect)) {
			all["/jobs/states/"+state] = ""
		}
	}
	return ctx, w.write(all)
}

// startFolders are the folders of a queue that was just set up, beside those of states and of local ids.
var startFolders = []string{"/batches", "/batch-uuids", "/jobs/states", "/access/small", "/access/large",
	"/locks/queue", "/locks/storage", "/locks/inventory", "/locks/collections"}

// tearDown puts the sessions back. The scenario fails if no Then has compared the whole tree after its last act.
func (w *world) tearDown(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
	for _, a := range w.actors {
		_ = a.End() // the scenario is over
	}
	for _, conn := range w.others {
		conn.Close()
	}
	if ctx.Err() != nil {
		return ctx, nil // the run was stopped, so this scenario does not count
	}
	var own error
	if err == nil && w.lacks == "" && w.unchecked {
		own = errors.New("the scenario ends, and no Then has compared the whole tree after its last act")
	}
	w.suite.ended(runner.CaseOf(ctx), w, errors.Join(err, own))
	return ctx, own // godog has err already
}

func (w *world) actor(name string) (*actor, error) {
	if a, ok := w.actors[name]; ok {
		return a, nil
	}
	l := w.suite.libraries[library.RoleOf(name)]
	s, err := l.Open(w.ctx, w.root, w.dialect)
	if err != nil {
		return nil, w.stopIfLost(err)
	}
	a := &actor{Session: s, able: l.Capabilities()}
	w.actors[name] = a
	return a, nil
}

// act lets an actor send requests, until one is refused. They have the names of items, in place of their paths.
func (w *world) act(name string, requests ...request) error {
	return w.during(name, func(ctx context.Context, a *actor) error {
		for _, r := range requests {
			r.Item = w.names[r.Item]
			if err := w.do(ctx, a, r, &w.last); err != nil {
				return err
			}
		}
		return nil
	})
}

// do sends a request to the code under test. It is the only place that does. A request without an item is about
// what the actor has acquired.
func (w *world) do(ctx context.Context, a *actor, r request, answer *outcome) (err error) {
	wants := r.Item
	switch {
	case r.Verb == "acquire":
		r.Item = ""
	case r.Item == "" && r.What == "":
		r.Item = a.has
	}
	if r.What == "" {
		r.What = kindOf(r.Item)
	}
	r.Now = w.now
	got, err := a.Do(ctx, r)
	if got.Report == nil { // it is finished after it was made
		got.Report = answer.Report
	}
	answer.Answer, answer.able = got, a.able
	answer.item, answer.to, answer.watched = r.Item, r.To, answer.watched || r.Verb == "await-emptied"
	if got.Yes {
		answer.fired++
	}
	switch refused := (*library.Refusal)(nil); {
	case errors.As(err, &refused) && refused.Kind == library.Unsupported:
		w.mu.Lock()
		w.lacks = strings.TrimSpace(r.Verb + " " + r.What)
		w.mu.Unlock()
		return fmt.Errorf("%w: %w", errNotOffered, err)
	case err != nil || r.Verb != "acquire":
		return err
	}
	if kindOf(answer.Item) != r.What {
		return fmt.Errorf("it has answered acquire with the item %q, which is the path of no %s, such as %s0000000002", answer.Item, r.What, examples[r.What])
	}
	if a.has = answer.Item; wants != "" && wants != a.has {
		return fmt.Errorf("the next %s in %s is %s, expected %s", r.What, r.From, a.has, wants)
	}
	return nil
}

var examples = map[string]string{"job": "/jobs/jid", "batch": "/batches/bid", "request": "/access/small/qid"}

// errNotOffered says that the code under test has nothing that does what a scenario needs. godog skips the rest.
var errNotOffered = fmt.Errorf("not offered: %w", godog.ErrSkip)

// during lets an actor call the code under test, and reads the tree before and after.
// It stores the answer and does not check it.
func (w *world) during(name string, do func(context.Context, *actor) error) error {
	if w.unchecked {
		return errors.New("no Then has compared the whole tree after the act before this one")
	}
	a, err := w.actor(name)
	if err != nil {
		return err
	}
	if w.before == nil || len(w.byHand) > 0 {
		if err := w.observe(); err != nil {
			return err
		}
	}
	w.before = w.seen
	w.now = w.now.Add(time.Minute)
	w.last, w.began = outcome{}, time.Now()
	ctx, cancel := context.WithTimeout(w.ctx, actTimeout)
	defer cancel()
	if w.last.err = w.stopIfLost(do(ctx, a)); errors.Is(w.last.err, errNotOffered) || errors.As(w.last.err, new(*library.DriverError)) {
		return w.last.err
	}
	w.unchecked = true
	w.want = w.before.Clone()
	return w.observe()
}

// arrange is an act that only prepares the scenario, so it must succeed.
func (w *world) arrange(name string, r request) error {
	if err := w.act(name, r); err != nil {
		return err
	}
	w.unchecked = false
	if w.last.err != nil {
		return fmt.Errorf("preparing the scenario failed: %w", w.last.err)
	}
	return nil
}

func (w *world) observe() error {
	if err := w.flush(); err != nil {
		return err
	}
	reader := w.suite.observer.reader.WithChroot(w.root)
	if err := reader.Sync(w.ctx); err != nil {
		return w.stopIfLost(err)
	}
	seen, err := reader.Tree(w.ctx)
	if err != nil {
		return w.stopIfLost(err)
	}
	w.saw.observe(w.spelling, w.seen, seen)
	w.seen = seen
	return nil
}

// write creates znodes by hand, and the missing folders above them, or sets their data. They
// are sent in one transaction, at the latest before the next act. observe does not take
// them for steps.
func (w *world) write(all nodes) error {
	put := func(at string, data []byte) error {
		if w.seen.Get(at) != nil {
			w.byHand = append(w.byHand, &zk.SetDataRequest{Path: w.root + at, Data: data, Version: -1})
		} else {
			w.byHand = append(w.byHand, &zk.CreateRequest{Path: w.root + at, Data: data, Acl: w.suite.observer.acl})
		}
		return w.seen.Put(znode.Node{Path: at, Data: data})
	}
	for _, at := range paths(all) {
		for i, c := range at {
			if folder := at[:i]; c == '/' && i > 0 && w.seen.Get(folder) == nil {
				if err := put(folder, []byte{}); err != nil {
					return err
				}
			}
		}
		if err := put(at, encode(all[at])); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) flush() error {
	if len(w.byHand) == 0 {
		return nil
	}
	ops := w.byHand
	w.byHand = nil
	if _, err := w.suite.observer.conn.Multi(ops...); err != nil {
		return w.stopIfLost(fmt.Errorf("write by hand: %w", err))
	}
	return nil
}

// stopIfLost ends the whole run if err says that a connection broke. After that, the
// tree proves nothing about this scenario or the next.
func (w *world) stopIfLost(err error) error {
	driver, connecting := (*library.DriverError)(nil), (*zkconn.ConnectError)(nil)
	switch {
	case errors.Is(err, library.ErrLost), errors.As(err, &driver) && driver.Ends, errors.As(err, &connecting):
		w.suite.stop(err)
	case session.Lost(err), errors.Is(err, zkconn.ErrSessionLost):
		w.suite.stop(fmt.Errorf("%w: %w", library.ErrLost, err))
	}
	return err
}

// timeIn is the time that the last act has to write in a field: what its clock said. An implementation without a clock
// of ours may write any time since the act began.
func (w *world) timeIn(at, key string) string {
	want := w.time(w.now)
	if n := w.seen.Get(at); n != nil && w.suite.ownClocks {
		text, _ := parse(n.Data).get(key).(string)
		if t, err := time.Parse(w.timeFormat, text); err == nil && !t.Before(w.began.Truncate(time.Second)) && !t.After(time.Now()) {
			return text
		}
	}
	return want
}
