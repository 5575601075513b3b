package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Other clients can create any number of these. A look reads only so many.
const (
	locksTried   = 20  // jobs at the head of a state, requests at the head of a queue, batches at either end
	locksListed  = 100 // locks in one folder
	holdsListed  = 100
	statesListed = 20 // folders of undocumented states
	candidates   = 20 // sessions in the election

	inFlight = 64 // requests under way at once
)

// Looker looks at one target again and again over one session. It is not safe
// for concurrent use.
type Looker struct {
	r   *zkconn.Reader
	now func() time.Time

	root  zkconn.Watch
	there bool

	states   *folder            // /jobs/states
	jobs     map[string]*folder // by state
	batches  *folder
	access   map[newqueue.AccessQueue]*folder
	locks    []lockFolder
	holds    []holdFolder
	runs     *folder
	election *folder // the election

	top     *folder         // "/", looked at only if there is no queue
	noQueue *target.NoQueue // what is there instead, as of the last list of top

	run       run // the newest
	migrators []Migrator
	asked     bool // whether the first migrator's own description was read
}

// run is what is known of the newest run.
type run struct {
	path   string // of its znode, "" if there is no run
	watch  zkconn.Watch
	record *ledger.Run
	damage string
}

type lockFolder struct {
	*folder
	kind LockKind
}

type holdFolder struct {
	*folder
	collections bool
}

// NewLooker returns a Looker for the target of a session. now is the clock for
// [Snapshot].At. The caller closes the session, and needs a new Looker for another
// session.
func NewLooker(r *zkconn.Reader, now func() time.Time) *Looker {
	l := &Looker{
		r: r, now: now,
		states:  &folder{path: newqueue.JobStatesPath, keep: watchable},
		jobs:    map[string]*folder{},
		batches: &folder{path: newqueue.BatchesPath, keep: locksTried, age: sequence(newqueue.BatchPrefix)},
		access:  map[newqueue.AccessQueue]*folder{},
		// The dialect decides where the locks on local ids are.
		locks: []lockFolder{
			{newLocks(newqueue.StorageLocksPath), LockStorage},
			{newLocks(newqueue.InventoryLocksPath), LockInventory},
			{newLocks(newqueue.Design.LocalIDLocksPath()), LockLocalID},
			{newLocks(newqueue.MrtZK.LocalIDLocksPath()), LockLocalID},
		},
		holds: []holdFolder{
			{&folder{path: newqueue.QueueLocksPath, keep: holdsListed}, false},
			{&folder{path: newqueue.CollectionLocksPath, keep: holdsListed}, true},
		},
		runs:     &folder{path: ledger.RunsPath, keep: watchable},
		election: &folder{path: ledger.ElectionPath, keep: candidates},
		top:      &folder{path: "/", keep: locksTried},
	}
	for _, state := range documented {
		l.addState(string(state))
	}
	for _, q := range newqueue.AccessQueues {
		l.access[q] = &folder{path: newqueue.AccessQueuePath(q), keep: locksTried, age: sequence(newqueue.AccessPrefix)}
	}
	return l
}

// documented are the states of both dialects, because mrt-zk has all states that
// design has.
var documented = newqueue.MrtZK.JobStates()

func newLocks(path string) *folder { return &folder{path: path, keep: locksListed} }

func (l *Looker) addState(name string) *folder {
	f := &folder{path: znode.Join(newqueue.JobStatesPath, name), keep: locksTried, age: jobOf}
	l.jobs[name] = f
	return f
}

// sequence returns a function that returns a name unchanged if ZooKeeper made it
// from the prefix and a number, and "" for any other name.
func sequence(prefix string) func(name string) string {
	return func(name string) string {
		if _, ok := newqueue.ParseSequenceID(prefix, name); !ok {
			return ""
		}
		return name
	}
}

// jobOf returns the JID of an entry PP-JID in a state's folder, or "" for any other
// name.
func jobOf(entry string) string {
	_, jid, _ := strings.Cut(entry, "-")
	return sequence(newqueue.JobPrefix)(jid)
}

// workable reports whether a worker may lock a job in this state. A look does not
// look for locks in other states.
func workable(state string) bool {
	return state != string(newqueue.JobCompleted) && state != string(newqueue.JobDeleted)
}

