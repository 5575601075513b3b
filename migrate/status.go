package migrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Status is where a migration stands, as the target alone tells.
type Status struct {
	Runs []RunStatus `json:"runs"` // oldest first
	// Damage is what is not as runs left it of their own records.
	Damage []Problem `json:"damage"`
	// Jobs, Access and Batches count what is in the queue by state: the
	// migration's and others'. A status that can't be read counts as "unreadable".
	Jobs    []StateCount `json:"jobs"`
	Access  []StateCount `json:"access"`
	Batches []StateCount `json:"batches"`
	Holds   []HoldStatus `json:"holds"` // on queues and collections
	Locks   []LockStatus `json:"locks"` // that sessions have on jobs, batches and objects
	// Touched counts migrated jobs and requests that somebody has changed since.
	Touched int `json:"touched"`
	// Next is what to do now; "" if nothing is left undone.
	Next string `json:"next"`
}

// Unfinished reports whether a run was begun and not ended, or its records are
// damaged.
func (s *Status) Unfinished() bool {
	return len(s.Damage) > 0 || slices.ContainsFunc(s.Runs, func(r RunStatus) bool { return r.State == RunRunning || r.State == RunRollingBack })
}

// RunStatus is one run and what became of the records that it took over.
type RunStatus struct {
	Run      string           `json:"run"`
	State    RunState         `json:"state"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Source   string           `json:"source"`
	Started  time.Time        `json:"started"`
	Finished time.Time        `json:"finished,omitzero"`
	Owner    string           `json:"owner"` // the process that wrote last
	Done     Done             `json:"done"`
	Custody  int              `json:"custody"` // records in its part of the ledger now
	Standing int              `json:"standing"`
	Gone     int              `json:"gone"` // their jobs were done and cleaned, or deleted
}

// StateCount is how many there are in one state.
type StateCount struct {
	State  string `json:"state"`
	Ours   int    `json:"ours"` // the migration's
	Others int    `json:"others"`
}

// HoldStatus is one hold and whose it is.
type HoldStatus struct {
	Path string `json:"path"`
	By   string `json:"by"` // a run's id, or "others"
}

// LockStatus is one lock and whose session has it.
type LockStatus struct {
	Path    string `json:"path"`
	Session string `json:"session"` // "" for a persistent one
}

// ReadStatus says where a migration stands in a target. It is a pure function.
func ReadStatus(tree *znode.Tree) *Status {
	ex := readExisting(tree)
	s := &Status{Runs: []RunStatus{}, Damage: append([]Problem{}, ex.custody.damage...), Holds: []HoldStatus{}, Locks: []LockStatus{}}
	ours := map[string]bool{} // roots
	for p := range ex.jobs.all() {
		ours[p.root] = true
		if ex.touched(p) != "" {
			s.Touched++
		}
	}
	for _, r := range ex.runs {
		rs := RunStatus{Run: r.ID, State: r.State, Dialect: r.Dialect, Source: r.Source, Started: r.Started, Finished: r.Finished, Owner: r.Owner, Done: r.Done}
		for h := range ex.custody.held.all() {
			if h.run != r.ID {
				continue
			}
			rs.Custody++
			if p, stands := ex.job(h.record); stands && p.root == h.root {
				rs.Standing++
			} else {
				rs.Gone++
			}
		}
		s.Runs = append(s.Runs, rs)
	}
	s.Jobs = countStates(tree, newqueue.JobPrefix, ours, newqueue.JobsPath)
	s.Access = countStates(tree, newqueue.AccessPrefix, ours, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge))
	s.Batches = countStates(tree, newqueue.BatchPrefix, ex.batchRoots(), newqueue.BatchesPath)
	s.readHolds(ex)
	s.readLocks(tree)
	s.Next = s.next()
	return s
}

func (ex *existing) batchRoots() map[string]bool {
	ours := map[string]bool{}
	for _, bid := range ex.tree.Children(newqueue.BatchesPath) {
		path := newqueue.BatchPath(bid)
		if _, ok := parseBatchProvenance(ex.tree.Get(path).Data); ok {
			ours[path] = true
		}
	}
	return ours
}

func countStates(tree *znode.Tree, prefix string, ours map[string]bool, parents ...string) []StateCount {
	counts := map[string]*StateCount{}
	for _, parent := range parents {
		for _, name := range tree.Children(parent) {
			if _, ok := newqueue.ParseSequenceID(prefix, name); !ok {
				continue
			}
			root := znode.Join(parent, name)
			state := "unreadable"
			if n := tree.Get(root + "/status"); n != nil {
				if o, err := newqueue.ParseObject(n.Data); err == nil {
					if text, err := o.String("status"); err == nil && text != "" {
						state = text
					}
				}
			}
			if counts[state] == nil {
				counts[state] = &StateCount{State: state}
			}
			if ours[root] {
				counts[state].Ours++
			} else {
				counts[state].Others++
			}
		}
	}
	list := []StateCount{}
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[state])
	}
	return list
}

func (s *Status) readHolds(ex *existing) {
	var paths []string
	for _, h := range newqueue.QueueHolds {
		paths = append(paths, newqueue.QueueHoldPath(h))
	}
	for _, name := range ex.tree.Children(newqueue.CollectionLocksPath) {
		paths = append(paths, znode.Join(newqueue.CollectionLocksPath, name))
	}
	for _, path := range paths {
		n := ex.tree.Get(path)
		if n == nil {
			continue
		}
		h := HoldStatus{Path: path, By: "others"}
		for _, r := range ex.runs {
			if span := ex.spans[r.ID]; slices.Contains(r.Holds, path) && (!span.known() || span.holds(n.Stat.Czxid)) {
				h.By = r.ID
			}
		}
		s.Holds = append(s.Holds, h)
	}
}

// readLocks finds the znodes that sessions have, and storage locks, which the
// deployed services leave when they die.
func (s *Status) readLocks(tree *znode.Tree) {
	for _, root := range []string{newqueue.BatchesPath, newqueue.JobsPath, newqueue.AccessPath, newqueue.LocksPath} {
		for n := range tree.All(root) {
			persistent := znode.Parent(n.Path) == newqueue.StorageLocksPath
			if n.Stat.EphemeralOwner == 0 && !persistent {
				continue
			}
			l := LockStatus{Path: n.Path}
			if n.Stat.EphemeralOwner != 0 {
				l.Session = fmt.Sprintf("%#x", n.Stat.EphemeralOwner)
			}
			s.Locks = append(s.Locks, l)
		}
	}
	slices.SortFunc(s.Locks, func(a, b LockStatus) int { return cmp.Compare(a.Path, b.Path) })
}

func (s *Status) next() string {
	var newest RunStatus
	if len(s.Runs) > 0 {
		newest = s.Runs[len(s.Runs)-1]
	}
	held := slices.ContainsFunc(s.Holds, func(h HoldStatus) bool { return h.By == newest.Run })
	switch {
	case len(s.Damage) > 0:
		return "mrtq rebuild TARGET: the migration's own records are damaged"
	case newest.State == RunRunning:
		return "run the same mrtq migrate again to finish " + newest.Run
	case newest.State == RunRollingBack:
		return fmt.Sprintf("mrtq rollback TARGET --run %s: it was begun and not ended", newest.Run)
	case newest.Run == "":
		return "mrtq plan SOURCE TARGET: no run is recorded here"
	case newest.State == RunDone && held:
		return fmt.Sprintf("mrtq verify SOURCE TARGET; then release the holds of %s", newest.Run)
	}
	return ""
}
