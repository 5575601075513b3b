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

// Options says where the queue is, and what the services find outside ZooKeeper.
type Options struct {
	Conn *zk.Conn // stays open: the caller closes it
	Root string   // chroot of the queue
	// Directories has the directories batchID/jobID that exist below HOME/queue.
	// Nil means that all exist.
	Directories map[string]bool
	// Unsized means that Estimate can't find out the length of any manifest.
	Unsized bool
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

// Mail is a report about a batch that was mailed.
type Mail struct {
	Batch     string   // the batch's id
	To        string   // "" means only the profile's contacts
	OK        bool     // whether no job has failed
	Completed []string // the completed jobs, by the jobID of their configuration
	Failed    []string // the failed jobs, by the same
}

// World has all services of one queue. They take turns, so that the same tree always
// leads to the same events. It is not safe for concurrent use.
type World struct {
	Options
	*library
	// Took has, by the path of an item, the daemons that finished a step of it, in
	// order.
	Took     map[string][]services.Daemon
	Troubles []Trouble // what the daemons could not do, in order
	Mails    []Mail    // the reports that were mailed, in order
	Removed  []string  // the batches that the cleanup removed
	ended    bool      // whether the inventory thread has ended
	waiting  map[string]bool
	minted   int
	moves    int // how many changes the services have made, to notice when they stop
}

// New returns the services of a queue. They do nothing before [World.Run].
func New(opt Options) *World {
	return &World{Options: opt, library: &library{conn: opt.Conn, root: opt.Root}, Took: map[string][]services.Daemon{}, waiting: map[string]bool{}}
}

// mostRounds is how many rounds a run may have. A job needs eight, and a batch a few
// more.
const mostRounds = 50

// Run lets every daemon look for work in turn until none finds any. It does not run
// the hourly cleanup, see [World.Clean]. The error is that the session was lost, or
// that the daemons still find work after 50 rounds.
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

// Of returns the troubles with one item.
func (w *World) Of(item string) []Trouble {
	var all []Trouble
	for _, t := range w.Troubles {
		if t.Item == item {
			all = append(all, t)
		}
	}
	return all
}

// held reports whether there is a hold on ingest. If the check fails, the daemons take
// that as no hold.
func (w *World) held() bool { return w.exists(newqueue.QueueHoldPath(newqueue.HoldIngest)) }

// acquire is the part of the main loop that all daemons of jobs share. ok is
// false if the loop must end.
func (w *World) acquire(d services.Daemon, state string) (j *job, ok bool) {
	j, item, err := w.acquireJob(state)
	switch {
	case err != nil && d == services.Inventory:
		// Nothing catches the exception in the inventory service's loop.
		w.ended = true
		w.trouble(d, services.EndsThread, item, err)
		return nil, false
	case checked(err):
		// The daemon sleeps, and begins with the same job again.
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
		w.trouble(d, services.StopsQueue, item, fmt.Errorf("it is %s but is in the queue of %s", j.status, strings.ToLower(state)))
		return nil, false
	}
	return j, true
}

// fail does what every run() does in the end if there was an exception: the job becomes
// Failed and is unlocked.
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

// Jobs returns the status of each job, by the job's id. It is "?" if it can't be read.
func (w *World) Jobs() (states map[string]string, err error) {
	defer w.lost(&err)
	return w.states("/jobs"), nil
}

// Batches returns the status of each batch, by the batch's id. It is "?" if it can't be
// read.
func (w *World) Batches() (states map[string]string, err error) {
	defer w.lost(&err)
	return w.states("/batches"), nil
}

// Requests returns the status of each access request of a queue, by the request's id.
// It is "?" if it can't be read.
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
