package accept

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// refusals has the error for each reason that a Then can give.
var refusals = map[string]error{
	"the lock is already held":                        client.ErrLocked,
	"only the worker that holds the lock may do this": client.ErrNotLocked,
	"the caller does not hold that lock":              client.ErrNotLocked,
	"no step of it has succeeded yet":                 client.ErrNotResumable,
	"it has unfinished jobs":                          client.ErrStillProcessing,
	"it already has jobs":                             client.ErrHasJobs,
	"there already is a batch with that UUID":         client.ErrExists,
	"only a batch that is processing takes jobs":      client.ErrNotProcessing,
	"a priority has two digits":                       newqueue.ErrPriority,
	"the layout does not allow the value":             newqueue.ErrValue,
	"another client changed it first":                 client.ErrConflict,
	"the queue is held":                               client.ErrHeld,
	"it is in another state":                          errState,
	"an administrator may not do that":                errState,
}

// errState stands for every *newqueue.StateError.
var errState = errors.New("a state error")

func (w *world) isRefused(why string) error {
	w.last.judged = true
	if w.last.err == nil {
		return errors.New("it was not refused")
	}
	want, known := refusals[why]
	if !known {
		return fmt.Errorf("the test knows no error for %q", why)
	}
	var state *client.StateError
	if !errors.Is(w.last.err, want) && (want != errState || !errors.As(w.last.err, &state)) {
		return fmt.Errorf("it was refused for another reason: %w", w.last.err)
	}
	return nil
}

func (w *world) acquiresNothing() error {
	w.last.judged = true
	if w.last.err == nil {
		return errors.New("it acquired something")
	}
	if !errors.Is(w.last.err, client.ErrNone) {
		return fmt.Errorf("it acquired nothing, but for another reason: %w", w.last.err)
	}
	return nil
}

// subject returns the path of the scenario's job, batch or request.
func (w *world) subject() string {
	for _, name := range []string{"job", "batch", "request"} {
		if at, ok := w.names[name]; ok {
			return at
		}
	}
	return ""
}

// something writes an entity of any kind in any state.
func (w *world) something(what, state, acquired string) error {
	switch what {
	case "job":
		return w.aJob(state, acquired)
	case "batch":
		return w.aBatch(state, acquired)
	}
	return w.aRequest(state, acquired)
}

// isIllegal expects the typed error with all its fields. The When before has set the
// target state.
func (w *world) isIllegal(from, what, allowed string) error {
	w.last.judged = true
	var e *client.StateError
	if !errors.As(w.last.err, &e) {
		return fmt.Errorf("it was not refused as an illegal step: %w", orDone(w.last.err))
	}
	want := client.StateError{Entity: entityOf[what], Path: w.names[what], From: from, To: w.target}
	if allowed != "no state" {
		want.Allowed = strings.Fields(allowed)
	}
	if !reflect.DeepEqual(*e, want) {
		return fmt.Errorf("the error says %+v, expected %+v", *e, want)
	}
	return nil
}

// entityOf is the reverse of nouns.
var entityOf = map[string]newqueue.Entity{
	"job": newqueue.EntityJob, "batch": newqueue.EntityBatch, "request": newqueue.EntityAccess,
}

// orDone returns err, or an error that says that there was none.
func orDone(err error) error {
	if err == nil {
		return errors.New("it succeeded")
	}
	return err
}

func (w *world) lockIsReleased() error {
	for _, name := range []string{"job", "batch", "request"} {
		if at, ok := w.names[name]; ok && w.before.Get(at+"/lock") != nil {
			return w.wantGone(at + "/lock")
		}
	}
	return errors.New("no lock was held before")
}

// lockByHand creates a lock as a worker with the client library would.
func (w *world) lockByHand(what string) error {
	a, err := w.actor("another client")
	if err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	if _, err := a.conn.Create(w.root+w.names[what]+"/lock", []byte{}, zk.FlagEphemeral, w.suite.observer.acl); err != nil {
		return fmt.Errorf("lock the %s: %w", what, err)
	}
	w.before, w.seen = nil, w.seen.Clone()
	return w.seen.Put(znode.Node{Path: w.names[what] + "/lock", Data: []byte{}})
}

// newcomers returns the names in a folder that were not there before the last act.
func (w *world) newcomers(folder string) []string {
	old := w.before.Children(folder)
	return slices.DeleteFunc(w.seen.Children(folder), func(name string) bool {
		return name == "states" || slices.Contains(old, name)
	})
}
