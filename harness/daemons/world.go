package daemons

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// Options say what surrounds the services.
type Options struct {
	Conn *zk.Conn
	Root string // chroot of the queue
	// Directories are the existing batchID/jobID below HOME/queue; nil means
	// that all exist.
	Directories map[string]bool
	// Unsized: Estimate can't find out the length of any manifest.
	Unsized bool
}

// Trouble is something that a daemon could not do.
type Trouble struct {
	Daemon services.Daemon
	Effect services.Effect
	Item   string // path of the job, batch or request
	What   string
}

func (t Trouble) String() string {
	return fmt.Sprintf("%s %s %s: %s", t.Daemon, t.Effect, t.Item, t.What)
}

// Mail is a report that was sent.
type Mail struct {
	Batch     string // BID
	To        string // "" for the profile's contacts
	OK        bool
	Completed []string // jobID of configurations
	Failed    []string
}

// World is the services on one queue. They run in turns, so that the same tree
// always gives the same events.
type World struct {
	Options
	*library
	// Took are the daemons that finished a step of an item, in order.
	Took     map[string][]services.Daemon
	Troubles []Trouble
	Mails    []Mail
	Removed  []string // batches that the cleanup removed
	ended    bool     // the inventory thread
	waiting  map[string]bool
	minted   int
	moves    int // changes made, to notice when nothing changes any more
}

// New starts the services; nothing runs before [World.Run].
func New(opt Options) *World {
	return &World{Options: opt, library: &library{conn: opt.Conn, root: opt.Root}, Took: map[string][]services.Daemon{}, waiting: map[string]bool{}}
}

// mostRounds is the limit of a run: a job takes eight rounds, and a batch a few
// more.
const mostRounds = 50

// Run lets every daemon look for work, again and again, until none finds any.
// The hourly cleanup is not part of it, see [World.Clean].
func (w *World) Run() (err error) {
	defer w.lost(&err)
	for range mostRounds {
		before := w.moves
		w.reports() // first, because it need not wait for a job
		w.batches()
		for _, d := range ingestDaemons {
			w.ingest(d)
		}
		w.store()
		w.recording()
		w.updateReports()
		w.assemblies()
		if w.moves == before {
			return nil
		}
	}
	return fmt.Errorf("the services still find work after %d rounds", mostRounds)
}

// lost turns a lost session into an error.
func (w *World) lost(err *error) {
	switch r := recover().(type) {
	case nil:
	case lostError:
		*err = r
	default:
		panic(r)
	}
}

func (w *World) trouble(d services.Daemon, e services.Effect, item string, err error) {
	t := Trouble{d, e, item, err.Error()}
	if !slices.Contains(w.Troubles, t) {
		w.Troubles = append(w.Troubles, t)
		w.moves++
	}
}

func (w *World) took(d services.Daemon, item string) {
	w.Took[item] = append(w.Took[item], d)
	w.moves++
}

// Of are the troubles of one item.
func (w *World) Of(item string) []Trouble {
	var all []Trouble
	for _, t := range w.Troubles {
		if t.Item == item {
			all = append(all, t)
		}
	}
	return all
}

// held reports whether a hold is set. An error of the check counts as no hold.
func (w *World) held() bool { return w.exists(newqueue.QueueHoldPath(newqueue.HoldIngest)) }

// acquire is the part of the main loop that all daemons of jobs share. ok is
// false if the loop must end.
func (w *World) acquire(d services.Daemon, state string) (j *job, ok bool) {
	j, item, err := w.acquireJob(state)
	switch {
	case err != nil && d == services.Inventory:
		// Nobody catches it in the inventory service's loop.
		w.ended = true
		w.trouble(d, services.EndsThread, item, err)
		return nil, false
	case checked(err):
		// It sleeps, and starts with the same job again.
		w.trouble(d, services.StopsQueue, item, err)
		return nil, false
	case err != nil:
		// The lock stays, because its session stays open.
		w.trouble(d, services.Stuck, item, err)
		return nil, true
	case j == nil:
		return nil, false
	case j.status != state && d != services.Inventory:
		w.unlock(j.path())
		w.trouble(d, services.StopsQueue, item, fmt.Errorf("it is %s and stands in the queue of %s", j.status, strings.ToLower(state)))
		return nil, false
	}
	return j, true
}

// fail is the end of every run(): the job is Failed and unlocked.
func (w *World) fail(d services.Daemon, j *job, cause error) {
	err := j.setStatus("Failed", cause.Error())
	w.unlock(j.path())
	if err != nil {
		w.trouble(d, services.Stuck, j.path(), err)
		return
	}
	w.trouble(d, services.Fails, j.path(), cause)
}

// done moves the job to its next state.
func (w *World) done(d services.Daemon, j *job, status, message string) {
	err := j.setStatus(status, message)
	w.unlock(j.path())
	if err != nil {
		w.trouble(d, services.Stuck, j.path(), err)
		return
	}
	w.took(d, j.path())
}

// Jobs are all jobs by id, with their status; "?" for one that can't be read.
func (w *World) Jobs() (states map[string]string, err error) {
	defer w.lost(&err)
	return w.states("/jobs"), nil
}

// Batches are all batches by id, with their status.
func (w *World) Batches() (states map[string]string, err error) {
	defer w.lost(&err)
	return w.states("/batches"), nil
}

// Requests are the access requests of a queue by id, with their status.
func (w *World) Requests(q newqueue.AccessQueue) (states map[string]string, err error) {
	defer w.lost(&err)
	return w.states(newqueue.AccessQueuePath(q)), nil
}

func (w *World) states(parent string) map[string]string {
	states := map[string]string{}
	names, _ := w.children(parent)
	for _, name := range names {
		if name == "states" {
			continue
		}
		o, _ := w.jsonProperty(parent + "/" + name + "/status")
		s, _ := value(o, "status")
		states[name] = cmp.Or(s, "?")
	}
	return states
}
