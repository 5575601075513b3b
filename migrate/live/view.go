// Package live watches a target while it is in use: how many jobs are in each
// state, which locks and holds there are, and how far a migration is.
//
// A [Looker] looks at a target again and again, and each look returns a [View], which is
// what the command mrtq watch shows. A [History] keeps the views of the last minute, and
// adds rates to the newest.
//
//	looker := live.NewLooker(reader, time.Now)
//	var history live.History
//	for range time.Tick(time.Second) {
//		view, err := looker.Look(ctx)
//		if err != nil {
//			return err
//		}
//		history = history.Add(view)
//		show(history.View())
//	}
//
// reader is a [migrate.Reader]. Looking changes nothing, because such a session cannot
// write. It is also cheap. A look never reads every job: it takes the number of jobs from
// the Stat of their folder, and lists a folder only if it has changed.
package live

import (
	"fmt"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Window is the time over which rates are computed.
const Window = time.Minute

// LockKind is what a lock locks.
type LockKind string

// The kinds of locks.
const (
	LockJob       LockKind = "job"
	LockBatch     LockKind = "batch"
	LockAccess    LockKind = "access"
	LockStorage   LockKind = "storage"
	LockInventory LockKind = "inventory"
	LockLocalID   LockKind = "localid"
)

// LockKinds are all kinds of locks.
var LockKinds = []LockKind{LockJob, LockBatch, LockAccess, LockStorage, LockInventory, LockLocalID}

// View is what an operator needs to know of a target. Its JSON is stable: it is
// what mrtq watch -o ndjson prints (docs/json.md).
type View struct {
	Time   time.Time `json:"time"`   // when the view is shown; the caller sets it
	Target string    `json:"target"` // the target's name; the caller sets it
	// The caller also sets these three. Connected is true if the newest look
	// succeeded. While it is false, Trouble says why, and all fields below are as
	// they were at AsOf.
	Connected bool    `json:"connected"`
	Trouble   string  `json:"trouble,omitempty"`
	Troubled  float64 `json:"trouble_seconds,omitempty"` // for how many seconds

	AsOf time.Time `json:"as_of,omitzero"` // when the newest look began, zero if there was none
	// NoQueue is what is there instead of a new queue, nil if there is one.
	NoQueue *target.NoQueue `json:"no_queue,omitempty"`

	Jobs    []Queue `json:"jobs"`             // one for each state
	Access  []Queue `json:"access"`           // one for each access queue
	Batches []Queue `json:"batches"`          // one for all batches, or none
	Source  []Queue `json:"source,omitempty"` // legacy queues and locks, named by their znodes, if they are watched
	// Records are the legacy records that somebody has to look at; nil until the caller has
	// looked for them.
	Records   *RecordsView `json:"records,omitempty"`
	Holds     []HoldView   `json:"holds"`
	Locks     LocksView    `json:"locks"`
	Migration *RunView     `json:"migration,omitempty"` // the unfinished run, else the newest; nil if there is none
	Migrators int          `json:"migrators"`           // processes in the election: one works, the others wait
	Leader    string       `json:"leader,omitempty"`    // how the running one describes itself
	Notes     []string     `json:"notes"`               // what needs the operator's attention
}

// Queue counts the jobs of a state, the requests of a queue, or all batches.
type Queue struct {
	Name  string `json:"name"`  // of the state or queue
	Count int    `json:"count"` // how many there are now
	// Entered and Left count what came and what left since the folder was created.
	Entered int64 `json:"entered"`
	Left    int64 `json:"left"`
	// In and Out are what came and left per minute, over the last minute. They are nil
	// until there are two snapshots.
	In  *float64 `json:"in_per_minute,omitempty"`
	Out *float64 `json:"out_per_minute,omitempty"`
	// Oldest is the job, request or batch that was created first. It is nil if there
	// is none or it is not known.
	Oldest *OldestView `json:"oldest,omitempty"`

	czxid int64 // of the folder: a folder that was created again has new counts
}

// OldestView is the oldest job, request or batch of a [Queue].
type OldestView struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"age_seconds"`  // since it was created
	Here    float64 `json:"here_seconds"` // since it came into this state or queue
}

// RecordsView names legacy records that somebody has to look at.
type RecordsView struct {
	AsOf   time.Time `json:"as_of"`
	Late   Named     `json:"late"`               // added since the migration
	Missed Named     `json:"missed"`             // there at the migration, and not migrated
	Twice  Named     `json:"could_run_twice"`    // changed or removed since, and their job can run
	Over   Named     `json:"may_have_run_twice"` // changed since, and their job is over
	Gone   int       `json:"gone"`               // that retire did not remove
	Kept   int       `json:"kept"`               // to be retired, since every run was rolled back
}

// Named counts records, and names the first ones.
type Named struct {
	Count int      `json:"count"`
	First []string `json:"first"`
}

// mostNamed is how many records a [Named] names.
const mostNamed = 20

// Add adds records.
func (n *Named) Add(paths []string) {
	n.Count += len(paths)
	n.First = append(n.First, paths[:min(len(paths), mostNamed-len(n.First))]...)
}

// HoldView is one hold.
type HoldView struct {
	Path       string  `json:"path"`
	Name       string  `json:"name"`       // of the queue or the collection
	Collection bool    `json:"collection"` // whether it is on a collection
	Seconds    float64 `json:"age_seconds"`
}

// LocksView lists and counts locks. Those of jobs, batches and requests are only
// the ones that the look found: see [Looker.Look].
type LocksView struct {
	Count  map[LockKind]int `json:"count"`
	Oldest float64          `json:"oldest_seconds"` // 0 without locks
	List   []LockView       `json:"list"`           // oldest first
}

// LockView is one lock.
type LockView struct {
	Kind    LockKind `json:"kind"`
	Path    string   `json:"path"`
	Seconds float64  `json:"age_seconds"`
	Session string   `json:"session"` // the session that holds it, "" for a persistent lock
}

// RunView is a run: what it is doing or has done.
type RunView struct {
	Run          string               `json:"run"`
	State        ledger.RunState      `json:"state,omitempty"`
	Damage       string               `json:"damage,omitempty"` // why the run's record can't be read; then only Run is known
	Source       string               `json:"source,omitempty"`
	Dialect      newqueue.Dialect     `json:"dialect,omitempty"`
	Owner        string               `json:"owner,omitempty"` // the process that wrote last
	Started      time.Time            `json:"started,omitzero"`
	Finished     time.Time            `json:"finished,omitzero"`
	Released     []newqueue.QueueHold `json:"released,omitempty"` // the queues that release has lifted
	Records      int                  `json:"records_done"`
	Total        int                  `json:"records_total,omitempty"` // 0 if it is not known
	Transactions int32                `json:"transactions"`
	// The rates are over the last minute. They are nil until there are two views
	// of the run in this state.
	RecordRate      *float64 `json:"records_per_second,omitempty"`
	TransactionRate *float64 `json:"transactions_per_second,omitempty"`
}

// Unfinished reports whether the run, its rollback or a retire has begun and not ended.
func (r RunView) Unfinished() bool {
	return r.State == ledger.Running || r.State == ledger.RollingBack || r.State == ledger.Retiring
}

func emptyView() View {
	return View{Jobs: []Queue{}, Access: []Queue{}, Batches: []Queue{}, Holds: []HoldView{}, Locks: LocksView{Count: map[LockKind]int{}, List: []LockView{}}, Notes: []string{}}
}

// queueOf counts the children of a folder, with what its version says of those that came
// and left.
func queueOf(name string, stat znode.Stat) Queue {
	created, _ := stat.NextSequence()
	return Queue{Name: name, Count: int(stat.NumChildren), Entered: int64(created), Left: int64(created) - int64(stat.NumChildren), czxid: stat.Czxid}
}

// Total returns the number of locks of all kinds.
func (v LocksView) Total() int {
	n := 0
	for _, c := range v.Count {
		n += c
	}
	return n
}

// History is the views of the last minute, the newest last. Nil is an empty history.
type History []View

// Add returns the history with one more view, and without those that are older than
// [Window]. It does not change h.
func (h History) Add(v View) History {
	first := 0
	for first < len(h)-1 && v.AsOf.Sub(h[first].AsOf) > Window {
		first++
	}
	return append(h[first:len(h):len(h)], v)
}

// View returns the newest view, with rates over the history and notes on the run. The
// caller sets Time, Target, Connected, Trouble and Troubled. Lists are never nil, except
// Source.
func (h History) View() View {
	if len(h) == 0 {
		return emptyView()
	}
	v := h[len(h)-1]
	v.Jobs = h.rates(func(v View) []Queue { return v.Jobs })
	v.Access = h.rates(func(v View) []Queue { return v.Access })
	v.Batches = h.rates(func(v View) []Queue { return v.Batches })
	v.Source = h.rates(func(v View) []Queue { return v.Source })
	if v.Migration != nil {
		v.Migration = h.run(*v.Migration)
		v.Notes = append(slices.Clip(v.Notes), v.Migration.notes(h.attended())...)
	}
	return v
}

// rates are queues of the newest view, with what came and left per minute.
func (h History) rates(of func(View) []Queue) []Queue {
	newest := h[len(h)-1]
	queues := slices.Clone(of(newest))
	for i := range queues {
		q := &queues[i]
		for _, v := range h[:len(h)-1] {
			before := of(v)
			j := slices.IndexFunc(before, func(b Queue) bool { return b.Name == q.Name && b.czxid == q.czxid })
			if j >= 0 {
				minutes := newest.AsOf.Sub(v.AsOf).Minutes()
				q.In, q.Out = rate(q.Entered-before[j].Entered, minutes), rate(q.Left-before[j].Left, minutes)
				break
			}
		}
	}
	return queues
}

// rate returns n per unit of time, or nil if no time has passed or a counter went
// back.
func rate(n int64, per float64) *float64 {
	if per <= 0 || n < 0 {
		return nil
	}
	r := float64(n) / per
	return &r
}

// run is the newest run with its rates.
func (h History) run(r RunView) *RunView {
	newest := h[len(h)-1]
	for _, v := range h[:len(h)-1] {
		if b := v.Migration; b != nil && b.Damage == "" && b.Run == r.Run && b.State == r.State {
			seconds := newest.AsOf.Sub(v.AsOf).Seconds()
			r.RecordRate = rate(int64(r.Records-b.Records), seconds)
			r.TransactionRate = rate(int64(r.Transactions-b.Transactions), seconds)
			break
		}
	}
	return &r
}

// attended reports whether a migrator was in the election at one of the last two
// looks. One look is not enough, because it does not read the election and the
// run's record at the same moment.
func (h History) attended() bool {
	return slices.ContainsFunc(h[max(0, len(h)-2):], func(v View) bool { return v.Migrators > 0 })
}

// notes says what an operator should do about the run.
func (r RunView) notes(attended bool) []string {
	switch {
	case r.Damage != "":
		return []string{fmt.Sprintf("the record of %s can't be used: %s; the target's status says what to do", r.Run, r.Damage)}
	case attended:
	case r.State == ledger.Running:
		return []string{fmt.Sprintf("%s is not finished and no migration is running: run the same migration again to finish it", r.Run)}
	case r.State == ledger.RollingBack:
		return []string{fmt.Sprintf("the rollback of %s is not finished and no migration is running: roll back %s again to finish it", r.Run, r.Run)}
	case r.State == ledger.Retiring:
		return []string{fmt.Sprintf("the retire of the records of %s is not finished and none is running: run mrtq retire again to finish it", r.Run)}
	}
	return nil
}
