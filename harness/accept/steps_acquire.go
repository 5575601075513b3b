package accept

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"

	"github.com/cucumber/godog"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func (w *world) theseJobs(state string, t *godog.Table) error {
	if err := w.newBatch("batch", "processing"); err != nil {
		return err
	}
	for _, r := range t.Rows[1:] {
		numbers := []int{0, 0}
		for i, c := range r.Cells[1:] {
			n, err := strconv.Atoi(c.Value)
			if err != nil {
				return err
			}
			numbers[i] = n
		}
		s := seed{state: state, priority: numbers[0], space: int64(numbers[1])}
		if err := w.newJob("job "+r.Cells[0].Value, "batch", s); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) theseBatches(state string, t *godog.Table) error {
	for _, r := range t.Rows[1:] {
		if err := w.newBatch("batch "+r.Cells[0].Value, state); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) theseRequests(state, size string, t *godog.Table) error {
	for _, r := range t.Rows[1:] {
		if err := w.newAccess("request "+r.Cells[0].Value, size, state); err != nil {
			return err
		}
	}
	return nil
}

// workerNamed returns the name of the actor that a step calls "the worker" or "another
// worker".
func workerNamed(which string) string {
	if which == "the" || which == "" {
		return "worker"
	}
	return "other worker"
}

func (w *world) workerAcquires(which, what, state string) error {
	acquire := acquireJob(state)
	switch what {
	case "batch":
		acquire = acquireBatch(state)
	case "request":
		acquire = acquireAccess(state, "pending")
	}
	return w.act(workerNamed(which), acquire)
}

// workerHas expects the lock, and checks that the worker has acquired what it locks.
func (w *world) workerHas(which, name string) error {
	at, a := w.names[name], w.actors[workerNamed(which)]
	if err := errors.Join(w.done(), w.wantNode(at+"/lock", []byte{})); err != nil {
		return err
	}
	if owner := w.seen.Get(at + "/lock").Stat.EphemeralOwner; owner != a.conn.SessionID() {
		return fmt.Errorf("%s/lock belongs to session %#x, expected %#x", at, owner, a.conn.SessionID())
	}
	for _, has := range a.has() {
		if has == at {
			return nil
		}
	}
	return fmt.Errorf("the worker acquired %v, expected %s", a.has(), at)
}

// has returns the paths of what an actor has acquired.
func (a *actor) has() []string {
	var paths []string
	if a.job != nil {
		paths = append(paths, a.job.Path())
	}
	if a.batch != nil {
		paths = append(paths, a.batch.Path())
	}
	if a.access != nil {
		paths = append(paths, a.access.Path())
	}
	return paths
}

func (w *world) workerUnlocks() error {
	return w.worker(func(ctx context.Context, a *actor) error { return a.job.Unlock(ctx) })
}

// staleEntry writes what the deployed library leaves if one of its steps is
// interrupted, because it writes a job's entries one by one.
func (w *world) staleEntry(name, state string, priority int) error {
	return w.write(znode.Node{Path: entry(state, priority, path.Base(w.names["job "+name])), Data: []byte{}})
}

// actorNamed returns the name of the actor that a step calls "the worker" or "another
// administrator".
func actorNamed(which, who string) string {
	if which == "another" {
		return "other " + who
	}
	return who
}

func (w *world) takesOrReleases(which, who, action, kind, name, owner string) error {
	lock := map[string]newqueue.Lock{
		"queue hold":      newqueue.QueueLock(newqueue.QueueHold(name)),
		"collection hold": newqueue.CollectionLock(name),
		"storage lock":    newqueue.StorageLock(name),
		"inventory lock":  newqueue.InventoryLock(name),
		"local id lock":   newqueue.LocalIDLock(name, owner),
	}[kind]
	return w.act(actorNamed(which, who), func(ctx context.Context, a *actor, _ *outcome) error {
		if action == "releases" {
			return a.q.Unlock(ctx, lock)
		}
		return a.q.Lock(ctx, lock)
	})
}

// sessionEnds ends a session as if its client had died. It closes the session at once,
// which the server would do after the timeout.
func (w *world) sessionEnds(which, who string) error {
	name := actorNamed(which, who)
	err := w.act(name, func(_ context.Context, a *actor, _ *outcome) error {
		a.conn.Close()
		return nil
	})
	delete(w.actors, name)
	return err
}

func (w *world) lockIsThere(at, howLong string) error {
	if err := errors.Join(w.done(), w.wantNode(at, []byte{})); err != nil {
		return err
	}
	ephemeral := w.seen.Get(at).Stat.EphemeralOwner != 0
	if want := howLong == "ends with the session"; ephemeral != want {
		return fmt.Errorf("%s is ephemeral: %t, expected %t", at, ephemeral, want)
	}
	return nil
}

func (w *world) lockIs(at, how string) error {
	if how == "removed" {
		return w.wantGone(at)
	}
	return w.wantNode(at, []byte{})
}

func (w *world) adminMoves(what, to string) error {
	w.target = to
	at := w.names[what]
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error {
		switch what {
		case "job":
			return a.q.MoveJob(ctx, path.Base(at), "", newqueue.JobState(to))
		case "batch":
			return a.q.MoveBatch(ctx, path.Base(at), "", newqueue.BatchState(to))
		}
		queue, qid := queueOf(at)
		return a.q.MoveRequest(ctx, queue, qid, "", newqueue.AccessState(to))
	})
}

func (w *world) workerMoves(to string) error {
	w.target = to
	return w.worker(func(ctx context.Context, a *actor) error {
		switch {
		case a.job != nil:
			return a.job.MoveTo(ctx, newqueue.JobState(to))
		case a.batch != nil:
			return a.batch.MoveTo(ctx, newqueue.BatchState(to))
		}
		return a.access.MoveTo(ctx, newqueue.AccessState(to), "")
	})
}
