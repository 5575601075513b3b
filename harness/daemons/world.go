package daemons

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// Site is a queue in a ZooKeeper.
type Site struct {
	// Connect opens a session. The world closes it. The deployed services ask for a
	// timeout of 6 hours; a server grants at most 20 ticks, 40 s by default.
	Connect func() (Session, error)
	Root    string // chroot of the queue
}

// Session has the methods of a ZooKeeper session that the actors need. A *[zk.Conn] has them.
type Session interface {
	client.Conn
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	Delete(path string, version int32) error
	Close()
}

var _ Session = (*zk.Conn)(nil)

// Options says where the queues are, and what the workers find outside ZooKeeper.
type Options struct {
	New Site
	// Legacy is the legacy queue. Without Connect there are no legacy workers.
	Legacy Site
	// LegacyNodes are the legacy queue's nodes, by kind: ingest, inventory, accessSmall and accessLarge. Nil
	// means the usual ones.
	LegacyNodes map[string][]string
	// Dialect is the new queue's. It is [newqueue.MrtZK] by default, for the deployed
	// services.
	Dialect newqueue.Dialect
	// Home has the jobs' folders. By default every job has one, with its payload.
	Home *Home
	// Unsized says of which manifests Estimate can't find out the length, by their jobs' priority.
	// Nil means of none.
	Unsized func(priority int64) bool
	// Fails makes the work of a worker on a record fail. Nil means that no work fails.
	// For the deployed daemons this is the file HOME/queue/<daemon>_FAIL
	// (docs/deployed-services.md, "The payload").
	Fails func(worker, record string) bool
}

// Trouble says what a daemon could not do, and what effect that has.
type Trouble struct {
	Daemon services.Daemon
	Effect services.Effect
	Item   string // path of the job, batch, request or queue
	What   string // the daemon's error
}

// String returns the trouble as one line.
func (t Trouble) String() string {
	return fmt.Sprintf("%s %s %s: %s", t.Daemon, t.Effect, t.Item, t.What)
}

// Email is a report about a batch that was mailed.
type Email struct {
	Batch     string   // the batch's id
	OK        bool     // whether no job has failed
	Completed []string // the completed jobs, by the jobID of their configuration
	Failed    []string // the failed jobs, by the same
}

// World has all who work on one queue: the legacy workers, the deployed services or the
// workers of dialect design, and administrators.
type World struct {
	Options
	// Took has, by the path of an item, the daemons that finished a step of it, in
	// order.
	Took     map[string][]services.Daemon
	Troubles []Trouble // what the daemons could not do, in order
	Emails   []Email   // the reports that were mailed, in order
	Removed  []string  // the batches that the cleanup removed
	Begun    []string  // the records that workers began, in order: see [World.Executions]

	library    // for reading: it has no actor
	executions map[string]*Execution
	works      map[string]string // whose work a job of dialect design is, by its path
	arks       map[string]string // the identifier service: the object of a local id
	minted     int
	jobs       []string            // below /jobs, when they were read
	byBatch    map[string][]string // the jobs, by the batch that each names in its bid
	all        []*Actor
	workers    []*Actor
	legacy     []*Actor
	cleanup    *Actor
	own        *Actor // an administrator who does what a test says
	legacyOwn  *Actor // the same of the legacy queue
}

// New returns a world in which nobody has acted yet, and the services have not started:
// see [World.Start]. Close it with [World.Close].
func New(opt Options) *World {
	opt.Dialect = cmp.Or(opt.Dialect, newqueue.MrtZK)
	if opt.LegacyNodes == nil {
		opt.LegacyNodes = usualNodes
	}
	if opt.Home == nil {
		opt.Home = NewHome()
	}
	w := &World{
		Options: opt, Took: map[string][]services.Daemon{}, executions: map[string]*Execution{}, works: map[string]string{}, arks: map[string]string{},
	}
	w.own = w.actor("administrator", services.Admin, nil)
	w.library = library{conn: w.own.session, root: opt.New.Root}
	if opt.Dialect == newqueue.MrtZK {
		w.workers = w.deployed()
	} else {
		w.workers = w.documented()
	}
	w.cleanup = w.NewCleanup()
	if opt.Legacy.Connect != nil {
		w.legacy = w.consumers()
	}
	return w
}

