package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/election"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Other clients can create any number of these. A look reads only so many.
const (
	locksTried   = 20  // jobs at the head of a state, requests at the head of a queue, batches at either end
	locksListed  = 100 // locks or holds in one folder
	statesListed = 20  // folders of undocumented states
	candidates   = 20  // sessions in the election

	// A folder with more children than few is listed less often, if it changes: so that watch
	// reads listedPerSecond names a second.
	few             = 1000
	listedPerSecond = 10_000
)

// Looker looks at one target again and again over one session. It is not safe
// for concurrent use.
type Looker struct {
	r    *zkconn.Reader
	now  func() time.Time
	kept map[string]kept // by the path of a folder that was listed
}

// kept is what a Looker keeps of a list of children.
type kept struct {
	stat        znode.Stat // of the folder, before it was listed
	at          time.Time  // when it was listed
	first, last []string   // names, in byte order
	oldest      string     // name of the oldest job, batch or request
	refused     bool       // the server refused to list it
}

// NewLooker returns a Looker for the target of a session. now is the clock for ages and for
// AsOf of [View]. The caller closes the session, and needs a new Looker for another session.
func NewLooker(r *zkconn.Reader, now func() time.Time) *Looker {
	return &Looker{r: r.MarkUnreadable(), now: now, kept: map[string]kept{}}
}

// look is one look at a target.
type look struct {
	*Looker
	ctx   context.Context
	view  View
	stats map[string]znode.Stat // of the folders that are there, by path
	nodes map[string]znode.Node // what the lists name
}

// Look reads the target once. The view has no rates: see [History.View].
//
// No list has the locks of jobs, batches and access requests. Look tries the first jobs of
// each state, the first requests of each queue, and the first and last batches: those that
// workers take next. So a lock on another job is not found.
//
// After an error, use a new Looker with a new session, because the session may be lost.
func (l *Looker) Look(ctx context.Context) (View, error) {
	k := look{Looker: l, ctx: ctx, view: emptyView()}
	k.view.AsOf = l.now()
	_, there, err := l.r.Exists(ctx, "/")
	if err != nil || !there {
		k.view.NoQueue = &target.NoQueue{Missing: true, Znodes: []string{}, Legacy: []string{}, Queues: []string{}}
		return k.view, err
	}
	states, err := k.states()
	if err != nil {
		return View{}, err
	}
	queues := slices.Concat(states, []folder{batches, access(newqueue.AccessSmall), access(newqueue.AccessLarge)})
	all := slices.Concat(queues, locks, holds, []folder{runs, migrants})
	if err := k.read(all); err != nil {
		return View{}, err
	}
	k.showQueues(states)
	k.showLocks(queues)
	k.showHolds()
	k.showMigration()
	return k.view, k.findNoQueue()
}

// states are the folders of the documented states, then of others that are there.
func (k *look) states() (list []folder, err error) {
	names, err := k.r.Children(k.ctx, newqueue.JobStatesPath)
	if err != nil && !errors.Is(err, znode.ErrNoNode) && !errors.Is(err, zkconn.ErrNoAuth) {
		return nil, err
	}
	others := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(documented, newqueue.JobState(name)) })
	for _, state := range documented {
		list = append(list, jobs(string(state)))
	}
	for _, name := range others[:min(len(others), statesListed)] {
		list = append(list, jobs(name))
	}
	return list, nil
}

// read reads the folders, and the znodes that their lists name.
func (k *look) read(folders []folder) error {
	var paths []string
	for _, f := range folders {
		paths = append(paths, f.path)
	}
	nodes, err := k.r.GetAll(k.ctx, paths, nil)
	if err != nil {
		return err
	}
	k.stats = map[string]znode.Stat{}
	for _, n := range nodes {
		k.stats[n.Path] = n.Stat
	}
	paths = nil
	for _, f := range folders {
		if err := k.list(f); err != nil {
			return err
		}
		paths = append(paths, k.named(f)...)
	}
	nodes, err = k.r.GetAll(k.ctx, paths, nil)
	k.nodes = map[string]znode.Node{}
	for _, n := range nodes {
		k.nodes[n.Path] = n
	}
	return err
}

