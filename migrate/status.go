package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/election"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// Status is where a migration stands. Every screen that says so shows this.
type Status struct {
	Runs []RunStatus `json:"runs"` // oldest first
	// Damage says what is wrong with the migration's own records; "" if nothing is.
	Damage   string       `json:"damage"`
	Restored bool         `json:"restored"` // the target was restored from a backup
	Jobs     []StateCount `json:"jobs"`     // by state
	Access   []StateCount `json:"access"`
	Batches  []StateCount `json:"batches"`
	Holds    []HoldStatus `json:"holds"`
	Locks    []LockStatus `json:"locks"`
	// AtWork counts the migrations that are running, or wait for their turn.
	AtWork int `json:"migrators"`
	// Legacy has each legacy queue, if a source was given.
	Legacy []LegacyStatus `json:"legacy,omitempty"`
	// NoQueue says what is at the address instead of a new queue; nil if there is one.
	NoQueue *NoQueue `json:"no_queue,omitempty"`
	// Step is what to do now; "" if nothing is left undone.
	Step Step `json:"step"`
}

// RunStatus is one run.
type RunStatus struct {
	Run
	Tracked int `json:"tracked"` // records that its ledger says it migrated
	Present int `json:"present"` // of these, those whose job is there
	Removed int `json:"removed"` // the others: finished and cleaned up, or deleted
	Retired int `json:"retired"` // records that retire has removed from the legacy queue
}

// StateCount is how many jobs, requests or batches are in a state.
type StateCount struct {
	State    string `json:"state"`
	Migrated int    `json:"migrated"`
	Others   int    `json:"others"` // that no run created
}

// LockStatus is one lock and the session that has it.
type LockStatus struct {
	Path    string `json:"path"`
	Session string `json:"session"` // "" for a persistent lock
}

// LegacyStatus is what became of the records of one legacy queue.
type LegacyStatus struct {
	Path     string   `json:"path"`
	Records  int      `json:"records"` // that are there
	Migrated int      `json:"migrated"`
	Waiting  int      `json:"waiting"` // only in the legacy queue: no run, an unfinished one, or rolled back
	Left     int      `json:"left"`    // by the run's choices: skipped or in quarantine
	Late     []string `json:"late"`    // added since the last run
	Missed   []string `json:"missed"`  // not migrated, although they were there
	Changed  []string `json:"changed"` // since they were migrated
	// Vanished were migrated, and are not there any more, although no retire removed them: a
	// legacy worker finished them, or somebody removed them. Their jobs are there, and neither
	// completed nor deleted, so they could run twice.
	Vanished []string `json:"vanished"`
}

// Newest is the newest run; nil if there is none.
func (s *Status) Newest() *RunStatus {
	if len(s.Runs) == 0 {
		return nil
	}
	return &s.Runs[len(s.Runs)-1]
}

// ReadStatus reads where a migration stands. With a source, it also says what became of
// the legacy records. It writes nothing. An error comes from reading.
func ReadStatus(ctx context.Context, at *Reader, src *Source) (*Status, error) {
	report(ctx, ReadingTarget, 0, 0)
	s := &Status{Runs: []RunStatus{}, Holds: []HoldStatus{}, Locks: []LockStatus{}}
	t, err := target.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	names, err := t.ReadNames(ctx)
	if err != nil {
		return nil, err
	}
	reading := statusReader{t: t, names: names, status: s, over: map[string]bool{}}
	for _, read := range []func(context.Context) error{reading.migrators, reading.states, reading.locks, reading.noQueue} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	reading.runs()
	if src != nil {
		if err := reading.legacy(ctx, src); err != nil {
			return nil, err
		}
	}
	s.Step = advise(s)
	return s, nil
}

type statusReader struct {
	t      *target.Target
	names  *target.Names
	status *Status
	ours   []string        // the runs' jobs and requests, sorted
	over   map[string]bool // jobs and requests that won't run any more, by path
}

// migrators counts the places in the election that sessions hold.
func (r *statusReader) migrators(ctx context.Context) error {
	lists, err := r.t.Reader.ChildrenAll(ctx, []string{ledger.ElectionPath})
	if err != nil {
		return err
	}
	var paths []string
	for _, name := range lists[0] {
		paths = append(paths, znode.Join(ledger.ElectionPath, name))
	}
	places, err := r.t.Reader.GetAll(ctx, paths, nil)
	for _, n := range places {
		if election.Held(n.Stat) {
			r.status.AtWork++
		}
	}
	return err
}

func (r *statusReader) runs() {
	s := r.status
	for _, run := range r.t.Ledger.Runs {
		run.ACL = withoutDigests(run.ACL)
		s.Runs = append(s.Runs, RunStatus{Run: run})
	}
	for e := range r.t.Ledger.All() {
		run := &s.Runs[e.Run]
		run.Tracked++
		if e.Retired {
			run.Retired++
		}
		if r.names.Has(e.Job) {
			run.Present++
		} else {
			run.Removed++
		}
	}
	if r.t.Damage != nil {
		s.Damage = r.t.Damage.Error()
	}
	s.Restored = r.t.Restored()
	s.Holds = append(s.Holds, r.t.Holds...)
}

// withoutDigests is an ACL for everybody to read.
func withoutDigests(acl []ACL) []ACL {
	acl = slices.Clone(acl)
	for i := range acl {
		if user, _, ok := strings.Cut(acl[i].ID, ":"); ok && acl[i].Scheme == "digest" {
			acl[i].ID = user + ":…"
		}
	}
	return acl
}

