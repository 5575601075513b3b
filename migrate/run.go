package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// The migration's own znodes (docs/migration.md, "Runs").
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
	RunRolledBack  RunState = "rolled-back" // something of it was kept; otherwise its record is gone
)

// Run is the record of one run, the data of /migration/runs/RUN. The version of that znode
// is the number of transactions that were done.
type Run struct {
	ID       string           `json:"run"`
	State    RunState         `json:"state"`
	Plan     string           `json:"plan"` // the id of its first plan
	Source   string           `json:"source"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Policies Policies         `json:"policies"`
	Time     string           `json:"time"` // the unit of the records' times: auto, s or ms
	// Owner distinguishes the migrators of one run, so that a migrator notices when
	// another has taken over.
	Owner    string    `json:"owner"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	// Steps is the version that the run's znode has with this record. If the znode has a
	// different version, another client wrote to it, or it is a copy.
	Steps int32 `json:"steps"`
	// Made are the layout's znodes that the run created and that belong to no record,
	// parents first. A rollback removes those that are empty.
	Made  []string `json:"made"`
	Holds []string `json:"holds"` // the holds that the run set; an administrator set all others
	// HeldAgain are the holds that the run set again when it was resumed, because they had
	// been released.
	HeldAgain []string `json:"held_again,omitempty"`
	Done      Done     `json:"done"`
	// Total is how many jobs and access requests will have been made or rewritten
	// when the run is done, as its last plan says.
	Total int `json:"total,omitempty"`
	// ACL is the ACL of every znode that the run creates. Without it they are open to all.
	ACL    []znode.ACL `json:"acl,omitempty"`
	Ledger Ledger      `json:"ledger"`
	// From and To are the range of transactions in which the run created its znodes, if
	// its record was rebuilt. Lost counts the records whose custody was not recovered then.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	Lost int   `json:"lost,omitempty"`
	// Copied says that the run, or its rollback, went on in a copy. Then its transactions
	// don't show what it created before.
	Copied bool `json:"copied,omitempty"`
	// Seal is a digest of everything above.
	Seal string     `json:"seal"`
	stat znode.Stat // as read
}

// Done counts what a run did.
type Done struct {
	Jobs      int `json:"jobs"`
	Access    int `json:"access"`
	Batches   int `json:"batches"`
	Rewritten int `json:"rewritten"`
	Refreshed int `json:"refreshed"` // batches whose contents were derived again without creating a job in them
}

// Records counts the records whose job or access request was created or rewritten.
func (d Done) Records() int { return d.Jobs + d.Access + d.Rewritten }

func (d *Done) add(o Done) {
	d.Jobs += o.Jobs
	d.Access += o.Access
	d.Batches += o.Batches
	d.Rewritten += o.Rewritten
	d.Refreshed += o.Refreshed
}

func (r Run) path() string { return znode.Join(RunsPath, r.ID) }

// encode returns the record's data, with its seal.
func (r Run) encode() []byte {
	r.Seal = r.seal()
	return r.plain()
}

func (r Run) plain() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("migrate: a Run is always JSON: " + err.Error())
	}
	return b
}

// seal returns a digest of the record, which detects an edited record. The transactions
// show whether another client edited the record and its seal together.
func (r Run) seal() string {
	r.Seal = ""
	return digest(r.plain())
}

// parseRun reads a run's record. The error says what is wrong with it.
func parseRun(n *znode.Node) (Run, error) {
	var r Run
	switch err := json.Unmarshal(n.Data, &r); {
	case err != nil || r.ID != znode.Name(n.Path):
		return Run{}, fmt.Errorf("it is not the record of a run: %q", clip(n.Data))
	case r.Ledger.Shards < 0 || r.Ledger.Shards > maxShards || len(r.Ledger.Missing) > r.Ledger.Shards:
		return Run{}, fmt.Errorf("it says that its ledger has %d shards, of which %d are missing: no run wrote that", r.Ledger.Shards, len(r.Ledger.Missing))
	case r.Seal != r.seal():
		return Run{}, fmt.Errorf("its seal does not match its content: another client changed it, or another version of mrtq wrote it")
	case !slices.Contains(newqueue.Dialects, r.Dialect):
		return Run{}, fmt.Errorf("it says that its queue is in dialect %q, which this version of mrtq does not know", clip([]byte(r.Dialect)))
	}
	r.stat = n.Stat
	return r, nil
}

// ReadRun reads one run's record by itself. [ReadStatus] also compares it with the rest of
// the target.
func ReadRun(n znode.Node) (Run, error) { return parseRun(&n) }

// IsRun reports whether a znode below [RunsPath] has a run's name.
func IsRun(name string) bool {
	_, ok := newqueue.ParseSequenceID(runPrefix, name)
	return ok
}

