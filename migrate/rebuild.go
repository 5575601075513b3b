package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Rebuilt is what a rebuild of the migration's own records did.
type Rebuilt struct {
	Runs []RebuiltRun `json:"runs"` // none: nothing was damaged
}

// RebuiltRun is one run whose record and ledger were written anew.
type RebuiltRun struct {
	Run     string `json:"run"`
	Entries int    `json:"entries"` // in its ledger now
	Lost    int    `json:"lost"`    // that it had and that no job stands for
	// Guessed says that nothing was left of the run's settings, and that the
	// default ones were assumed.
	Guessed bool     `json:"guessed"`
	Why     []string `json:"why"` // what was damaged
}

// Rebuild writes the damaged or missing records of runs, their ledgers and the
// trace on /jobs anew: from the trace, from what is sound of the ledger, and
// from what the jobs that still stand say of themselves. Jobs that are gone can
// only be counted. Nothing outside of /migration and the data of /jobs is
// written. Interrupted, it is finished by calling it again. Errors are those of
// [Migrator.Migrate].
func (m *Migrator) Rebuild(ctx context.Context) (*Rebuilt, error) {
	m.defaults()
	tree, err := m.Target.Tree(ctx)
	if err != nil {
		return nil, interrupted(err)
	}
	if len(readExisting(tree).custody.damage) == 0 {
		return &Rebuilt{Runs: []RebuiltRun{}}, nil
	}
	if err := m.Target.lead(ctx, m.owner, lastACL(tree), m.Say); err != nil {
		return nil, interrupted(err)
	}
	defer m.Target.resign()
	if tree, err = m.Target.Tree(ctx); err != nil {
		return nil, interrupted(err)
	}
	plan := planRebuild(tree, m.owner)
	for _, ops := range plan.transactions {
		err := m.Target.Multi(context.WithoutCancel(ctx), ops)
		if errors.Is(err, zkconn.ErrUnknownOutcome) {
			return nil, fmt.Errorf("%w; run the same command again", err)
		}
		if err != nil {
			return nil, err
		}
	}
	return &plan.Rebuilt, nil
}

// rebuildPlan is what a rebuild writes. The last transaction makes all of it
// count: until then the records are damaged, and are rebuilt again. No shard that
// can be read is ever removed.
type rebuildPlan struct {
	Rebuilt
	transactions [][]znode.Op
	last         []znode.Op
}

func planRebuild(tree *znode.Tree, owner string) *rebuildPlan {
	ex := readExisting(tree)
	old, _ := readTrace(tree)
	next := old
	next.Runs = nil
	plan := &rebuildPlan{Rebuilt: Rebuilt{Runs: []RebuiltRun{}}}
	for _, path := range []string{MigrationPath, RunsPath, LedgerPath} {
		if tree.Get(path) == nil {
			plan.transactions = append(plan.transactions, creates([]leaf{{path, none}}, lastACL(tree)))
		}
	}
	for _, id := range ex.runIDs(old) {
		if run, sound := ex.run(id); sound {
			if _, err := readLedger(tree, run); err == nil {
				next = next.with(run)
				continue
			}
		}
		if run, ok := plan.rebuild(ex, id, old, owner); ok {
			next = next.with(run)
		}
	}
	plan.last = append(plan.last, signTrace(tree.Get(newqueue.JobsPath), next)...)
	// Where nothing but the trace is written, this bears it out; see [custody.checkTrace].
	mark := znode.Join(LedgerPath, "rebuilt")
	plan.last = append(plan.last, znode.Create(mark, none), znode.Delete(mark, 0))
	plan.transactions = append(plan.transactions, plan.last)
	return plan
}

// rebuild plans one run's record and ledger; ok is false for one that never was:
// no job stands for it, no shard and no trace tells of it.
func (plan *rebuildPlan) rebuild(ex *existing, id string, t trace, owner string) (Run, bool) {
	run, guessed := ex.remember(id, t)
	had := run.Ledger.Entries
	log, led := ex.readableShards(id)
	standing := ex.standing(id, log)
	if ex.tree.Get(run.path()) != nil {
		plan.last = append(plan.last, znode.Delete(run.path(), -1))
	}
	for _, n := range led.Missing {
		if path := shardPath(id, n); ex.tree.Get(path) != nil {
			plan.last = append(plan.last, znode.Delete(path, -1))
		}
	}
	if guessed && len(log)+len(standing) == 0 {
		if ex.tree.Get(ledgerPath(id)) != nil {
			plan.last = append(plan.last, znode.Delete(ledgerPath(id), -1))
		}
		return Run{}, false
	}
	if ex.tree.Get(ledgerPath(id)) == nil {
		plan.transactions = append(plan.transactions, creates([]leaf{{ledgerPath(id), none}}, run.ACL))
	}
	led.Highest = run.Ledger.Highest
	for _, e := range log {
		led.Sum = ledgerSum(led.Sum, e)
	}
	led.Entries = len(log)
	led.noteHighest(log)
	add := ledgerLog{run: id, acl: run.ACL}
	shards, err := add.add(&led, standing, true)
	if err != nil {
		panic("migrate: each entry was encoded before: " + err.Error())
	}
	for ops := range slices.Chunk(shards, shardsAtOnce) {
		plan.transactions = append(plan.transactions, ops)
	}
	led.Closed = led.Shards
	why := ex.damageOf(id)
	run.Ledger = led
	run.From, run.To = ex.spanOf(run, append(log, standing...))
	lost := max(had-led.Entries, 0)
	run.Lost += lost
	run.State, run.Owner, run.Steps = RunDone, owner, 0
	run.Done = doneOf(append(log, standing...))
	plan.last = append(plan.last, znode.Op{Kind: znode.OpCreate, Path: run.path(), Data: run.encode(), ACL: run.ACL})
	plan.Runs = append(plan.Runs, RebuiltRun{Run: id, Entries: led.Entries, Lost: lost, Guessed: guessed, Why: why})
	return run, true
}

