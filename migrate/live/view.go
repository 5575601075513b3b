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

// History is the snapshots of the last minute, the newest last. Nil is an empty
// history.
type History []Snapshot

// Add returns the history with one more snapshot, and without those that are older
// than [Window]. It does not change h.
func (h History) Add(s Snapshot) History {
	first := 0
	for first < len(h)-1 && s.At.Sub(h[first].At) > Window {
		first++
	}
	return append(h[first:len(h):len(h)], s)
}

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

	AsOf  time.Time `json:"as_of,omitzero"` // when the newest look began, zero if there was none
	There bool      `json:"there"`          // whether the target's chroot exists
	// NoQueue is what is there instead of a new queue, nil if there is one.
	NoQueue *target.NoQueue `json:"no_queue,omitempty"`

	Jobs      []Queue    `json:"jobs"`             // one for each state
	Access    []Queue    `json:"access"`           // one for each access queue
	Batches   []Queue    `json:"batches"`          // one for all batches, or none
	Source    []Queue    `json:"source,omitempty"` // legacy queues and locks, named by their znodes, if they are watched
	Holds     []HoldView `json:"holds"`
	Locks     LocksView  `json:"locks"`
	Migration *RunView   `json:"migration,omitempty"` // the newest run, nil if there is none
	Migrators int        `json:"migrators"`           // processes in the election: one works, the others wait
	Leader    string     `json:"leader,omitempty"`    // how the running one describes itself
	Notes     []string   `json:"notes"`               // what needs the operator's attention
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
}

