package migrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/internal/election"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Status is the state of a migration, as the target alone shows it.
type Status struct {
	Runs []RunStatus `json:"runs"` // oldest first
	// Damage lists the migration's own records that another client changed or removed.
	Damage []Problem `json:"damage"`
	// Jobs, Access and Batches count what is in the queue by state, both the
	// migration's and others'. A status that can't be read counts as "unreadable".
	Jobs    []StateCount `json:"jobs"`
	Access  []StateCount `json:"access"`
	Batches []StateCount `json:"batches"`
	Holds   []HoldStatus `json:"holds"` // on queues and collections
	Locks   []LockStatus `json:"locks"` // on jobs, batches and objects
	// AtWork counts the migrators that are at work or wait for their turn: a migration, a
	// rollback or a rebuild. One that was killed counts until its session ends. What
	// they change meanwhile makes the other numbers wrong.
	AtWork int `json:"at_work"`
	// Touched counts migrated jobs and requests that another client has changed since.
	Touched int `json:"touched"`
	// Step is what to do now; "" if nothing is left undone.
	Step Step `json:"step"`
	// NoQueue says what is at the address instead of a new queue. It is nil if there is
	// a new queue.
	NoQueue *NoQueue `json:"no_queue,omitempty"`
}

// Step is what to do next with a migration.
type Step string

// The steps.
const (
	StepWait           Step = "wait"           // a migrator is at work
	StepPlan           Step = "plan"           // nothing was migrated yet
	StepFinish         Step = "migrate"        // the newest run is not finished
	StepFinishRollback Step = "rollback"       // a rollback is not finished
	StepRebuild        Step = "rebuild"        // the migration's own records are damaged
	StepRelease        Step = "release"        // a run's holds are still set
	StepReleaseOthers  Step = "release-others" // only holds that others set are left
	StepPlanAgain      Step = "plan-again"     // the newest run was rolled back, and kept something
)

// Newest returns the newest run. ok is false if there was none.
func (s *Status) Newest() (r RunStatus, ok bool) {
	if len(s.Runs) == 0 {
		return RunStatus{}, false
	}
	return s.Runs[len(s.Runs)-1], true
}

// Unfinished reports whether a migrator is at work, a run or a rollback is not finished,
// or the runs' records are damaged.
func (s *Status) Unfinished() bool {
	return s.AtWork > 0 || len(s.Damage) > 0 || slices.ContainsFunc(s.Runs, func(r RunStatus) bool { return r.State == RunRunning || r.State == RunRollingBack })
}