// list lists a folder, if it has changed since it was listed.
func (k *look) list(f folder) error {
	stat, there := k.stats[f.path]
	if !there {
		delete(k.kept, f.path)
		return nil
	}
	if !k.kept[f.path].isDue(stat, k.view.AsOf) {
		return nil
	}
	names, err := k.r.Children(k.ctx, f.path)
	list := kept{stat: stat, at: k.view.AsOf, refused: errors.Is(err, zkconn.ErrNoAuth)}
	if err != nil && !list.refused && !errors.Is(err, znode.ErrNoNode) {
		return err
	}
	list.first = slices.Clone(names[:min(f.keep, len(names))])
	list.last = slices.Clone(names[max(len(list.first), len(names)-f.keep):])
	for _, name := range names {
		if f.id != nil && f.id(name) != "" && (list.oldest == "" || f.id(name) < f.id(list.oldest)) {
			list.oldest = name
		}
	}
	k.kept[f.path] = list
	return nil
}

// isDue reports whether a folder should be listed, which has this Stat now.
func (l kept) isDue(stat znode.Stat, now time.Time) bool {
	n := int(stat.NumChildren)
	switch {
	case l.at.IsZero():
		return true
	case stat.Czxid == l.stat.Czxid && stat.Pzxid == l.stat.Pzxid && stat.Aversion == l.stat.Aversion:
		return false
	case n > few:
		return now.Sub(l.at) >= time.Duration(n)*time.Second/listedPerSecond
	}
	return true
}

// named are the paths of what a folder's list names, and of the locks to try.
func (k *look) named(f folder) (paths []string) {
	list := k.kept[f.path]
	switch {
	case f.path == runs.path:
		for _, run := range k.runs() {
			paths = append(paths, ledger.RunPath(run))
		}
	case f.id == nil:
		for _, name := range list.first {
			paths = append(paths, znode.Join(f.path, name))
		}
	default:
		if list.oldest != "" {
			paths = append(paths, znode.Join(f.path, list.oldest), f.of(f.id(list.oldest)))
		}
		paths = append(paths, k.lockPaths(f)...)
	}
	return paths
}

// lockPaths are the locks to try of a folder's jobs, batches or requests.
func (k *look) lockPaths(f folder) (paths []string) {
	names := k.kept[f.path].first
	if f.path == batches.path {
		names = slices.Concat(names, k.kept[f.path].last)
	}
	for _, name := range names {
		if id := f.id(name); id != "" && f.locks != "" {
			paths = append(paths, f.of(id)+"/lock")
		}
	}
	return paths
}

// runs are the listed runs, the oldest first.
func (k *look) runs() []string {
	list := k.kept[runs.path]
	return slices.DeleteFunc(slices.Concat(list.first, list.last), func(name string) bool { return !ledger.IsRun(name) })
}

func (k *look) showQueues(states []folder) {
	for _, f := range states {
		k.view.Jobs = k.appendQueue(k.view.Jobs, f)
	}
	for _, q := range newqueue.AccessQueues {
		k.view.Access = k.appendQueue(k.view.Access, access(q))
	}
	k.view.Batches = k.appendQueue(k.view.Batches, batches)
}

// appendQueue adds a folder to a list, if it is there.
func (k *look) appendQueue(list []Queue, f folder) []Queue {
	stat, there := k.stats[f.path]
	if !there {
		return list
	}
	q := queueOf(znode.Name(f.path), stat)
	switch of := k.kept[f.path]; {
	case of.refused:
		k.view.Notes = append(k.view.Notes, fmt.Sprintf("%s: no permission to list it, so neither its oldest entry nor its locks are known", f.path))
	case of.oldest != "":
		id := f.id(of.oldest)
		here, there := k.nodes[znode.Join(f.path, of.oldest)]
		if itself, exists := k.nodes[f.of(id)]; there && exists {
			q.Oldest = &OldestView{ID: id, Seconds: k.age(itself), Here: k.age(here)}
		}
	}
	return append(list, q)
}