// Look reads the target once. Look does not read again what has not changed since
// the look before, as watches and counts show.
//
// The locks of jobs, batches and access requests are the exception, because no list
// has them. Look tries the first jobs of each state, the first requests of each
// queue, and the first and last batches: those that workers take next. So a lock on
// another job is not found.
//
// After an error, use a new Looker with a new session: the session may be lost, and
// the Looker may have missed changes.
func (l *Looker) Look(ctx context.Context) (Snapshot, error) {
	now := l.now()
	if !l.root.Set() || l.root.Fired() {
		var err error
		if _, l.there, l.root, err = l.r.ExistsW(ctx, "/"); err != nil {
			return Snapshot{}, err
		}
	}
	if !l.there {
		l.top.forget()
		return Snapshot{At: now, NoQueue: &target.NoQueue{Missing: true, Znodes: []string{}, Legacy: []string{}, Queues: []string{}}}, nil
	}
	if err := l.lookAtFolders(ctx, now); err != nil {
		return Snapshot{}, err
	}
	tried, err := l.lookAtDetails(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	s := l.snapshot(now, tried)
	s.NoQueue, err = l.readNoQueue(ctx, s)
	return s, err
}

// readNoQueue is what is there instead of a new queue, nil if there is one or if that is not
// known. It reads what is there only when a znode came or went at the top.
func (l *Looker) readNoQueue(ctx context.Context, s Snapshot) (*target.NoQueue, error) {
	if len(s.Jobs)+len(s.Access)+len(s.Batches) > 0 || s.Migration.Path != "" {
		return nil, nil
	}
	if err := l.top.look(ctx, l.r, s.At); err != nil || !l.top.fresh {
		return l.noQueue, err
	}
	found, err := target.ReadNoQueue(ctx, l.r)
	if err == nil && slices.ContainsFunc(found.Znodes, func(name string) bool {
		return "/"+name == newqueue.JobsPath || "/"+name == ledger.MigrationPath
	}) {
		found = nil // a queue without a job
	}
	l.noQueue = found
	return found, err
}

func (l *Looker) lookAtFolders(ctx context.Context, now time.Time) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(inFlight)
	for f := range l.folders {
		g.Go(func() error { return f.look(gctx, l.r, now) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// Undocumented states come and go: keep only those whose folders exist.
	maps.DeleteFunc(l.jobs, func(name string, _ *folder) bool {
		return !newqueue.JobState(name).Known() && !slices.Contains(l.states.first, name)
	})
	for _, name := range l.states.first {
		if l.jobs[name] != nil || len(l.jobs) == len(documented)+statesListed {
			continue
		}
		if err := l.addState(name).look(ctx, l.r, now); err != nil {
			return err
		}
	}
	return nil
}

// folders yields every folder.
func (l *Looker) folders(yield func(*folder) bool) {
	all := []*folder{l.states, l.batches, l.runs, l.election}
	for _, f := range l.jobs {
		all = append(all, f)
	}
	for _, f := range l.access {
		all = append(all, f)
	}
	for _, f := range l.locks {
		all = append(all, f.folder)
	}
	for _, f := range l.holds {
		all = append(all, f.folder)
	}
	for _, f := range all {
		if !yield(f) {
			return
		}
	}
}

// snapshot returns what is known now.
func (l *Looker) snapshot(now time.Time, tried []Lock) Snapshot {
	s := Snapshot{At: now, There: true, Locks: tried}
	s.Migration = Migration{Path: l.run.path, Run: l.run.record, Damage: l.run.damage, Migrators: slices.Clone(l.migrators)}
	for _, state := range documented {
		s.Jobs = l.jobs[string(state)].appendTo(s.Jobs)
	}
	for _, name := range l.states.first {
		if f := l.jobs[name]; f != nil && !newqueue.JobState(name).Known() {
			s.Jobs = f.appendTo(s.Jobs)
		}
	}
	for _, q := range newqueue.AccessQueues {
		s.Access = l.access[q].appendTo(s.Access)
	}
	s.Batches = l.batches.appendTo(s.Batches)
	for _, f := range l.locks {
		if f.there() {
			s.Locks = append(s.Locks, f.folder.locks...)
			s.LockFolders = append(s.LockFolders, LockFolder{f.kind, int(f.stat.NumChildren)})
		}
	}
	for _, f := range l.holds {
		s.Holds = append(s.Holds, f.folder.holds...)
	}
	slices.SortFunc(s.Locks, func(a, b Lock) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Path, b.Path))
	})
	return s
}

// appendTo adds the folder to a list if it exists.
func (f *folder) appendTo(list []Folder) []Folder {
	if !f.there() {
		return list
	}
	return append(list, Folder{Path: f.path, Name: znode.Name(f.path), Stat: f.stat, Unlisted: f.unlisted(), Oldest: f.entry})
}