// RunStatus is one run, and what became of the records that it migrated.
type RunStatus struct {
	Run      string           `json:"run"`
	State    RunState         `json:"state"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Source   string           `json:"source"`
	Started  time.Time        `json:"started"`
	Finished time.Time        `json:"finished,omitzero"`
	Owner    string           `json:"owner"` // the process that wrote last
	Done     Done             `json:"done"`
	Custody  int              `json:"custody"`  // records in its part of the ledger now
	Existing int              `json:"existing"` // those whose jobs still exist
	Gone     int              `json:"gone"`     // those whose jobs were finished and cleaned up, or deleted

	Policies Policies    `json:"-"` // the operator's choices for this run
	ACL      []znode.ACL `json:"-"` // of what it creates; none is open
}

// StateCount is how many jobs, requests or batches are in one state.
type StateCount struct {
	State  string `json:"state"`
	Ours   int    `json:"ours"` // the migration's
	Others int    `json:"others"`
}

// HoldStatus is one hold and who set it.
type HoldStatus struct {
	Path  string    `json:"path"`
	By    string    `json:"by"`             // a run's id, or who set it with mrtq hold, or "others"
	Since time.Time `json:"since,omitzero"` // Since and Why are known only if mrtq hold set it
	Why   string    `json:"why,omitempty"`
	// CoversRun is as in [Hold].
	CoversRun bool `json:"-"`
}

// LockStatus is one lock and the session that has it.
type LockStatus struct {
	Path    string `json:"path"`
	Session string `json:"session"` // "" for a persistent lock
}

// ReadStatus reads the state of a migration from its target.
func ReadStatus(ctx context.Context, target side.Side) (*Status, error) {
	s := &Status{Runs: []RunStatus{}, Locks: []LockStatus{}}
	before, err := CountMigrators(ctx, target)
	if err != nil {
		return nil, err
	}
	states := newStateRows()
	t, err := surveyTarget(ctx, target, "", surveyCalls{node: func(n *znode.Node) {
		states.see(n)
		s.seeLock(n)
	}})
	if err != nil {
		return nil, err
	}
	after, err := CountMigrators(ctx, target)
	if err != nil {
		return nil, err
	}
	s.AtWork = max(before, after)
	s.Damage = append([]Problem{}, t.custody.damage...)
	ours := newNameSet()
	for i := range t.jobs.rows {
		ours.add(t.names.text(t.jobs.rows[i].root))
		if t.jobs.rows[i].touched {
			s.Touched++
		}
	}
	for _, b := range t.existingBatches {
		if b.kind != "" {
			ours.add(newqueue.BatchPath(t.names.text(b.bid)))
		}
	}
	ours.sort()
	s.Jobs, s.Access, s.Batches = states.counts(newqueue.JobPrefix, ours), states.counts(newqueue.AccessPrefix, ours), states.counts(newqueue.BatchPrefix, ours)
	for _, r := range t.runs {
		s.Runs = append(s.Runs, RunStatus{Run: r.ID, State: r.State, Dialect: r.Dialect, Source: r.Source, Started: r.Started, Finished: r.Finished, Owner: r.Owner, Done: r.Done, Policies: r.Policies, ACL: r.ACL})
	}
	t.countCustody(s.Runs)
	s.Holds = holdStatuses(t.existing)
	for n := range t.tree.All("/") {
		s.seeLock(n)
	}
	slices.SortFunc(s.Locks, func(a, b LockStatus) int { return cmp.Compare(a.Path, b.Path) })
	s.Locks = slices.Compact(s.Locks) // the layout's own znodes are read twice
	if len(s.Runs)+len(s.Damage) == 0 {
		if s.NoQueue, err = readNoQueue(ctx, target, t.tree); err != nil {
			return nil, err
		}
	}
	s.Step = s.step()
	return s, nil
}

// CountMigrators counts the migrators that are at work in a target or wait for their turn,
// as the sessions in the election show. If the target is not a server, the count is 0,
// because those sessions have ended. A znode that no session holds is no migrator.
func CountMigrators(ctx context.Context, target side.Side) (n int, err error) {
	server := side.Server(target)
	if server == nil {
		return 0, nil
	}
	places, err := childrenOf(ctx, target, ElectionPath)
	for _, name := range places {
		stat, there, err := server.Exists(ctx, znode.Join(ElectionPath, name))
		if err != nil {
			return 0, err
		}
		if there && election.Held(stat) {
			n++
		}
	}
	return n, err
}

// countCustody counts what became of the records that each run migrated.
func (t *survey) countCustody(runs []RunStatus) {
	byID := map[string]*RunStatus{}
	for i := range runs {
		byID[runs[i].Run] = &runs[i]
	}
	for i := range t.custody.entries.rows {
		row := &t.custody.entries.rows[i]
		rs := byID[t.custody.entries.parts[row.part].run]
		if rs == nil {
			continue
		}
		rs.Custody++
		if j, exists := t.jobs.index(t.names.text(row.record)); exists && t.jobs.rows[j].root == row.root {
			rs.Existing++
		} else {
			rs.Gone++
		}
	}
}

// stateRows are the states of all jobs, requests and batches, one small row each.
type stateRows struct {
	names  *names
	states textTable
	rows   map[string][]stateRow // by the prefix of the ids
}

type stateRow struct {
	root  ref
	state int32 // index into stateRows.states
}

func newStateRows() *stateRows { return &stateRows{names: newNames(), rows: map[string][]stateRow{}} }

// see notes the state if a znode is a job, a request or a batch, or the status of one.
// Call it with the status after the znode that it belongs to.
func (s *stateRows) see(n *znode.Node) {
	root := strings.TrimSuffix(n.Path, "/status")
	_, prefix, ok := numberedChild(znode.Parent(root), znode.Name(root))
	if !ok {
		return
	}
	rows := s.rows[prefix]
	r := s.names.ref(root)
	if root == n.Path {
		s.rows[prefix] = append(rows, stateRow{r, s.states.of("unreadable")})
		return
	}
	if last := len(rows) - 1; last >= 0 && rows[last].root == r {
		rows[last].state = s.states.of(statusIn(n.Data))
	}
}

// statusIn returns the state in a status, spelled as it is there.
func statusIn(data []byte) string {
	if o, err := newqueue.ParseObject(data); err == nil {
		if text, err := o.String("status"); err == nil && text != "" {
			return text
		}
	}
	return "unreadable"
}

// counts counts the states of everything whose id has this prefix.
func (s *stateRows) counts(prefix string, ours nameSet) []StateCount {
	counts := map[string]*StateCount{}
	for _, row := range s.rows[prefix] {
		state := s.states.texts[row.state]
		if counts[state] == nil {
			counts[state] = &StateCount{State: state}
		}
		if ours.has(s.names.text(row.root)) {
			counts[state].Ours++
		} else {
			counts[state].Others++
		}
	}
	list := []StateCount{}
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[state])
	}
	return list
}

// holdStatuses returns the holds of a target and who set them.
func holdStatuses(ex *existing) []HoldStatus {
	holds := []HoldStatus{}
	for _, hold := range listHolds(ex.tree, ex.runs) {
		h := HoldStatus{Path: hold.Path, By: cmp.Or(hold.By, "others"), CoversRun: hold.CoversRun}
		if _, ok := ParseHoldNote(hold.node.Data); ok {
			h.Since, h.Why = hold.Since, hold.Why
		}
		holds = append(holds, h)
	}
	return holds
}

// seeLock notes an ephemeral znode, or a storage lock. Storage locks are persistent, and
// a deployed service that dies leaves its own.
func (s *Status) seeLock(n *znode.Node) {
	persistent := znode.Parent(n.Path) == newqueue.StorageLocksPath
	if n.Stat.EphemeralOwner == 0 && !persistent || znode.Within(n.Path, MigrationPath) || znode.Within(n.Path, newqueue.BatchUUIDsPath) {
		return
	}
	l := LockStatus{Path: n.Path}
	if n.Stat.EphemeralOwner != 0 {
		l.Session = fmt.Sprintf("%#x", n.Stat.EphemeralOwner)
	}
	s.Locks = append(s.Locks, l)
}

func (s *Status) step() Step {
	newest, ran := s.Newest()
	byRun := slices.ContainsFunc(s.Holds, func(h HoldStatus) bool { return IsRun(h.By) })
	switch {
	case s.AtWork > 0:
		return StepWait
	case len(s.Damage) > 0:
		return StepRebuild
	case newest.State == RunRunning:
		return StepFinish
	case newest.State == RunRollingBack:
		return StepFinishRollback
	case byRun:
		return StepRelease
	case len(s.Holds) > 0:
		return StepReleaseOthers
	case !ran:
		return StepPlan
	case newest.State == RunRolledBack:
		return StepPlanAgain
	}
	return ""
}