// lastACL is what the last run that is told of gave to what it made.
func lastACL(tree *znode.Tree) []znode.ACL {
	if r, ok := NewestRun(tree); ok {
		return r.ACL
	}
	if t, _ := readTrace(tree); len(t.Runs) > 0 {
		return t.Runs[len(t.Runs)-1].ACL
	}
	return nil
}

// runIDs are the runs that anything in the target tells of, oldest first.
func (ex *existing) runIDs(t trace) []string {
	ids := map[string]bool{}
	for _, tr := range t.Runs {
		ids[tr.ID] = true
	}
	for _, parent := range []string{RunsPath, LedgerPath} {
		for _, name := range ex.tree.Children(parent) {
			ids[name] = true
		}
	}
	for _, p := range ex.jobs {
		ids[p.prov.Run] = true
	}
	maps.DeleteFunc(ids, func(id string, _ bool) bool {
		_, ok := newqueue.ParseSequenceID(runPrefix, id)
		return !ok
	})
	return slices.Sorted(maps.Keys(ids))
}

func (ex *existing) run(id string) (Run, bool) {
	for _, r := range ex.runs {
		if r.ID == id {
			return r, true
		}
	}
	return Run{}, false
}

// damageOf says what is wrong with a run's record, its ledger or its trace.
func (ex *existing) damageOf(id string) (why []string) {
	for _, d := range ex.custody.damage {
		if strings.Contains(d.Path+"/", "/"+id+"/") || d.Path == newqueue.JobsPath {
			why = append(why, d.Path+": "+d.Message)
		}
	}
	if _, sound := ex.run(id); !sound && len(why) == 0 {
		why = append(why, fmt.Sprintf("%s: it is gone", znode.Join(RunsPath, id)))
	}
	return why
}

// remember is a run as its sound record, or else the trace, or else nothing but
// the defaults tell of it; guessed says that it was the last.
func (ex *existing) remember(id string, t trace) (r Run, guessed bool) {
	if r, sound := ex.run(id); sound {
		return r, false
	}
	tr, ok := t.find(id)
	if !ok {
		dialect, _, found := FindDialect(ex.tree)
		if !found {
			dialect = newqueue.Design
		}
		tr = tracedRun{ID: id, Dialect: dialect, Policies: DefaultPolicies(), Time: "auto", Made: []string{}, Holds: []string{}}
	}
	return Run{ID: id, Dialect: tr.Dialect, Policies: tr.Policies, Time: tr.Time, ACL: tr.ACL, Made: tr.Made, Holds: tr.Holds,
		Lost: tr.Lost, Ledger: Ledger{Entries: tr.Entries, Highest: tr.Highest}}, !ok
}

// maxShards keeps a forged name from being counted up to.
const maxShards = 1_000_000

// readableShards are the entries of a run's shards that can be read and that
// nobody wrote to, and a Ledger with their number and those given up.
func (ex *existing) readableShards(id string) (log []ledgerEntry, led Ledger) {
	for _, name := range ex.tree.Children(ledgerPath(id)) {
		if n, err := strconv.Atoi(name); err == nil && n < maxShards && shardPath(id, n) == znode.Join(ledgerPath(id), name) {
			led.Shards = max(led.Shards, n+1)
		}
	}
	for i := range led.Shards {
		n := ex.tree.Get(shardPath(id, i))
		if n != nil && n.Stat.Version == 0 {
			if entries, err := unpackShard(n.Data); err == nil {
				log = append(log, entries...)
				continue
			}
		}
		led.Missing = append(led.Missing, i)
	}
	return log, led
}

// standing are the entries that jobs which stand bear out and that the log
// lacks, in the order of their ids.
func (ex *existing) standing(id string, log []ledgerEntry) []ledgerEntry {
	logged := map[string]bool{}
	for _, e := range log {
		logged[e.record] = e.op != tookBack
	}
	var entries []ledgerEntry
	for record, p := range ex.jobs {
		if p.prov.Run != id || logged[record] {
			continue
		}
		e := ledgerEntry{op: tookOver, record: record, root: p.root, bid: p.bid, hash: p.prov.hash()}
		if _, err := encodeLedger([]ledgerEntry{e}); err == nil { // else no migration gave those names
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b ledgerEntry) int { return strings.Compare(a.root, b.root) })
	return entries
}

// spanOf is the transactions in which a run made what stands of it.
func (ex *existing) spanOf(r Run, standing []ledgerEntry) (from, to int64) {
	if s := r.span(ex.tree); s.known() {
		return s.from, s.to
	}
	for _, e := range standing {
		if n := ex.tree.Get(e.root); n != nil {
			to = max(to, n.Stat.Czxid)
			if from == 0 || n.Stat.Czxid < from {
				from = n.Stat.Czxid
			}
		}
	}
	for _, path := range r.Made {
		if n := ex.tree.Get(path); n != nil && n.Stat.Czxid != 0 && (n.Stat.Czxid < from || from == 0) {
			from, to = n.Stat.Czxid, max(to, n.Stat.Czxid)
		}
	}
	return max(from, 1), max(to, 1)
}

func doneOf(entries []ledgerEntry) Done {
	var d Done
	batches := map[string]bool{}
	for _, e := range entries {
		switch {
		case e.op != tookOver:
		case e.bid == "":
			d.Access++
		default:
			d.Jobs++
			batches[e.bid] = true
		}
	}
	d.Batches = len(batches)
	return d
}