// OldestView is the oldest job, request or batch of a [Queue].
type OldestView struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"age_seconds"`  // since it was created
	Here    float64 `json:"here_seconds"` // since it came into this state or queue
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

// RunView is the newest run: what it is doing or has done.
type RunView struct {
	Run          string           `json:"run"`
	State        ledger.RunState  `json:"state,omitempty"`
	Damage       string           `json:"damage,omitempty"` // why the run's record can't be read; then only Run is known
	Source       string           `json:"source,omitempty"`
	Dialect      newqueue.Dialect `json:"dialect,omitempty"`
	Owner        string           `json:"owner,omitempty"` // the process that wrote last
	Started      time.Time        `json:"started,omitzero"`
	Finished     time.Time        `json:"finished,omitzero"`
	Records      int              `json:"records_done"`
	Total        int              `json:"records_total,omitempty"` // 0 if it is not known
	Transactions int32            `json:"transactions"`
	// The rates are over the last minute. They are nil until there are two snapshots
	// of the run in this state.
	RecordRate      *float64 `json:"records_per_second,omitempty"`
	TransactionRate *float64 `json:"transactions_per_second,omitempty"`
	// Left is how many seconds the rest takes at this rate, nil if it is not known.
	Left *float64 `json:"seconds_left,omitempty"`
}

// Unfinished reports whether the run, or its rollback, has begun and not ended.
func (r RunView) Unfinished() bool {
	return r.State == ledger.Running || r.State == ledger.RollingBack
}

// View returns what the newest snapshot shows, with rates over the history. The
// caller sets Time, Target, Connected, Trouble and Troubled. Lists are never nil,
// except Source.
func (h History) View() View {
	v := View{Jobs: []Queue{}, Access: []Queue{}, Batches: []Queue{}, Holds: []HoldView{}, Locks: LocksView{Count: map[LockKind]int{}, List: []LockView{}}, Notes: []string{}}
	if len(h) == 0 {
		return v
	}
	s := h[len(h)-1]
	v.AsOf, v.There, v.NoQueue = s.At, s.There, s.NoQueue
	for _, of := range []struct {
		to      *[]Queue
		folders func(Snapshot) []Folder
	}{
		{&v.Jobs, func(s Snapshot) []Folder { return s.Jobs }},
		{&v.Access, func(s Snapshot) []Folder { return s.Access }},
		{&v.Batches, func(s Snapshot) []Folder { return s.Batches }},
		{&v.Source, func(s Snapshot) []Folder { return s.Source }},
	} {
		for _, f := range of.folders(s) {
			*of.to = append(*of.to, h.queue(f, of.folders))
			if f.Unlisted != "" {
				v.Notes = append(v.Notes, fmt.Sprintf("%s: %s, so neither its oldest entry nor its locks are known", f.Path, f.Unlisted))
			}
		}
	}
	for _, hold := range s.Holds {
		v.Holds = append(v.Holds, HoldView{Path: hold.Path, Name: hold.Name, Collection: hold.Collection, Seconds: age(s.At, hold.Since)})
	}
	v.Locks.fill(s)
	v.Migrators = len(s.Migration.Migrators)
	if v.Migrators > 0 {
		v.Leader = s.Migration.Migrators[0].Owner
	}
	if v.Migration = h.run(); v.Migration != nil {
		v.Notes = append(v.Notes, v.Migration.notes(h.attended())...)
	}
	return v
}

// age returns how old something is, in seconds. It is never negative, although the
// server's clock may be ahead of ours.
func age(now, since time.Time) float64 {
	return max(0, now.Sub(since).Round(time.Millisecond).Seconds())
}

func (h History) queue(f Folder, folders func(Snapshot) []Folder) Queue {
	now := h[len(h)-1].At
	q := Queue{Name: f.Name, Count: int(f.Stat.NumChildren), Entered: f.Created(), Left: f.Removed()}
	if o := f.Oldest; o != nil {
		q.Oldest = &OldestView{ID: o.ID, Seconds: age(now, o.Made), Here: age(now, o.Since)}
	}
	for _, s := range h[:len(h)-1] {
		for _, before := range folders(s) {
			if before.Path == f.Path && before.Stat.Czxid == f.Stat.Czxid {
				q.In = rate(f.Created()-before.Created(), now.Sub(s.At).Minutes())
				q.Out = rate(f.Removed()-before.Removed(), now.Sub(s.At).Minutes())
				return q
			}
		}
	}
	return q
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

func (v *LocksView) fill(s Snapshot) {
	for _, l := range s.Locks {
		lv := LockView{Kind: l.Kind, Path: l.Path, Seconds: age(s.At, l.Since)}
		if l.Session != 0 {
			lv.Session = fmt.Sprintf("%#x", l.Session)
		}
		v.List = append(v.List, lv)
		v.Oldest = max(v.Oldest, lv.Seconds)
		if l.Kind == LockJob || l.Kind == LockBatch || l.Kind == LockAccess {
			v.Count[l.Kind]++
		}
	}
	for _, f := range s.LockFolders {
		v.Count[f.Kind] += f.Count
	}
}

// Total returns the number of locks of all kinds.
func (v LocksView) Total() int {
	n := 0
	for _, c := range v.Count {
		n += c
	}
	return n
}

func (h History) run() *RunView {
	s := h[len(h)-1]
	m := s.Migration
	if m.Path == "" {
		return nil
	}
	if m.Run == nil {
		return &RunView{Run: znode.Name(m.Path), Damage: m.Damage}
	}
	r := m.Run
	v := &RunView{
		Run: r.ID, State: r.State, Source: r.Source, Dialect: r.Dialect, Owner: r.Owner, Started: r.Started, Finished: r.Finished,
		Records: r.Created.Records(), Total: r.Total, Transactions: r.Stat.Version,
	}
	for _, before := range h[:len(h)-1] {
		if b := before.Migration.Run; b != nil && b.ID == r.ID && b.State == r.State {
			seconds := s.At.Sub(before.At).Seconds()
			v.RecordRate = rate(int64(v.Records-b.Created.Records()), seconds)
			v.TransactionRate = rate(int64(v.Transactions-b.Stat.Version), seconds)
			break
		}
	}
	if v.State == ledger.Running && v.RecordRate != nil && *v.RecordRate > 0 && v.Total >= v.Records {
		left := float64(v.Total-v.Records) / *v.RecordRate
		v.Left = &left
	}
	return v
}

// attended reports whether a migrator was in the election at one of the last two
// looks. One look is not enough, because it does not read the election and the
// run's record at the same moment.
func (h History) attended() bool {
	return slices.ContainsFunc(h[max(0, len(h)-2):], func(s Snapshot) bool { return len(s.Migration.Migrators) > 0 })
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
	}
	return nil
}
