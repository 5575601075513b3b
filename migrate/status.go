package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Status says where a migration stands. Every screen about that shows this.
type Status struct {
	Runs []RunStatus `json:"runs"` // oldest first
	// Damage says what is wrong with the migration's own records; "" if nothing is.
	Damage   string           `json:"damage"`
	Restored bool             `json:"restored"` // the target was restored from a backup
	Jobs     []StateCount     `json:"jobs"`     // by state
	Access   []AccessCount    `json:"access"`
	Batches  []StateCount     `json:"batches"`
	Holds    []migration.Hold `json:"holds"`
	Locks    []LockStatus     `json:"locks"`
	// Abandoned are access requests in Processing that nobody has locked: in dialect mrt-zk no worker takes them again.
	Abandoned []string `json:"abandoned"`
	// Unreported are batches that wait for no job, and that nobody has reported within [newqueue.ReportedWithin].
	Unreported []UnreportedBatch `json:"unreported"`
	// Migrators counts the migrations that are running, or wait for their turn. Followers counts those who move what still arrives in the legacy queue,
	// or wait for one who does.
	Migrators int `json:"migrators"`
	Followers int `json:"followers"`
	// Legacy has each legacy queue; none if it is in another ensemble.
	Legacy []LegacyStatus `json:"legacy"`
	// NoQueue says what is at the address instead of a new queue; nil if there is one.
	NoQueue *migration.NoQueue `json:"no_queue,omitempty"`
	// Due counts the records of done runs that were not handed over.
	Due int `json:"due"`
	// Uncompleted counts the kept bytes that a completion has left that was interrupted.
	Uncompleted int `json:"uncompleted"`
	// Unfollowed is when the oldest record came that [Follow] would look at, if nobody does; zero if there is none.
	Unfollowed time.Time `json:"unfollowed,omitzero"`
	// Step is what to do now; "" if nothing is left undone.
	Step NextStep `json:"step"`

	current *RunStatus
}

// RunStatus is one run.
type RunStatus struct {
	migration.Run
	Tracked    int `json:"tracked"`     // records that its ledger says it migrated
	Present    int `json:"present"`     // of these, those whose job is there
	Removed    int `json:"removed"`     // the others: finished and cleaned up, or deleted
	HandedOver int `json:"handed_over"` // records that left the legacy queue for their jobs
	// Releasing says that a release has begun to hand over its records, and has not ended.
	Releasing bool `json:"releasing"`
}

// StateCount is how many jobs, requests or batches are in a state.
type StateCount struct {
	State    string `json:"state"`
	Migrated int    `json:"migrated"`
	Others   int    `json:"others"` // that no run created
}

// AccessCount is how many requests of an access queue are in a state.
type AccessCount struct {
	Queue newqueue.AccessQueue `json:"queue"`
	StateCount
}

// LockStatus is one lock and the session that has it.
type LockStatus struct {
	Path    string `json:"path"`
	Session string `json:"session"` // "" for a persistent lock
}

// Newest returns the newest run; nil if there is none.
func (s *Status) Newest() *RunStatus {
	if len(s.Runs) == 0 {
		return nil
	}
	return &s.Runs[len(s.Runs)-1]
}

// Current returns the run that the next step is about: the unfinished one, else the newest; nil if
// there is none.
func (s *Status) Current() *RunStatus { return s.current }

// Releasing reports whether a release has begun to hand over records, and has not ended.
func (s *Status) Releasing() bool {
	return slices.ContainsFunc(s.Runs, func(r RunStatus) bool { return r.Releasing })
}

// Undecided returns the records about which somebody must decide.
func (s *Status) Undecided() (all []migration.Note) {
	for _, l := range s.Legacy {
		all = append(all, l.Undecided...)
	}
	return all
}

