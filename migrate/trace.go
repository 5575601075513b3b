package migrate

import (
	"bytes"
	"encoding/json"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// trace is the data of /jobs: a second list of the runs, outside of /migration. The field's
// own script removes /migration and everything below it when it sets its markers
// (docs/field-script.md, "Migration levels"). With the trace, a migrator notices that the
// ledger is gone, and does not take migrated records for new ones. Readers of the layout
// ignore the data of /jobs (docs/new-layout.md, "Paths").
type trace struct {
	// Ledger tells a person who finds the trace what it is.
	Ledger string `json:"custody_ledger"`
	// Sets is the version that /jobs has with this trace.
	Sets int32 `json:"sets"`
	// Was is the data that /jobs had before the first run.
	Was  []byte      `json:"was"`
	Runs []tracedRun `json:"runs"` // oldest first
}

// tracedRun is what a rebuild needs of a run whose record is lost. An interrupted run and one
// that was not interrupted leave the same.
type tracedRun struct {
	ID       string           `json:"run"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Policies Policies         `json:"policies"`
	Time     string           `json:"time"`
	ACL      []znode.ACL      `json:"acl,omitempty"`
	Made     []string         `json:"made"`
	Holds    []string         `json:"holds"`
	Done     bool             `json:"done,omitempty"`
	Entries  int              `json:"entries"` // in its ledger; 0 until the run is done
	Sum      string           `json:"sum,omitempty"`
	Highest  map[string]int32 `json:"highest,omitempty"`
	Lost     int              `json:"lost,omitempty"`
	// Copied says that this tree is a copy of the one in which the run was at work.
	Copied bool `json:"copied,omitempty"`
}

// traceOf is what the trace says of a run. Until the run is done, it says nothing of the
// run's ledger.
func traceOf(r Run) tracedRun {
	t := tracedRun{ID: r.ID, Dialect: r.Dialect, Policies: r.Policies, Time: r.Time, ACL: r.ACL, Made: r.Made, Holds: r.Holds, Lost: r.Lost, Copied: r.Copied}
	if r.State == RunDone || r.State == RunRolledBack {
		t.Done, t.Entries, t.Sum, t.Highest = true, r.Ledger.Entries, r.Ledger.Sum, r.Ledger.Highest
	}
	return t
}

// run is the run as the trace has it, without its state, times and counts.
func (t tracedRun) run() Run {
	return Run{ID: t.ID, Dialect: t.Dialect, Policies: t.Policies, Time: t.Time, ACL: t.ACL, Made: t.Made, Holds: t.Holds,
		Lost: t.Lost, Copied: t.Copied, Ledger: Ledger{Entries: t.Entries, Highest: t.Highest}}
}

// readTrace reads the trace of a target; ok is false if there is none.
func readTrace(tree *znode.Tree) (t trace, ok bool) {
	n := tree.Get(newqueue.JobsPath)
	if n == nil {
		return trace{}, false
	}
	return parseTrace(n.Data)
}

func parseTrace(data []byte) (t trace, ok bool) {
	if !bytes.HasPrefix(data, []byte(`{"custody_ledger":`)) || json.Unmarshal(data, &t) != nil {
		return trace{}, false
	}
	return t, t.Ledger == LedgerPath
}

func (t trace) encode() []byte {
	b, err := json.Marshal(t)
	if err != nil {
		panic("migrate: a trace is always JSON: " + err.Error())
	}
	return b
}

func (t trace) find(run string) (tracedRun, bool) {
	i := slices.IndexFunc(t.Runs, func(r tracedRun) bool { return r.ID == run })
	if i < 0 {
		return tracedRun{}, false
	}
	return t.Runs[i], true
}

// with returns the trace with a run added, or brought up to date.
func (t trace) with(r Run) trace {
	t.Ledger = LedgerPath
	t.Runs = slices.Clone(t.Runs)
	if i := slices.IndexFunc(t.Runs, func(o tracedRun) bool { return o.ID == r.ID }); i >= 0 {
		t.Runs[i] = traceOf(r)
	} else {
		t.Runs = append(t.Runs, traceOf(r))
	}
	return t
}

// without returns the trace without a run.
func (t trace) without(run string) trace {
	t.Runs = slices.DeleteFunc(slices.Clone(t.Runs), func(r tracedRun) bool { return r.ID == run })
	return t
}

// sameRuns reports whether two traces say the same of the runs, even if one is in a copy.
func (t trace) sameRuns(o trace) bool {
	plain := func(t trace) []byte {
		t.Sets, t.Runs = 0, slices.Clone(t.Runs)
		for i := range t.Runs {
			t.Runs[i].Copied = false
		}
		return t.encode()
	}
	return bytes.Equal(plain(t), plain(o))
}

// copied reports whether /jobs was restored from a dump. Then its version is not the one that
// the last run left.
func (t trace) copied(jobs *znode.Node) bool { return jobs != nil && t.Sets != jobs.Stat.Version }

// setTrace are the operations that give /jobs a new trace. If no run is left, /jobs gets back
// the data that it had before the first run.
func setTrace(jobs *znode.Node, next trace) []znode.Op {
	if jobs == nil {
		return nil // the run creates it, or it is gone and verify says so
	}
	if old, was := parseTrace(jobs.Data); was && old.sameRuns(next) && !old.copied(jobs) {
		return nil
	}
	return writeTrace(jobs, next)
}

// writeTrace is setTrace that writes the trace even if it has not changed. /jobs is then set in
// the same transaction as the run's record, and [Run.checkTransactions] can compare them.
func writeTrace(jobs *znode.Node, next trace) []znode.Op {
	if jobs == nil {
		return nil
	}
	old, was := parseTrace(jobs.Data)
	switch {
	case len(next.Runs) == 0 && !was:
		return nil
	case len(next.Runs) == 0:
		return []znode.Op{znode.Set(newqueue.JobsPath, old.Was, jobs.Stat.Version)}
	case !was:
		next.Was = jobs.Data
	}
	next.Runs = slices.Clone(next.Runs)
	for i := range next.Runs {
		if o, before := old.find(next.Runs[i].ID); before && (o.Copied || old.copied(jobs)) {
			next.Runs[i].Copied = true
		}
	}
	next.Sets = jobs.Stat.Version + 1
	return []znode.Op{znode.Set(newqueue.JobsPath, next.encode(), jobs.Stat.Version)}
}
