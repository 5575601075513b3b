package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Rebuilt is what a rebuild of the migration's own records did.
type Rebuilt struct {
	Runs []RebuiltRun `json:"runs"` // none if nothing was damaged
}

// RebuiltRun is one run whose record and ledger were written again.
type RebuiltRun struct {
	Run     string `json:"run"`
	Entries int    `json:"entries"` // in its ledger now
	Lost    int    `json:"lost"`    // entries that could not be recovered, because their jobs are gone
	// Guessed says that the run's settings were lost, and that the default ones were
	// assumed.
	Guessed bool     `json:"guessed"`
	Why     []string `json:"why"` // what was damaged
}

// Damage lists what another client changed or removed of the runs' records, their ledgers and
// the trace on /jobs. It is empty if there was no run.
func Damage(ctx context.Context, target side.Side) ([]Problem, error) {
	t, err := surveyTarget(ctx, target, "", surveyCalls{})
	if err != nil {
		return nil, err
	}
	return t.custody.damage, nil
}

// Rebuild writes damaged or missing records of runs, their ledgers and the trace on /jobs
// again. It takes what it needs from the trace, from the sound parts of the ledger, and
// from the jobs that are still there. Jobs that are gone can only be counted. Rebuild
// writes nothing outside of /migration except the data of /jobs. If it is interrupted,
// call it again to finish. Errors are those of [Migrator.Migrate].
func (m *Migrator) Rebuild(ctx context.Context) (*Rebuilt, error) {
	m.defaults()
	target, err := m.Target.side(ctx)
	if err != nil {
		return nil, interrupted(err)
	}
	t, err := surveyTarget(ctx, target, "", surveyCalls{})
	if err != nil {
		return nil, interrupted(err)
	}
	if len(t.custody.damage) == 0 {
		return &Rebuilt{Runs: []RebuiltRun{}}, nil
	}
	newest, _ := NewestRun(t.tree)
	t = nil // the target is read again when no other migrator is at work
	if err := m.Target.lead(ctx, m.owner, newest.ACL, nil, m.Say); err != nil {
		return nil, interrupted(err)
	}
	defer m.Target.resign()
	if target, err = m.Target.side(ctx); err != nil {
		return nil, interrupted(err)
	}
	plan, err := planRebuild(ctx, target, m.owner, m.Budget, m.Target.chrootLen())
	if err != nil {
		return nil, interrupted(err)
	}
	for _, ops := range plan.transactions {
		err := m.Target.Multi(context.WithoutCancel(ctx), ops)
		var refused *znode.MultiError
		switch {
		case errors.Is(err, zkconn.ErrUnknownOutcome):
			return nil, fmt.Errorf("%w; run it again", err)
		case errors.As(err, &refused) && isConflict(refused.Err):
			return nil, fmt.Errorf("%w: %w; run it again", ErrContended, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return &plan.Rebuilt, nil
}

// rebuildPlan is what a rebuild writes. Only the last transaction makes it count: until
// then the records are still damaged, and the next rebuild starts again. A rebuild never
// removes a shard that can be read.
type rebuildPlan struct {
	Rebuilt
	transactions [][]znode.Op
	last         []znode.Op
	budget       int              // of a transaction, in bytes
	chroot       int              // length of the target's
	dialect      newqueue.Dialect // that the target shows
}

func planRebuild(ctx context.Context, target side.Side, owner string, budget, chroot int) (*rebuildPlan, error) {
	ex, err := surveyTarget(ctx, target, "", surveyCalls{})
	if err != nil {
		return nil, err
	}
	tree := ex.tree
	dialect, _, found, err := readDialect(ctx, target, tree)
	if err != nil {
		return nil, err
	}
	if !found {
		dialect = newqueue.Design
	}
	old, _ := readTrace(tree)
	next := old
	next.Runs = nil
	plan := &rebuildPlan{Rebuilt: Rebuilt{Runs: []RebuiltRun{}}, budget: budget, chroot: chroot, dialect: dialect}
	newest, _ := NewestRun(tree)
	for _, path := range []string{MigrationPath, RunsPath, LedgerPath} {
		if tree.Get(path) == nil {
			plan.transactions = append(plan.transactions, creates([]leaf{{path, none}}, newest.ACL))
		}
	}
	for _, id := range ex.runIDs(old) {
		if run, sound := ex.run(id); sound {
			if run.Ledger.Void || ex.soundLedger(run) {
				next = next.with(run)
				continue
			}
		}
		if run, ok := plan.rebuild(ex, id, old, owner); ok {
			next = next.with(run)
		}
	}
	plan.last = append(plan.last, writeTrace(tree.Get(newqueue.JobsPath), next)...)
	// If only the trace is written, this marks the transaction as a migrator's; see [setByMigrator].
	mark := znode.Join(LedgerPath, "rebuilt")
	plan.last = append(plan.last, creates([]leaf{{mark, none}}, newest.ACL)...)
	plan.last = append(plan.last, znode.Delete(mark, 0))
	plan.transactions = append(plan.transactions, plan.last)
	return plan, nil
}

// soundLedger reports whether the run's ledger is whole, and the run created all of its
// shards.
func (ex *existing) soundLedger(r Run) bool {
	err := walkLedger(ex.tree, r, func(*znode.Node, []ledgerEntry) {})
	return err == nil && !slices.ContainsFunc(ex.custody.damage, func(d Problem) bool { return znode.Within(d.Path, ledgerPath(r.ID)) })
}

// rebuild plans one run's record and ledger. ok is false if there never was such a run: no
// job, shard or trace mentions it.
func (plan *rebuildPlan) rebuild(ex *survey, id string, t trace, owner string) (Run, bool) {
	run, guessed, counted := ex.findOrGuessRun(id, t, plan.dialect)
	had := run.Ledger.Entries
	log, led := ex.readableShards(id)
	unlogged := ex.unlogged(id, log)
	record := ex.tree.Get(run.path())
	// A rebuild doesn't remove what another client put below one of these. Verify names it.
	below := record != nil && len(ex.tree.Children(run.path())) > 0
	if record != nil && !below {
		plan.last = append(plan.last, znode.Delete(run.path(), -1))
	}
	for _, n := range led.Missing {
		if path := shardPath(id, n); ex.tree.Get(path) != nil && len(ex.tree.Children(path)) == 0 {
			plan.last = append(plan.last, znode.Delete(path, -1))
		}
	}
	if guessed && len(log)+len(unlogged) == 0 {
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
	shards, err := add.add(&led, unlogged, true)
	if err != nil {
		panic("migrate: each entry was encoded before: " + err.Error())
	}
	each := func(yield func(unit) bool) {
		for _, op := range shards {
			if !yield(unit{ops: []znode.Op{op}}) {
				return
			}
		}
	}
	for t := range pack(each, plan.budget, maxOps, plan.chroot) {
		plan.transactions = append(plan.transactions, t.ops)
	}
	led.Closed = led.Shards
	why := ex.damageOf(id)
	run.Ledger = led
	run.From, run.To = ex.spanOf(run)
	run.Copied = run.Copied || t.copied(ex.tree.Get(newqueue.JobsPath)) && len(t.Runs) > 0
	lost := max(had-led.Entries, 0)
	if !counted {
		lost = max(lost, 1) // it is not known how many; 0 would promise too much
	}
	run.Lost += lost
	run.State, run.Owner, run.Steps = RunDone, owner, 1
	run.Done = doneOf(append(log, unlogged...))
	if below {
		run.Steps = record.Stat.Version + 1
		plan.last = append(plan.last, znode.Set(run.path(), run.encode(), record.Stat.Version))
	} else {
		plan.last = append(plan.last, run.creates(run.ACL)...)
	}
	plan.Runs = append(plan.Runs, RebuiltRun{Run: id, Entries: led.Entries, Lost: lost, Guessed: guessed, Why: why})
	return run, true
}

// runIDs are the ids of all runs that anything in the target mentions, oldest first.
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
	for p := range ex.jobs.all() {
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

// findOrGuessRun returns a run from its record, if that is sound, else from the trace, else
// with the default settings. guessed says that the defaults were taken, counted that the
// number of the run's entries is known.
func (ex *existing) findOrGuessRun(id string, t trace, dialect newqueue.Dialect) (r Run, guessed, counted bool) {
	if r, sound := ex.run(id); sound {
		return r, false, true
	}
	tr, ok := t.find(id)
	if !ok {
		tr = tracedRun{ID: id, Dialect: dialect, Policies: DefaultPolicies(), Time: "auto", Made: []string{}, Holds: []string{}}
	}
	return tr.run(), !ok, tr.Done
}

// maxShards bounds the number of a shard, because the numbers of missing shards must fit
// the run's record, and a name may be forged. So many shards hold 25 million records.
const maxShards = 100_000

// readableShards returns the entries of the shards that can be read and that no other
// client wrote to, and a Ledger with the number of shards and the missing ones.
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

// unlogged are the entries that the log lacks and that jobs in the target show, in the
// order of the jobs' ids.
func (ex *existing) unlogged(id string, log []ledgerEntry) []ledgerEntry {
	logged := map[string]bool{}
	for _, e := range log {
		logged[e.record] = e.op != opRolledBack
	}
	var entries []ledgerEntry
	for p := range ex.jobs.all() {
		if p.prov.Run != id || logged[p.prov.Path] {
			continue
		}
		if e, ok := p.entry(); ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b ledgerEntry) int { return strings.Compare(a.root, b.root) })
	return entries
}

// spanOf is the range of transactions in which a run created its znodes. If the run's
// record is gone, nothing shows when the run began and ended, because its first and last
// znodes can be gone too. Then the range ends with the newest znode that any run is known
// to have created. What another client recreated since is later than that.
func (ex *survey) spanOf(r Run) (from, to int64) {
	if s := r.span(ex.tree); s.known() {
		if r.From == 0 && r.State == RunDone { // its last transaction set its record; the shard may have been recreated
			s.to = min(s.to, r.stat.Mzxid)
		}
		return s.from, s.to
	}
	to = 1
	note := func(path string) {
		if n := ex.tree.Get(path); n != nil {
			to = max(to, n.Stat.Czxid)
		}
	}
	for _, s := range ex.spans {
		to = max(to, s.to)
	}
	for i := range ex.jobs.rows {
		to = max(to, ex.jobs.rows[i].czxid)
	}
	for _, path := range r.Made {
		note(path)
	}
	for _, b := range ex.existingBatches {
		if b.kind != "" {
			to = max(to, b.czxid)
		}
	}
	if t, ok := readTrace(ex.tree); ok {
		if s := ex.tree.Get(newqueue.JobsPath).Stat; s.Version == t.Sets {
			to = max(to, s.Mzxid) // the newest run's last transaction, or a rebuild's
		}
	}
	return 1, to
}

func doneOf(entries []ledgerEntry) Done {
	var d Done
	batches := map[string]bool{}
	for _, e := range entries {
		switch {
		case e.op != opMigrated:
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