// ReadStatus reads where a migration stands, on both sides. It writes nothing. An error comes from reading.
func ReadStatus(ctx context.Context, dst *Reader) (*Status, error) {
	s := &Status{Runs: []RunStatus{}, Access: []AccessCount{}, Abandoned: []string{}, Unreported: []UnreportedBatch{}, Holds: []migration.Hold{}, Locks: []LockStatus{}, Legacy: []LegacyStatus{}}
	t, err := readTarget(ctx, dst)
	if err != nil {
		return nil, err
	}
	names, err := t.ReadNames(ctx)
	if err != nil {
		return nil, err
	}
	reading := statusReader{t: t, names: names, status: s}
	for _, read := range []func(context.Context) error{reading.migrators, reading.states, reading.locks, reading.reports} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	if !t.HasQueue() {
		if s.NoQueue, err = target.ReadNoQueue(ctx, t.Reader); err != nil {
			return nil, err
		}
	}
	reading.runs()
	if t.Damage == nil {
		if s.Uncompleted, err = uncompleted(ctx, t); err != nil {
			return nil, err
		}
		src, err := originOf(ctx, t)
		if err != nil && !errors.Is(err, ErrTwoEnsembles) {
			return nil, err
		}
		if src != nil {
			if s.Legacy, err = readLegacy(ctx, src, t, names); err != nil {
				return nil, err
			}
		}
	}
	s.Step = advise(s)
	for _, l := range s.Legacy {
		if came := time.UnixMilli(l.oldest).UTC(); s.Step == StepFollow && l.oldest != 0 && (s.Unfollowed.IsZero() || came.Before(s.Unfollowed)) {
			s.Unfollowed = came
		}
	}
	return s, nil
}

type statusReader struct {
	t       *target.Target
	names   *target.Names
	status  *Status
	owned   []string          // the runs' jobs and requests, sorted
	waiting []UnreportedBatch // batches in a state in which they are reported when their jobs are done
}

func (r *statusReader) migrators(ctx context.Context) error {
	migrators, err := sessionsIn(ctx, r.t.Reader, ledger.ElectionPath)
	if err != nil {
		return err
	}
	followers, err := sessionsIn(ctx, r.t.Reader, ledger.FollowersPath)
	maps.DeleteFunc(migrators, func(session int64, _ bool) bool { return followers[session] }) // one that moves a record leads meanwhile
	r.status.Migrators, r.status.Followers = len(migrators), len(followers)
	return err
}