// Transactions is how many transactions of the run and of its rollback were done, as the
// version of its znode shows.
func (r Run) Transactions() int32 { return r.stat.Version }

// readRuns returns the undamaged runs of a target, oldest first. damage is everything else
// below /migration/runs.
func readRuns(tree *znode.Tree) (runs []Run, damage []Problem) {
	for _, name := range tree.Children(RunsPath) {
		n := tree.Get(znode.Join(RunsPath, name))
		if _, ok := newqueue.ParseSequenceID(runPrefix, name); !ok {
			damage = append(damage, Problem{Kind: RunDamaged, Path: n.Path, Message: "no migration made it: its name is not the name of a run", Next: "remove it when you know who made it"})
			continue
		}
		r, err := parseRun(n)
		if err != nil {
			damage = append(damage, rebuildable(Problem{Kind: RunDamaged, Path: n.Path, Message: err.Error()}))
			continue
		}
		problem, ok := r.checkTransactions(tree)
		if problem != nil {
			damage = append(damage, *problem)
		}
		if ok {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return int(a.number()) - int(b.number()) })
	return runs, damage
}

// checkTransactions compares a record with the transactions. The last transaction of a run,
// or of its rollback, sets the record and the trace on /jobs and creates the newest
// shard. If the record and the shard have different transactions, another client changed
// the later one. If the record is later than the trace, another client changed one of the two.
// ok is false if the record may be the changed one.
func (r Run) checkTransactions(tree *znode.Tree) (problem *Problem, ok bool) {
	if !r.ended() || r.stat.Czxid == 0 || r.Steps != r.stat.Version {
		return nil, true
	}
	p := new(rebuildable(Problem{Kind: RunDamaged, Path: r.path()}))
	if jobs := tree.Get(newqueue.JobsPath); jobs != nil && r.stat.Mzxid > jobs.Stat.Mzxid {
		p.Message = fmt.Sprintf("it was written in transaction %#x, and the trace on /jobs in %#x; a run's last transaction writes both, so another client wrote to one of the two", r.stat.Mzxid, jobs.Stat.Mzxid)
		return p, false
	}
	n := tree.Get(shardPath(r.ID, r.Ledger.Shards-1))
	if n == nil || n.Stat.Czxid == r.stat.Mzxid || r.From != 0 && n.Stat.Czxid < r.stat.Mzxid {
		return nil, true
	}
	p.Message = fmt.Sprintf("it was written in transaction %#x, and the run ended in %#x: another client wrote to it", r.stat.Mzxid, n.Stat.Czxid)
	if n.Stat.Czxid > r.stat.Mzxid {
		p.Kind, p.Path = LedgerDamaged, n.Path
		p.Message = fmt.Sprintf("it was created in transaction %#x, and the run ended in %#x: another client recreated it", n.Stat.Czxid, r.stat.Mzxid)
		return p, true
	}
	return p, false
}

// ended reports whether the run or its rollback is finished.
func (r Run) ended() bool { return r.State == RunDone || r.State == RunRolledBack }

// NewestRun returns the newest run of a target, from its record. If every record is
// damaged, it returns what the trace on /jobs says about the run. ok is false if there was
// no run.
func NewestRun(tree *znode.Tree) (r Run, ok bool) {
	runs, _ := readRuns(tree)
	if len(runs) > 0 {
		return runs[len(runs)-1], true
	}
	t, ok := readTrace(tree)
	if !ok || len(t.Runs) == 0 {
		return Run{}, false
	}
	return t.Runs[len(t.Runs)-1].run(), true
}

func (r Run) number() int32 {
	n, _ := newqueue.ParseSequenceID(runPrefix, r.ID)
	return n
}

// FindRuns reads the records of some runs. The error wraps [ErrNoRun] or [ErrLedger].
func FindRuns(ctx context.Context, target side.Side, ids ...string) ([]Run, error) {
	tree, err := readSkeleton(ctx, target)
	if err != nil {
		return nil, err
	}
	var found []Run
	for _, id := range ids {
		r, err := findRun(tree, id)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// findRun reads the record of one run.
func findRun(tree *znode.Tree, id string) (Run, error) {
	runs, damage := readRuns(tree)
	var have []string
	for _, r := range runs {
		if r.ID == id {
			return r, nil
		}
		have = append(have, r.ID)
	}
	for _, d := range damage {
		if znode.Name(d.Path) == id {
			return Run{}, &DamageError{d}
		}
	}
	if len(have) == 0 {
		return Run{}, fmt.Errorf("%w: %s; the target has none; nothing was written", ErrNoRun, id)
	}
	return Run{}, fmt.Errorf("%w: %s; the target has %s; nothing was written", ErrNoRun, id, strings.Join(have, ", "))
}

// clip returns the beginning of data, short enough for an error message.
func clip(b []byte) []byte {
	const most = 60
	return b[:min(len(b), most)]
}
