package daemons

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/layout/merritt/services"
)

// Actor is one worker of a world: a daemon of the services, a legacy worker, a worker
// of dialect design, or an administrator. It stands for one process, with a session of
// its own.
//
// It acts in turns. In one turn it looks for work, takes at most one item, and works on
// it to the end. [Actor.Step] takes a whole turn. [Actor.Begin] begins one that stops
// before each write, so that a test can let other clients act there, or kill the process.
//
// A world, with its actors and their turns, needs one goroutine at a time.
type Actor struct {
	Name string

	world  *World
	site   *Site
	daemon services.Daemon // "" for a worker that is none of the services' daemons
	act    func(*Turn)
	conn   Session           // nil before its first turn, and after its session has ended
	killed []Session         // sessions of killed processes, which the server has not ended yet
	open   []*Turn           // turns that have begun and not ended
	ended  bool              // the thread has ended, until the process is started again
	last   map[string]string // the item at which its last search has ended, by what it searched
}

// Pause is where a turn stops: before a write, or because it waits for a lock.
type Pause struct {
	Write string // what comes next, such as "set /jobs/jid0000000001/status"
	Waits string // the lock that it waits for, such as "/locks/storage/ark_99999_fk4x"
}

// Turn is one turn of an actor. It is begun by [Actor.Begin].
type Turn struct {
	library
	actor *Actor
	world *World
	next  func() (Pause, bool)
	stop  func()
	at    Pause
	did   bool
	err   error

	objectLocks []string // which the turn deletes in the end
}

// errKilled ends the code of a turn whose process was killed.
var errKilled = errors.New("killed")

// Begin begins a turn, and does nothing yet: see [Turn.Next].
func (a *Actor) Begin() *Turn { return a.begin(a.act) }

func (a *Actor) begin(act func(*Turn)) *Turn {
	t := &Turn{actor: a, world: a.world}
	t.next, t.stop = iter.Pull(func(yield func(Pause) bool) {
		t.library = library{conn: a.session, root: a.site.Root, pause: func(p Pause) {
			if !yield(p) {
				panic(errKilled)
			}
		}}
		defer func() {
			if r := recover(); r != nil && r != errKilled {
				panic(r)
			}
		}()
		defer lost(&t.err)
		act(t)
	})
	a.open = append(a.open, t)
	return t
}

// session returns the actor's session. It opens one if there is none, as the daemons do
// before most of their calls (ZookeeperUtil.validateZK).
func (a *Actor) session() Session {
	if a.conn == nil {
		conn, err := a.site.Connect()
		if err != nil {
			panic(lostError{fmt.Errorf("%s: %w", a.Name, err)})
		}
		a.conn = conn
	}
	return a.conn
}

// Next continues the turn until just before its next write, or until it waits for a
// lock. It returns false if the turn has ended.
func (t *Turn) Next() (Pause, bool) {
	at, more := t.next()
	t.at = at
	if !more {
		t.actor.open = slices.DeleteFunc(t.actor.open, func(o *Turn) bool { return o == t })
	}
	return at, more
}

// Finish continues the turn to its end, or until it waits for a lock: then the actor's
// next steps try again. did reports whether the actor did anything. The error is an
// administrator's refused action, or a session that the simulation could not open or
// has lost.
func (t *Turn) Finish() (did bool, err error) {
	for {
		if at, more := t.Next(); !more || at.Waits != "" {
			return t.did, t.err
		}
	}
}

// Step takes one turn. First it tries again the locks that earlier turns wait for. did
// and err are as for [Turn.Finish].
func (a *Actor) Step() (did bool, err error) {
	for _, t := range a.waiting() {
		t.did = false
		if did, err := t.Finish(); did || err != nil {
			return did, err
		}
	}
	return a.Begin().Finish()
}

func (a *Actor) waiting() []*Turn {
	return slices.DeleteFunc(slices.Clone(a.open), func(t *Turn) bool { return t.at.Waits == "" })
}

// Kill ends the actor's process as kill -9 does: its turns end where they stopped, and
// nothing is cleaned up. The server does not notice yet: the locks stay until
// [Actor.Expire]. The actor's next turn is that of a new process.
func (a *Actor) Kill() {
	for _, t := range a.open {
		t.stop()
	}
	a.open, a.ended = nil, false
	if a.conn != nil {
		a.killed = append(a.killed, a.conn)
		a.conn = nil
	}
}

// Expire ends the actor's sessions, and with them its locks, as a server does that has
// not heard of a client for the session's timeout. Turns that have begun continue
// without their locks, with a new session.
func (a *Actor) Expire() {
	if a.conn != nil {
		a.killed = append(a.killed, a.conn)
		a.conn = nil
	}
	for _, conn := range a.killed {
		conn.Close()
	}
	a.killed = nil
}

// waits stops the turn because a lock can't be taken. The original tries again for ever.
func (t *Turn) waits(item, lock string) {
	t.trouble(services.Waits, item, fmt.Errorf("it waits for %s", lock))
	t.pause(Pause{Waits: lock})
}

func (t *Turn) trouble(e services.Effect, item string, err error) {
	isNew := t.world.trouble(Trouble{t.actor.daemon, e, item, err.Error()})
	t.did = t.did || isNew || e == services.Fails
}

func (t *Turn) took(item string) {
	t.did = true
	t.world.Took[item] = append(t.world.Took[item], t.actor.daemon)
}

func (t *Turn) work(what, record string, note func(*Execution)) {
	t.before(what, record)
	t.note(record, note)
}

func (t *Turn) note(record string, note func(*Execution)) {
	e := t.world.executions[record]
	if e == nil {
		e = &Execution{}
		t.world.executions[record] = e
		t.world.Begun = append(t.world.Begun, record)
	}
	note(e)
}

func (t *Turn) takes(record string) {
	t.note(record, func(e *Execution) { e.Workers = append(e.Workers, t.actor.Name) })
}

func (t *Turn) reaches(record, state string) {
	t.note(record, func(e *Execution) { e.States = append(e.States, state) })
}

func (t *Turn) fails(record string) bool {
	return t.world.Fails != nil && t.world.Fails(t.actor.Name, record)
}

// search yields the names of a folder's items, in the order in which a worker looks at them. Through a
// mirror it goes on after the item at which its last search for the same has ended, because it would
// look at all of 20,000 for each that it takes.
func (t *Turn) search(folder, want string, names []string) iter.Seq[string] {
	if _, is := t.conn().(*mirrored); !is {
		return slices.Values(names)
	}
	last := want + t.root + folder
	i, _ := slices.BinarySearch(names, t.actor.last[last])
	return func(yield func(string) bool) {
		for _, name := range slices.Concat(names[i:], names[:i]) {
			t.actor.last[last] = name
			if !yield(name) {
				return
			}
		}
	}
}