// sessionsIn are the sessions that hold a place of an election.
func sessionsIn(ctx context.Context, r *Reader, path string) (map[int64]bool, error) {
	lists, err := r.ChildrenAll(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range lists[0] {
		paths = append(paths, znode.Join(path, name))
	}
	places, err := r.GetAll(ctx, paths)
	sessions := map[int64]bool{}
	for _, place := range places {
		if place.Stat.EphemeralOwner != 0 {
			sessions[place.Stat.EphemeralOwner] = true
		}
	}
	return sessions, err
}

func (r *statusReader) runs() {
	s := r.status
	for _, run := range r.t.Ledger.Runs {
		run.ACL = withoutDigests(run.ACL)
		s.Runs = append(s.Runs, RunStatus{Run: run})
	}
	if current := r.t.Ledger.Current(); current != nil {
		s.current = &s.Runs[r.t.Ledger.FindRun(current.ID)]
	}
	for e := range r.t.Ledger.All() {
		run := &s.Runs[e.Run]
		run.Tracked++
		if e.HandedOver {
			run.HandedOver++
		}
		if r.names.Has(e.Job) {
			run.Present++
		} else {
			run.Removed++
		}
	}
	var releasing []int
	s.Due, releasing = r.t.Unreleased()
	for _, i := range releasing {
		s.Runs[i].Releasing = true
	}
	if r.t.Damage != nil {
		s.Damage = r.t.Damage.Error()
	}
	s.Restored = r.t.RestoredUnnoted()
	s.Holds = append(s.Holds, r.t.Holds...)
}

func withoutDigests(acl []ACL) []ACL {
	acl = slices.Clone(acl)
	for i := range acl {
		if user, _, ok := strings.Cut(acl[i].ID, ":"); ok && acl[i].Scheme == "digest" {
			acl[i].ID = user + ":…"
		}
	}
	return acl
}

func (r *statusReader) states(ctx context.Context) error {
	for e := range r.t.Ledger.All() {
		r.owned = append(r.owned, e.Job)
	}
	slices.Sort(r.owned)
	s := r.status
	if err := r.jobs(ctx); err != nil {
		return err
	}
	dialect, _, err := r.t.Dialect(ctx)
	if err != nil {
		return err
	}
	for _, q := range newqueue.AccessQueues {
		parent, access := newqueue.AccessQueuePath(q), counts{}
		err := r.statuses(ctx, parent, newqueue.AccessPrefix, func(path, state string, _ znode.Node) {
			access.add(state, r.isOwned(path))
			if dialect == newqueue.MrtZK && state == string(newqueue.AccessProcessing) {
				s.Abandoned = append(s.Abandoned, path) // unless there is a lock
			}
		})
		if err != nil {
			return err
		}
		for _, c := range access.list() {
			s.Access = append(s.Access, AccessCount{q, c})
		}
	}
	batches := counts{}
	err = r.statuses(ctx, newqueue.BatchesPath, newqueue.BatchPrefix, func(path, state string, n znode.Node) {
		batches.add(state, r.t.Ledger.Batch(znode.Name(path)) != nil)
		if awaitsReport(state) {
			r.waiting = append(r.waiting, UnreportedBatch{path, state, changedAt(n)})
		}
	})
	s.Batches = batches.list()
	return err
}

func (r *statusReader) isOwned(path string) bool {
	_, ours := slices.BinarySearch(r.owned, path)
	return ours
}

// jobs counts the entries in the queues of all states. A job may have none.
func (r *statusReader) jobs(ctx context.Context) error {
	lists, err := r.t.Reader.ChildrenAll(ctx, []string{newqueue.JobStatesPath})
	if err != nil {
		return err
	}
	states := lists[0]
	slices.Sort(states)
	jobs := counts{}
	for _, state := range states {
		names, err := r.t.Reader.ChildrenAll(ctx, []string{znode.Join(newqueue.JobStatesPath, state)})
		if err != nil {
			return err
		}
		for _, name := range names[0] {
			if _, jid, err := newqueue.ParseJobEntry(name); err == nil {
				jobs.add(state, r.isOwned(newqueue.JobPath(jid)))
			}
		}
	}
	r.status.Jobs = jobs.list()
	return nil
}

func (r *statusReader) statuses(ctx context.Context, parent, prefix string, each func(path, state string, status znode.Node)) error {
	names := slices.DeleteFunc(slices.Clone(r.names.Children(parent)), func(name string) bool {
		_, ok := newqueue.ParseSequenceID(prefix, name)
		return !ok
	})
	for i, name := range names {
		names[i] = znode.Join(parent, name) + "/status"
	}
	return r.t.Reader.MarkUnreadable().GetEach(ctx, names, func(n znode.Node) { each(znode.Parent(n.Path), stateIn(n.Data), n) })
}

func stateIn(data []byte) string {
	if o, err := newqueue.ParseObject(data); err == nil {
		if text, err := o.String("status"); err == nil && text != "" {
			return strings.ToLower(text)
		}
	}
	return "unreadable"
}

type counts map[string]*StateCount

func (c counts) add(state string, ours bool) {
	if c[state] == nil {
		c[state] = &StateCount{State: state}
	}
	if ours {
		c[state].Migrated++
	} else {
		c[state].Others++
	}
}

func (c counts) list() []StateCount {
	list := []StateCount{}
	for _, state := range slices.Sorted(maps.Keys(c)) {
		list = append(list, *c[state])
	}
	return list
}

func (r *statusReader) locks(ctx context.Context) error {
	lists := []string{newqueue.StorageLocksPath, newqueue.InventoryLocksPath}
	for _, d := range newqueue.Dialects {
		lists = append(lists, d.LocalIDLocksPath())
	}
	names, err := r.t.Reader.ChildrenAll(ctx, lists)
	if err != nil {
		return err
	}
	var paths []string
	for i, parent := range lists {
		for _, name := range names[i] {
			paths = append(paths, znode.Join(parent, name))
		}
	}
	for parent, prefix := range target.Numbered {
		for _, name := range r.names.Children(parent) {
			if _, numbered := newqueue.ParseSequenceID(prefix, name); numbered { // /jobs/states is no job
				paths = append(paths, znode.Join(parent, name)+"/lock")
			}
		}
	}
	err = r.t.Reader.MarkUnreadable().GetEach(ctx, paths, func(n znode.Node) {
		l := LockStatus{Path: n.Path}
		if n.Stat.EphemeralOwner != 0 {
			l.Session = fmt.Sprintf("%#x", n.Stat.EphemeralOwner)
		}
		r.status.Locks = append(r.status.Locks, l)
	})
	r.status.Abandoned = slices.DeleteFunc(r.status.Abandoned, func(request string) bool {
		return slices.ContainsFunc(r.status.Locks, func(l LockStatus) bool { return l.Path == request+"/lock" })
	})
	slices.SortFunc(r.status.Locks, func(a, b LockStatus) int { return cmp.Compare(a.Path, b.Path) })
	return err
}