// age is how old a znode is, in seconds. It is never negative, although the server's clock
// may be ahead of ours.
func (k *look) age(n znode.Node) float64 {
	return max(0, k.view.AsOf.Sub(time.UnixMilli(n.Stat.Ctime)).Round(time.Millisecond).Seconds())
}

func (k *look) showLocks(queues []folder) {
	v := &k.view.Locks
	add := func(kind LockKind, path string) bool {
		n, there := k.nodes[path]
		if !there {
			return false
		}
		l := LockView{Kind: kind, Path: path, Seconds: k.age(n)}
		if n.Stat.EphemeralOwner != 0 {
			l.Session = fmt.Sprintf("%#x", n.Stat.EphemeralOwner)
		}
		v.List, v.Oldest = append(v.List, l), max(v.Oldest, l.Seconds)
		return true
	}
	for _, f := range queues {
		for _, path := range k.lockPaths(f) {
			if add(f.locks, path) {
				v.Count[f.locks]++
			}
		}
	}
	for _, f := range locks {
		if stat, there := k.stats[f.path]; there {
			v.Count[f.locks] += int(stat.NumChildren)
		}
		for _, path := range k.named(f) {
			add(f.locks, path)
		}
	}
	slices.SortFunc(v.List, func(a, b LockView) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Path, b.Path))
	})
}

// showHolds lists the holds. In dialect design, the folder of the locks on local ids is
// beside the holds on queues, and is no hold.
func (k *look) showHolds() {
	for _, f := range holds {
		for _, path := range k.named(f) {
			if n, there := k.nodes[path]; there && path != newqueue.Design.LocalIDLocksPath() {
				k.view.Holds = append(k.view.Holds, HoldView{Path: path, Name: znode.Name(path), Collection: f.path == newqueue.CollectionLocksPath, Seconds: k.age(n)})
			}
		}
	}
}

// showMigration shows the unfinished run, else the newest, and who is in the election. The first
// place that a session holds leads.
func (k *look) showMigration() {
	v := &k.view
	for _, path := range k.named(migrants) {
		if n, there := k.nodes[path]; there && election.Held(n.Stat) {
			if v.Migrators++; v.Migrators == 1 {
				v.Leader = string(n.Data)
			}
		}
	}
	for _, run := range slices.Backward(k.runs()) {
		n, there := k.nodes[ledger.RunPath(run)]
		if !there {
			continue
		}
		if r := runView(run, n); v.Migration == nil || r.Unfinished() {
			v.Migration = r
		}
	}
}

// runView is what the record of a run says.
func runView(run string, n znode.Node) *RunView {
	r, err := ledger.ParseRun(n)
	switch {
	case n.Unreadable != "":
		return &RunView{Run: run, Damage: "no permission to read it"}
	case err != nil:
		return &RunView{Run: run, Damage: err.Error()}
	}
	return &RunView{
		Run: r.ID, State: r.State, Source: r.Source, Dialect: r.Dialect, Owner: r.Owner, Started: r.Started, Finished: r.Finished, Released: r.ReleasedQueues(),
		Records: r.Created.Records(), Total: r.Total, Transactions: r.Stat.Version,
	}
}

// findNoQueue says what is there instead of a new queue.
func (k *look) findNoQueue() error {
	v := &k.view
	if len(v.Jobs)+len(v.Access)+len(v.Batches) > 0 || v.Migration != nil {
		return nil
	}
	found, err := target.ReadNoQueue(k.ctx, k.r)
	if err == nil && !slices.ContainsFunc(found.Znodes, func(name string) bool { return "/"+name == newqueue.JobsPath || "/"+name == ledger.MigrationPath }) {
		v.NoQueue = found // otherwise it is a queue without a job
	}
	return err
}

// LegacyQueues counts the records of the legacy queues and the legacy locks that are there,
// for Source of [View]. r is a session with the source. Each has its path as its name.
func LegacyQueues(ctx context.Context, r *zkconn.Reader, queues rules.Queues) (list []Queue, err error) {
	nodes, err := r.MarkUnreadable().GetAll(ctx, queues.Roots(), nil)
	for _, n := range nodes {
		list = append(list, queueOf(n.Path, n.Stat))
	}
	return list, err
}
