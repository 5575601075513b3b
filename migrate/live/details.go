package live

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/election"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
)

// details reads the znodes that the lists of the folders name, many at a time.
type details struct {
	l     *Looker
	ctx   context.Context // of the requests; the first error cancels it
	group *errgroup.Group
	then  []func() // to call when all requests are answered

	mu    sync.Mutex
	locks []Lock
}

// lookAtDetails returns the locks on jobs, batches and access requests that it
// found.
func (l *Looker) lookAtDetails(ctx context.Context) ([]Lock, error) {
	d := &details{l: l}
	d.group, d.ctx = errgroup.WithContext(ctx)
	d.group.SetLimit(inFlight)
	for state, f := range l.jobs {
		d.oldest(f, newqueue.JobPath)
		if workable(state) {
			d.findLocks(LockJob, f.first, jobOf, newqueue.JobPath)
		}
	}
	d.oldest(l.batches, newqueue.BatchPath)
	d.findLocks(LockBatch, slices.Concat(l.batches.first, l.batches.last), l.batches.age, newqueue.BatchPath)
	for q, f := range l.access {
		path := func(qid string) string { return newqueue.AccessRequestPath(q, qid) }
		d.oldest(f, path)
		d.findLocks(LockAccess, f.first, f.age, path)
	}
	for _, f := range l.locks {
		d.each(f.folder, func(list []child) { f.folder.locks = locksOf(f.kind, list) })
	}
	for _, f := range l.holds {
		d.each(f.folder, func(list []child) { f.folder.holds = holdsOf(list, f.collections) })
	}
	d.each(l.election, func(list []child) { l.migrators, l.asked = migratorsOf(list), false })
	d.group.Go(func() error { return l.lookAtRun(d.ctx) })
	if err := d.group.Wait(); err != nil {
		return nil, err
	}
	for _, f := range d.then {
		f()
	}
	return d.locks, l.askLeader(ctx)
}

// child is one child of a folder.
type child struct {
	path string
	stat znode.Stat // zero if it was deleted meanwhile
}

// each reads the Stats of a folder's first children and passes them to use. It does
// nothing if this look did not list the folder.
func (d *details) each(f *folder, use func([]child)) {
	if !f.fresh {
		return
	}
	list := make([]child, len(f.first))
	for i, name := range f.first {
		list[i].path = znode.Join(f.path, name)
		d.group.Go(func() (err error) {
			list[i].stat, _, err = d.l.r.Exists(d.ctx, list[i].path)
			return err
		})
	}
	d.then = append(d.then, func() {
		use(slices.DeleteFunc(list, func(c child) bool { return c.stat == znode.Stat{} }))
	})
}

// oldest reads when the oldest entry of a folder was created, and when it came into
// the folder.
func (d *details) oldest(f *folder, path func(id string) string) {
	if !f.fresh {
		return
	}
	f.entry = nil
	if f.oldest == "" {
		return
	}
	d.group.Go(func() error {
		here, there, err := d.l.r.Exists(d.ctx, znode.Join(f.path, f.oldest))
		if err != nil || !there {
			return err
		}
		id := f.age(f.oldest)
		itself, there, err := d.l.r.Exists(d.ctx, path(id))
		if err != nil || !there {
			return err
		}
		f.entry = &Entry{ID: id, Made: millis(itself.Ctime), Since: millis(here.Ctime)}
		return nil
	})
}

// findLocks looks for a lock on each job, batch or request that the names stand for.
func (d *details) findLocks(kind LockKind, names []string, idOf, path func(string) string) {
	for _, name := range names {
		id := idOf(name)
		if id == "" {
			continue
		}
		d.group.Go(func() error {
			at := path(id) + "/lock"
			stat, there, err := d.l.r.Exists(d.ctx, at)
			if err != nil || !there {
				return err
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.locks = append(d.locks, locksOf(kind, []child{{at, stat}})...)
			return nil
		})
	}
}

func locksOf(kind LockKind, list []child) []Lock {
	var locks []Lock
	for _, c := range list {
		locks = append(locks, Lock{Kind: kind, Path: c.path, Since: millis(c.stat.Ctime), Session: c.stat.EphemeralOwner})
	}
	return locks
}

// holdsOf returns the holds among the children of a folder. In dialect design, the
// folder of the locks on local ids is beside the holds on queues, and is no hold.
func holdsOf(list []child, collections bool) []Hold {
	var holds []Hold
	for _, c := range list {
		if c.path != newqueue.Design.LocalIDLocksPath() {
			holds = append(holds, Hold{Path: c.path, Name: znode.Name(c.path), Collection: collections, Since: millis(c.stat.Ctime)})
		}
	}
	return holds
}

// migratorsOf returns the migrators in the election. A znode that no session holds
// is not a migrator.
func migratorsOf(list []child) []Migrator {
	var migrators []Migrator
	for _, c := range list {
		if election.Held(c.stat) {
			migrators = append(migrators, Migrator{Path: c.path, Since: millis(c.stat.Ctime)})
		}
	}
	return migrators
}

// askLeader reads how the running migration describes itself.
func (l *Looker) askLeader(ctx context.Context) error {
	if len(l.migrators) == 0 || l.asked {
		return nil
	}
	l.asked = true
	n, err := l.r.Get(ctx, l.migrators[0].Path)
	switch {
	case errors.Is(err, znode.ErrNoNode), errors.Is(err, zkconn.ErrNoAuth):
		return nil
	case err == nil:
		l.migrators[0].Owner = string(n.Data)
	}
	return err
}

// lookAtRun reads the record of the newest run if it has changed.
func (l *Looker) lookAtRun(ctx context.Context) error {
	path := ""
	for _, name := range slices.Backward(slices.Concat(l.runs.first, l.runs.last)) {
		if ledger.IsRun(name) {
			path = znode.Join(ledger.RunsPath, name)
			break
		}
	}
	if path == "" {
		l.run = run{}
		return nil
	}
	if path == l.run.path && !l.run.watch.Fired() {
		return nil
	}
	// Set the watch before reading, so that it fires for every change after the read.
	_, _, watch, err := l.r.ExistsW(ctx, path)
	if err != nil {
		return err
	}
	l.run = run{path: path, watch: watch}
	n, err := l.r.Get(ctx, path)
	if err == nil {
		var r ledger.Run
		if r, err = ledger.ParseRun(n); err == nil {
			l.run.record = &r
			return nil
		}
		l.run.damage = err.Error()
		return nil
	}
	switch {
	case errors.Is(err, znode.ErrNoNode): // it was rolled back: the watch on the list of runs fires
		return nil
	case errors.Is(err, zkconn.ErrNoAuth):
		l.run.damage = "no permission to read it"
		return nil
	}
	return err
}