// Close kills all actors, and ends their sessions.
func (w *World) Close() {
	for _, a := range w.all {
		a.Kill()
		a.Expire()
	}
}

func (w *World) actor(name string, d services.Daemon, act func(*Turn)) *Actor {
	a := &Actor{Name: name, world: w, site: &w.New, daemon: d, act: act, last: map[string]string{}}
	w.all = append(w.all, a)
	return a
}

// Workers returns the workers of the new queue, without the cleanup: one daemon of each
// kind, in dialect mrt-zk also a large and a small access worker.
func (w *World) Workers() []*Actor { return w.workers }

// LegacyWorkers returns the workers of the legacy queue: two consumers for each ingest worker,
// of which the second takes only records of high priority, and one each for inventory,
// small and large requests, and the cleanup.
func (w *World) LegacyWorkers() []*Actor { return w.legacy }

// mostRounds is how many rounds a run may have. A job needs eight, and a batch a few
// more.
const mostRounds = 50

// Run lets every worker look for work in turn until none finds any. It does not run the
// cleanup, see [World.Clean]. The same tree always leads to the same events. The error
// is that a session was lost, or that the workers still find work after 50 rounds.
func (w *World) Run() error { return run(w.workers) }

// RunLegacy is [World.Run] of the legacy workers, with their cleanup.
func (w *World) RunLegacy() error { return run(w.legacy) }

func run(workers []*Actor) error {
	for range mostRounds {
		worked := false
		for _, a := range workers {
			for {
				did, err := a.Step()
				if err != nil {
					return err
				}
				if !did {
					break
				}
				worked = true
			}
		}
		if !worked {
			return nil
		}
	}
	return fmt.Errorf("the workers still find work after %d rounds", mostRounds)
}

// Clean runs the cleanup once. The deployed services run it when they start and then
// every hour.
func (w *World) Clean() error {
	_, err := w.cleanup.Step()
	return err
}

// NewCleanup returns another process of the cleanup: each ingest host has one.
func (w *World) NewCleanup() *Actor {
	act := (*Turn).clean
	if w.Dialect == newqueue.Design {
		act = (*Turn).cleanDocumented
	}
	return w.actor(string(services.Cleanup), services.Cleanup, act)
}

// Start does what the deployed services do when they start: it makes the folders of the
// layout that are missing, and runs the cleanup. Afterwards only BatchConsumer and the
// reporters make folders, and only those below /jobs and /batches
// (docs/deployed-services.md, "Folders"). In dialect design it only makes the folders.
func (w *World) Start() error {
	_, err := w.own.begin(func(t *Turn) {
		if w.Dialect == newqueue.Design {
			ctx, q := t.queue()
			t.err = q.Init(ctx)
			return
		}
		t.err = t.makeFolders(slices.Concat(lockFolders, jobFolders, accessFolders))
	}).Finish()
	if err != nil || w.Dialect == newqueue.Design {
		return err
	}
	return w.Clean()
}

func (w *World) trouble(t Trouble) bool {
	if slices.Contains(w.Troubles, t) {
		return false
	}
	w.Troubles = append(w.Troubles, t)
	return true
}

// Of returns the troubles with one item.
func (w *World) Of(item string) []Trouble {
	return slices.DeleteFunc(slices.Clone(w.Troubles), func(t Trouble) bool { return t.Item != item })
}

// States returns the status of each item below a folder, such as /jobs or /batches, by
// the item's id. It is "?" if it can't be read.
func (w *World) States(folder string) (states map[string]string, err error) {
	defer lost(&err)
	return w.states(folder), nil
}

func (l *library) states(parent string) map[string]string {
	states := map[string]string{}
	names, _ := l.children(parent)
	for _, name := range names {
		if name == "states" {
			continue
		}
		s, _ := value(l.peekJSON(parent+"/"+name+"/status"), "status")
		states[name] = cmp.Or(s, "?")
	}
	return states
}
