package migrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// The migrator's own znodes (04-migration, "Safety").
const (
	MigrationPath = "/migration"
	RunsPath      = "/migration/runs"
	ElectionPath  = "/migration/election"
)

const runPrefix = "run"

// RunState is how far a run has come.
type RunState string

// The states of a run.
const (
	RunRunning     RunState = "running"
	RunDone        RunState = "done"
	RunRollingBack RunState = "rolling-back"
	RunRolledBack  RunState = "rolled-back" // and something of it was kept
)

// Run is what /migration/runs/RUN says of one run. Its version is the number
// of transactions that were done.
type Run struct {
	ID       string           `json:"run"`
	State    RunState         `json:"state"`
	Plan     string           `json:"plan"` // id of the plan that it began with
	Source   string           `json:"source"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Policies Policies         `json:"policies"`
	Time     string           `json:"time"` // the unit that records' times were read in: auto, s or ms
	// Owner tells the migrators of one run apart, so that one which was taken
	// over notices.
	Owner    string    `json:"owner"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	// Steps is the version that the run's znode had when this was written,
	// plus one: a finished run's znode whose version is another was touched.
	Steps int32 `json:"steps"`
	// Made are the znodes of the layout that were not there and that no record
	// owns, parents first; rollback removes those left empty.
	Made  []string   `json:"made"`
	Holds []string   `json:"holds"` // those that the run made; others are an administrator's
	Done  Done       `json:"done"`
	stat  znode.Stat // as read
}

// Done counts what a run did.
type Done struct {
	Jobs      int `json:"jobs"`
	Access    int `json:"access"`
	Batches   int `json:"batches"`
	Rewritten int `json:"rewritten"`
}

func (d *Done) add(o Done) {
	d.Jobs += o.Jobs
	d.Access += o.Access
	d.Batches += o.Batches
	d.Rewritten += o.Rewritten
}

func (r Run) path() string { return znode.Join(RunsPath, r.ID) }

func (r Run) encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("migrate: a Run is always JSON: " + err.Error())
	}
	return b
}

// readRuns are the runs of a target, oldest first. The error names a node that
// is no run's record: somebody else wrote there.
func readRuns(tree *znode.Tree) ([]Run, error) {
	var runs []Run
	for _, name := range tree.Children(RunsPath) {
		n := tree.Get(znode.Join(RunsPath, name))
		var r Run
		if err := json.Unmarshal(n.Data, &r); err != nil || r.ID != name {
			return nil, fmt.Errorf("%s is no record of a run (%q): restore it, or remove it if no migration made it", n.Path, clip(n.Data))
		}
		r.stat = n.Stat
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b Run) int { return int(a.number()) - int(b.number()) })
	return runs, nil
}

// NewestRun is the last run of a target; ok is false if there was none.
func NewestRun(tree *znode.Tree) (r Run, ok bool, err error) {
	runs, err := readRuns(tree)
	if err != nil || len(runs) == 0 {
		return Run{}, false, err
	}
	return runs[len(runs)-1], true, nil
}

func (r Run) number() int32 {
	n, _ := newqueue.ParseSequenceID(runPrefix, r.ID)
	return n
}

// FindRun reads one run of a target.
func FindRun(tree *znode.Tree, id string) (Run, error) {
	runs, err := readRuns(tree)
	if err != nil {
		return Run{}, err
	}
	var have []string
	for _, r := range runs {
		if r.ID == id {
			return r, nil
		}
		have = append(have, r.ID)
	}
	if len(have) == 0 {
		return Run{}, fmt.Errorf("%w: %s; the target has none; nothing was written", ErrNoRun, id)
	}
	return Run{}, fmt.Errorf("%w: %s; the target has %s; nothing was written", ErrNoRun, id, strings.Join(have, ", "))
}

// clip is the beginning of data, short enough for an error.
func clip(b []byte) []byte {
	const most = 60
	return b[:min(len(b), most)]
}