// states counts jobs by the queues of their states, and requests and batches by their
// statuses.
func (r *statusReader) states(ctx context.Context) error {
	for e := range r.t.Ledger.All() {
		r.ours = append(r.ours, e.Job)
	}
	slices.Sort(r.ours)
	s := r.status
	if err := r.jobs(ctx); err != nil {
		return err
	}
	access := counts{}
	for _, q := range newqueue.AccessQueues {
		parent := newqueue.AccessQueuePath(q)
		err := r.statuses(ctx, parent, newqueue.AccessPrefix, func(path, state string) {
			access.add(state, r.isOurs(path))
			r.over[path] = isOver(state)
		})
		if err != nil {
			return err
		}
	}
	s.Access = access.list()
	batches := counts{}
	err := r.statuses(ctx, newqueue.BatchesPath, newqueue.BatchPrefix, func(path, state string) {
		batches.add(state, r.t.Ledger.Batch(znode.Name(path)) != nil)
	})
	s.Batches = batches.list()
	return err
}

func (r *statusReader) isOurs(path string) bool {
	_, ours := slices.BinarySearch(r.ours, path)
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
				jobs.add(state, r.isOurs(newqueue.JobPath(jid)))
				r.over[newqueue.JobPath(jid)] = isOver(state)
			}
		}
	}
	r.status.Jobs = jobs.list()
	return nil
}

// statuses calls each with the state of every child of a parent.
func (r *statusReader) statuses(ctx context.Context, parent, prefix string, each func(path, state string)) error {
	names := slices.DeleteFunc(slices.Clone(r.names.In(parent)), func(name string) bool {
		_, ok := newqueue.ParseSequenceID(prefix, name)
		return !ok
	})
	for some := range slices.Chunk(names, 1000) {
		var paths []string
		for _, name := range some {
			paths = append(paths, znode.Join(parent, name)+"/status")
		}
		nodes, err := r.t.Reader.MarkUnreadable().GetAll(ctx, paths, nil)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			each(znode.Parent(n.Path), stateIn(n.Data))
		}
	}
	return nil
}

// isOver reports whether a job or request in this state won't run any more.
func isOver(state string) bool {
	return state == string(newqueue.JobCompleted) || state == string(newqueue.JobDeleted)
}

// stateIn returns the state in a status, in lower case.
func stateIn(data []byte) string {
	if o, err := newqueue.ParseObject(data); err == nil {
		if text, err := o.String("status"); err == nil && text != "" {
			return strings.ToLower(text)
		}
	}
	return "unreadable"
}

// counts are StateCounts by state.
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

// locks finds the locks of jobs, requests and batches, and those below /locks.
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
	for parent := range target.Numbered {
		for _, name := range r.names.In(parent) {
			paths = append(paths, znode.Join(parent, name)+"/lock")
		}
	}
	for some := range slices.Chunk(paths, 10_000) {
		nodes, err := r.t.Reader.MarkUnreadable().GetAll(ctx, some, nil)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			l := LockStatus{Path: n.Path}
			if n.Stat.EphemeralOwner != 0 {
				l.Session = fmt.Sprintf("%#x", n.Stat.EphemeralOwner)
			}
			r.status.Locks = append(r.status.Locks, l)
		}
	}
	slices.SortFunc(r.status.Locks, func(a, b LockStatus) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

func (r *statusReader) noQueue(ctx context.Context) (err error) {
	if !r.t.HasQueue() {
		r.status.NoQueue, err = target.ReadNoQueue(ctx, r.t.Reader)
	}
	return err
}

// legacy says what became of each legacy record.
func (r *statusReader) legacy(ctx context.Context, src *Source) error {
	of := map[string]*LegacyStatus{}
	for _, n := range src.Nodes {
		of[n.Path] = &LegacyStatus{Path: n.Path, Late: []string{}, Missed: []string{}, Changed: []string{}, Vanished: []string{}}
	}
	choices, newest := rules.DefaultChoices(), r.t.Ledger.Newest()
	if newest != nil {
		choices = newest.Choices
	}
	err := readAll(ctx, asPlanned(src, r.t), src.Paths(), ReadingSource, func(f source.Fetched) error {
		if !f.There {
			return nil
		}
		l := of[znode.Parent(f.Path)]
		l.Records++
		e := r.t.Ledger.Find(f.Path)
		switch {
		case e != nil && f.Err != nil && f.Err.Kind == rules.Unreadable: // nobody knows whether it has changed
			l.Migrated++
		case e != nil && ledger.HashOf(f.SHA256()) != e.Hash:
			l.Migrated++
			l.Changed = append(l.Changed, f.Path)
		case e != nil:
			l.Migrated++
		default:
			switch outcome, _ := verify.OutcomeOf(newest, f.Path, rules.Decide(f.Record, choices)); outcome {
			case verify.WasSkipped, verify.WasQuarantined:
				l.Left++
			case verify.CameLate:
				l.Late = append(l.Late, f.Path)
			case verify.WasMissed:
				l.Missed = append(l.Missed, f.Path)
			default:
				l.Waiting++
			}
		}
		return nil
	})
	for e := range r.t.Ledger.All() {
		l := of[znode.Parent(e.Record)]
		if l != nil && !src.Has(e.Record) && !e.Retired && r.t.Ledger.Runs[e.Run].Settled() == ledger.Done && r.names.Has(e.Job) && !r.over[e.Job] {
			l.Vanished = append(l.Vanished, e.Record)
		}
	}
	for _, n := range src.Nodes {
		slices.Sort(of[n.Path].Vanished)
		r.status.Legacy = append(r.status.Legacy, *of[n.Path])
	}
	return err
}
