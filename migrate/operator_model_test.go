package migrate

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// Operators, workers and other clients take random steps on a legacy queue and two
// targets, with faults. After each step an oracle says what must exist, what must never be
// created twice, and what verify must say.
//
// A small size runs with every test; make torture runs a large one:
//
//	go test ./migrate -run TestOperatorsLife -rapid.checks 500 -v
func TestOperatorsLife(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	// The default of a hundred lives takes too long, above all with the race detector. The
	// lives are the same in every test, so that a failure is due to the change.
	if checks.Value.String() == checks.DefValue {
		for name, value := range map[string]string{"rapid.checks": "20", "rapid.seed": "1"} {
			was := flag.Lookup(name).Value.String()
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { flag.Set(name, was) })
		}
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			counts := lifeCounts{}
			rapid.Check(t, func(rt *rapid.T) { rt.Repeat(newLife(rt, d, counts).steps()) })
			t.Log(counts)
		})
	}
}

// lifeCounts counts the steps that were taken, by kind.
type lifeCounts map[string]int

func (c lifeCounts) String() string {
	total := 0
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		if kind != "lives" {
			total += c[kind]
		}
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, c[kind]))
	}
	return fmt.Sprintf("%d lives, %d steps: %s", c["lives"], total, strings.Join(kinds, ", "))
}

// life is one life: a legacy queue, and the targets that it is migrated to.
type life struct {
	*rapid.T
	counts  lifeCounts
	dialect newqueue.Dialect
	records []*oldRecord
	made    int            // how many records were ever created
	numbers map[string]int // the last number, by legacy queue
	targets []*lifeTarget
	servers int         // how many were started; the clock of each is later than that of the one before
	now     *lifeTarget // the place of the current step
}

// lifeTarget is a target, with its oracle.
type lifeTarget struct {
	*site
	*oracle
	queue  *newqueue.Queue
	held   []*newqueue.Job // what a worker has and has not finished
	saved  *saved
	before *znode.Tree
}

// saved is a dump of a target, and a copy of its oracle at that time.
type saved struct {
	dump   []byte
	oracle *oracle
}

func newLife(t *rapid.T, d newqueue.Dialect, counts lifeCounts) *life {
	counts["lives"]++
	l := &life{T: t, counts: counts, dialect: d, numbers: map[string]int{}}
	for range 2 {
		p := &lifeTarget{oracle: newOracle()}
		p.open(l, znode.NewTree())
		l.targets = append(l.targets, p)
	}
	return l
}

// open serves the tree on a new server.
func (p *lifeTarget) open(l *life, tree *znode.Tree) {
	l.servers++
	now := testNow.Add(time.Duration(l.servers) * time.Hour)
	server, err := minizk.Start(minizk.Options{Now: now}) // without a log: the steps say what happened
	l.must(err)
	l.Cleanup(func() { server.Close() })
	p.site = serveOn(l.T, server, tree)
	p.queue = newqueue.Open(p.client, l.dialect)
	p.held = nil
}

// steps are all steps.
func (l *life) steps() map[string]func(*rapid.T) {
	steps := map[string]func(){
		"legacy: submit": l.submit, "legacy: submit more": l.submit, "legacy: status": l.changeStatus, "legacy: remove": l.removeRecord,
		"migrate":                     func() { l.migrate(l.healthy) },
		"migrate again":               func() { l.migrate(l.healthy) },
		"migrate, killed":             func() { l.migrate(l.killed) },
		"migrate, an answer lost":     func() { l.migrate(l.loseAnswer) },
		"migrate, others submit":      func() { l.migrate(l.othersSubmitDuring) },
		"work: take":                  l.take,
		"work: finish":                l.finish,
		"work: through":               l.workThrough,
		"work: access":                l.workAccess,
		"work: report":                l.report,
		"work: clean":                 l.clean,
		"administrator: delete a job": l.deleteJob,
		"administrator: move a job":   l.moveJob,
		"administrator: holds":        l.holds,
		"others: submit":              l.othersSubmit,
		"rollback":                    func() { l.rollback(false, l.healthy) },
		"rollback, killed":            func() { l.rollback(false, l.killed) },
		"rollback, forced":            func() { l.rollback(true, l.healthy) },
		"field script: wipe":          l.wipe,
		"rebuild":                     l.rebuild,
		"dump":                        l.dump,
		"restore":                     l.restore,
	}
	actions := map[string]func(*rapid.T){}
	for name, step := range steps {
		actions[name] = func(t *rapid.T) {
			l.T = t
			l.now = l.targets[0]
			if rapid.IntRange(0, 4).Draw(t, "target") == 4 {
				l.now = l.targets[1]
			}
			l.now.before = treeOf(t, l.now.site)
			step()
			l.counts[name]++
			l.check()
		}
	}
	return actions
}

// check compares every target with its oracle.
func (l *life) check() {
	src := l.source()
	for _, p := range l.targets {
		tree := treeOf(l.T, p.site)
		p.checkJobs(l, tree)
		v := verifyTree(src, tree, VerifyOptions{Others: true})
		if why := p.expect(tree, l.records).differs(tree, v); why != "" {
			l.Fatal(why)
		}
		if strict := verifyTree(src, tree, VerifyOptions{}); len(strict.Differences) < len(v.Differences) {
			l.Fatalf("without leave for others verify finds %d differences, with it %d", len(strict.Differences), len(v.Differences))
		}
	}
}

// checkJobs checks that nothing is there twice, and that nothing is lost.
func (p *lifeTarget) checkJobs(l *life, tree *znode.Tree) {
	found := jobsByToken(tree)
	for token, places := range found {
		if w := p.top(token); len(places) > 1 || w == nil || w.state != jobExists || w.root != places[0].root {
			l.Fatalf("%s is at %v, and the oracle expects %+v", token, places, w)
		}
	}
	for token, w := range p.all() {
		if w.state == jobExists && len(found[token]) == 0 {
			l.Fatalf("%s (%s) is lost", token, w.root)
		}
	}
}

// source is the legacy queue as it is now.
func (l *life) source() *Source {
	tree := znode.NewTree()
	for _, root := range DefaultQueues().Roots() {
		l.put(tree, root, []byte{})
	}
	for _, r := range l.records {
		l.put(tree, r.path, []byte(r.bytes()))
	}
	tree.SetDefaultStats(1)
	src, err := ReadSource(tree, DefaultQueues(), legacy.Options{})
	l.must(err)
	return src
}

func (l *life) put(tree *znode.Tree, path string, data []byte) {
	l.must(tree.Put(znode.Node{Path: path, Data: data}))
}

func (l *life) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// observed tells the oracle what a step changed that was not the migrator's.
func (l *life) observed() {
	l.now.observe(l.now.before, treeOf(l.T, l.now.site))
}

// The legacy services.

func (l *life) submit() {
	for range rapid.IntRange(1, 4).Draw(l.T, "records") {
		kind := rapid.SampledFrom([]QueueKind{Ingest, Ingest, Ingest, Inventory, AccessSmall, AccessLarge}).Draw(l.T, "queue")
		root := DefaultQueues().Nodes[kind][0]
		l.made++
		l.numbers[root]++
		key := legacy.Key{Priority: rapid.IntRange(0, 3).Draw(l.T, "priority"), Sequence: int32(l.numbers[root])}
		if kind == Ingest {
			key.Long, key.HighPriority, key.Worker = true, rapid.Bool().Draw(l.T, "high"), fmt.Sprint(rapid.IntRange(0, 1).Draw(l.T, "worker"))
		}
		token := fmt.Sprintf("tok%04d", l.made)
		payload := legacy.Payload{"jobID": token, "title": token, "profile": "p", "submitter": "s", "manifestURL": "http://m", "token": "t"}
		if b := rapid.SampledFrom([]string{"", "A", "A", "B", "C"}).Draw(l.T, "batch"); b != "" {
			payload["batchID"] = b
		}
		l.records = append(l.records, &oldRecord{
			path: root + "/" + key.String(), kind: kind, token: token, payload: payload, status: l.drawStatus(),
			bad: rapid.IntRange(0, 9).Draw(l.T, "bad") == 9,
		})
	}
}

func (l *life) drawStatus() legacy.Status {
	return rapid.SampledFrom([]legacy.Status{legacy.Pending, legacy.Pending, legacy.Pending, legacy.Consumed, legacy.Held, legacy.Failed, legacy.Completed, legacy.Deleted}).Draw(l.T, "status")
}

func (l *life) drawRecord() int {
	if len(l.records) == 0 {
		l.SkipNow()
	}
	return rapid.IntRange(0, len(l.records)-1).Draw(l.T, "record")
}

func (l *life) changeStatus() { l.records[l.drawRecord()].status = l.drawStatus() }

func (l *life) removeRecord() {
	i := l.drawRecord()
	l.records = slices.Delete(l.records, i, i+1)
}

// The migrator, and its faults.

// prepareFault prepares a fault, and says whether it may kill the migrator.
type prepareFault func(m *Migrator) (killed bool)

func (l *life) healthy(*Migrator) bool { return false }

func (l *life) killed(m *Migrator) bool {
	m.Budget = rapid.SampledFrom([]int{1, 1, 0}).Draw(l.T, "budget")
	l.now.kill(l.T, rapid.IntRange(1, 8).Draw(l.T, "at"), rapid.Bool().Draw(l.T, "carried"))
	return true
}

func (l *life) loseAnswer(m *Migrator) bool {
	m.Budget = 1
	l.now.cut(rapid.IntRange(1, 8).Draw(l.T, "at"), rapid.Bool().Draw(l.T, "carried"))
	return false
}

// othersSubmitDuring submits to the new queue during a migration.
func (l *life) othersSubmitDuring(m *Migrator) bool {
	m.Budget = 1
	at := rapid.SliceOfNDistinct(rapid.IntRange(1, 8), 1, 3, rapid.ID[int]).Draw(l.T, "at")
	jobs := rapid.IntRange(0, 2).Draw(l.T, "jobs")
	p := l.now
	var mu sync.Mutex
	var failed error
	l.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil {
			l.Errorf("others could not submit: %v", failed)
		}
	})
	p.site.before(l.T, func(n int) {
		if !slices.Contains(at, n) {
			return
		}
		if err := p.othersBatch(jobs); err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
	})
	return false
}

var othersBatches atomic.Int64

// othersBatch creates a batch with jobs, as a client of the new queue does.
func (p *lifeTarget) othersBatch(jobs int) error {
	ctx := context.Background()
	if err := p.queue.Init(ctx); err != nil {
		return err
	}
	if _, err := p.queue.CreateBatch(ctx, newqueue.Submission{ProfileName: "other", Submitter: "other", BatchID: fmt.Sprintf("other-%d", othersBatches.Add(1))}); err != nil {
		return err
	}
	b, err := p.queue.AcquirePendingBatch(ctx)
	if err != nil {
		return err
	}
	_, err = b.Process(ctx, make([]newqueue.NewJob, jobs)...)
	return err
}

func (l *life) othersSubmit() {
	l.must(l.now.othersBatch(rapid.IntRange(0, 2).Draw(l.T, "jobs")))
	l.observed()
}

func (l *life) drawChoice() choice {
	p := permissive()
	if rapid.IntRange(0, 3).Draw(l.T, "strict") == 3 {
		for _, c := range PolicyChoices[:4] {
			*c.Value(&p) = rapid.SampledFrom(c.Values).Draw(l.T, c.Name)
		}
	}
	c := choice{policies: p}
	paths := func(flag string, chance int) (some []string) {
		if rapid.IntRange(0, chance).Draw(l.T, flag) != chance {
			return nil
		}
		for _, r := range l.records {
			w := l.now.top(r.token)
			if w != nil && w.state != jobExists && rapid.Bool().Draw(l.T, r.path) {
				some = append(some, r.path)
			}
		}
		return some
	}
	c.again, c.done = paths("again", 3), paths("done", 3)
	return c
}

// migrate runs the migrator once, and compares what it did with what it should do.
func (l *life) migrate(b prepareFault) {
	p, src, c := l.now, l.source(), l.drawChoice()
	runs := rawRuns(p.before)
	resumes, others := "", ""
	if n := len(runs); n > 0 {
		switch last := runs[n-1]; {
		case last.State == "running":
			resumes = last.Run
			if last.Policies != c.policies && rapid.Bool().Draw(l.T, "same policies") {
				c.policies = last.Policies
			}
			if last.Policies != c.policies {
				others = "other policies"
			}
		case last.State == "rolling-back":
			others = "rolling back"
		}
	}
	expected, why := map[string]expectedAction{}, others
	may := p.mayBlock(l.records)
	if p.damaged {
		why = "damaged"
	}
	for _, r := range l.records {
		f := p.expectedAction(r, c, resumes)
		expected[r.token] = f
		if f == blocked && why == "" {
			why = fmt.Sprintf("%s %s %+v", r.path, r.status, p.top(r.token))
		}
		may = may || f == either
	}
	opt := options(c.policies)
	opt.Dialect, opt.Again, opt.Done = l.dialect, c.again, c.done
	m := &Migrator{Target: p.Target, Now: clock(), Keep: keepNothing, HoldAgain: true}
	mayDie := b(m)
	res, err := m.Migrate(l.Context(), static(src), opt, nil)
	after := treeOf(l.T, p.site)
	switch {
	case errors.Is(err, ErrBlocked) && (why != "" || may):
		if got := dumpWithStats(after); got != dumpWithStats(p.before) && len(runs) > 0 {
			l.Fatalf("a plan that is blocked (%v) wrote something: %s", err, firstDifference(dumpWithStats(p.before), got))
		}
		p.begin(l.T)
		return
	case err == nil && why != "":
		l.Fatalf("migrated, and it should be blocked by %s", why)
	case err == nil:
	case mayDie && errors.Is(err, zkconn.ErrLost):
	default:
		l.Fatalf("migrate: %v (%+v)", err, res)
	}
	p.begin(l.T)
	if resumes != "" {
		p.resumed[resumes] = true
		p.noteContinued(resumes, after)
	}
	p.migrated(l, after, expected, c, err == nil)
}

// noteContinued notes that a run continued whose record came from a dump.
func (p *lifeTarget) noteContinued(run string, after *znode.Tree) {
	record := "/migration/runs/" + run
	if _, copied := p.copied[run]; copied && !sameNode(p.before.Get(record), after.Get(record)) {
		p.copied[run] = false
	}
}

// mayBlock reports whether a plan may have problems: another client changed a batch, or
// removed a record whose job is in a batch.
func (o *oracle) mayBlock(records []*oldRecord) bool {
	for token, w := range o.all() {
		if w.state == jobExists && w.bid != "" && !slices.ContainsFunc(records, func(r *oldRecord) bool { return r.token == token }) {
			return true
		}
	}
	return slices.Contains(slices.Collect(maps.Values(o.batches)), true)
}

// migrated notes what a migration did, even if it was interrupted, and checks that it was
// right.
func (p *lifeTarget) migrated(l *life, after *znode.Tree, expected map[string]expectedAction, c choice, whole bool) {
	runs := rawRuns(after)
	if whole && len(runs) > 0 && runs[len(runs)-1].State != "done" {
		l.Fatalf("migrated, and %s is %s", runs[len(runs)-1].Run, runs[len(runs)-1].State)
	}
	for _, r := range runs {
		if _, known := p.runs[r.Run]; !known {
			p.runs[r.Run] = &pastRun{before: dumpOfAll(p.before, len(p.runs) > 0), hadRuns: len(p.runs) > 0}
		}
	}
	found := jobsByToken(after)
	mine := map[string]bool{} // znodes that it may change
	byToken := map[string]*oldRecord{}
	for _, r := range l.records {
		byToken[r.token] = r
	}
	changedBefore := false
	for token, places := range found {
		r, w, here := byToken[token], p.top(token), places[0]
		switch f := expected[token]; {
		case len(places) > 1:
			l.Fatalf("%s was made twice: %v", token, places)
		case w != nil && w.state == jobExists && w.root == here.root:
			was, is := nodesOfJob(p.before, w.root, w.bid), nodesOfJob(after, here.root, here.bid)
			if facts(p.before, was, true) == facts(after, is, true) {
				if whole && f == rewritten {
					l.Fatalf("%s changed and its job %s did not", r.path, w.root)
				}
				continue
			}
			if f != rewritten {
				l.Fatalf("%s was changed by a migration, and should be left %s: %s", w.root, f, firstDifference(facts(p.before, was, true), facts(after, is, true)))
			}
			for _, n := range was {
				mine[n] = true
			}
			w.data, changedBefore = r.bytes(), true
		case f == created || f == either:
			run := runs[len(runs)-1].Run
			_, copied := p.copied[run]
			p.works[token] = append(p.works[token], &work{root: here.root, bid: here.bid, run: run, record: r.path, data: r.bytes(), state: jobExists, copied: copied})
			if here.bid != "" {
				if _, known := p.batches[here.bid]; !known {
					p.batches[here.bid] = false
				}
				changedBefore = changedBefore || p.before.Get("/batches/"+here.bid) != nil && runs[len(runs)-1].Run != string(runOfBatch(p.before, here.bid))
			}
		default:
			l.Fatalf("%s was made of a record that should be left %s (%+v)", here.root, f, w)
		}
		if want := initialStateOf(r, c.policies); stateAt(after, here.root) != want && r.status != legacy.Consumed {
			l.Fatalf("%s of a %s record is %s, want %s", here.root, r.status, stateAt(after, here.root), want)
		}
	}
	for token, f := range expected {
		switch w := p.top(token); {
		case whole && f == created && len(found[token]) == 0:
			l.Fatalf("%s was not made", token)
		case f == declared && whole:
			w.state, w.run = jobDeclaredDone, runs[len(runs)-1].Run
		case f == declared:
			// The run that was to enter it was interrupted. The next run shows whether it did.
		}
	}
	for bid := range p.batches {
		for _, n := range ownNodesOfBatch(p.before, bid) {
			if s := p.before.Get(n).Stat; s.Version == 0 && s.EphemeralOwner == 0 {
				mine[n] = true
				changedBefore = changedBefore || !sameNode(p.before.Get(n), after.Get(n)) && runOfBatch(p.before, bid) != runs[len(runs)-1].Run
			}
		}
		if whole {
			delete(p.outdated, bid)
		}
	}
	p.checkOthersUnchanged(l, after, mine)
	if changedBefore {
		p.forgetBefore()
	}
	if p.before.Get("/batches") != nil || after.Get("/batches") != nil {
		p.othersCame(after)
	}
}

// runOfBatch returns the run that created a batch, as the batch itself says.
func runOfBatch(tree *znode.Tree, bid string) string {
	prov, _ := parseBatchProvenance(tree.Get("/batches/" + bid).Data)
	return prov.Run
}

// othersCame notes what other clients submitted meanwhile. A rollback leaves that.
func (p *lifeTarget) othersCame(after *znode.Tree) {
	for _, name := range after.Children("/batch-uuids") {
		if strings.HasPrefix(name, "other-") && p.before.Get("/batch-uuids/"+name) == nil {
			p.forgetBefore()
		}
	}
}

// checkOthersUnchanged checks that a migration or a rollback changed nothing of other clients.
func (p *lifeTarget) checkOthersUnchanged(l *life, after *znode.Tree, mine map[string]bool) {
	l.Helper()
	for n := range p.before.All("/") {
		own := strings.HasPrefix(n.Path, MigrationPath+"/") && !foreignMarker(n.Path) || n.Path == MigrationPath
		if own || mine[n.Path] || n.Path == "/" || n.Path == "/jobs" || n.Stat.EphemeralOwner != 0 {
			continue
		}
		if !sameNode(n, after.Get(n.Path)) {
			l.Fatalf("%s is not ours, and was changed or removed", n.Path)
		}
	}
}

// rollback rolls back the newest run, and checks that it removed only what it may.
func (l *life) rollback(force bool, b prepareFault) {
	p := l.now
	runs := rawRuns(p.before)
	if len(runs) == 0 {
		l.SkipNow()
	}
	run := runs[len(runs)-1].Run
	m := &Migrator{Target: p.Target, Now: clock(), Keep: keepNothing}
	mayDie := b(m)
	u, err := m.Rollback(l.Context(), run, force)
	after := treeOf(l.T, p.site)
	switch {
	case p.damaged && errors.Is(err, ErrLedger):
		if dumpWithStats(p.before) != dumpWithStats(after) {
			l.Fatal("a rollback that is refused wrote something")
		}
		p.begin(l.T)
		return
	case p.damaged:
		l.Fatalf("rollback of what is damaged: %v", err)
	case err == nil:
	case mayDie && errors.Is(err, zkconn.ErrLost):
	default:
		l.Fatalf("rollback: %v", err)
	}
	p.begin(l.T)
	p.noteContinued(run, after)
	p.rolledBack(l, after, run, force, err == nil, u)
}

func (p *lifeTarget) rolledBack(l *life, after *znode.Tree, run string, force, whole bool, u *Undo) {
	mine := map[string]bool{}
	kept := map[string]bool{} // batches that may stay
	for _, w := range p.all() {
		if w.state == jobExists && w.run == run && w.bid != "" && (w.touched || w.copied) {
			kept[w.bid] = true
		}
	}
	for token, w := range p.all() {
		if w.state != jobExists {
			continue
		}
		stays := after.Get(w.root) != nil
		switch {
		case w.run != run && !stays:
			l.Fatalf("rollback of %s removed %s, which %s made", run, w.root, w.run)
		case !stays && (w.touched || w.copied) && !force:
			l.Fatalf("rollback of %s removed %s, which another client touched: %+v", run, w.root, w)
		case !stays:
			for _, n := range nodesOfJob(p.before, w.root, w.bid) {
				mine[n] = true
			}
			p.works[token] = p.works[token][:len(p.works[token])-1]
		case whole && w.run == run && !w.touched && !w.copied && !force && !kept[w.bid] && !p.batches[w.bid]:
			l.Fatalf("rollback of %s left %s, which nobody touched: %v", run, w.root, u.Kept)
		}
	}
	for bid := range p.batches {
		if p.batches[bid] && !force && after.Get("/batches/"+bid) == nil && p.before.Get("/batches/"+bid) != nil {
			l.Fatalf("rollback of %s removed /batches/%s, which another client changed", run, bid)
		}
		for _, n := range ownNodesOfBatch(p.before, bid) {
			mine[n] = true
		}
		if after.Get("/batches/"+bid) == nil && p.before.Get("/batches/"+bid) != nil {
			delete(p.batches, bid)
		} else {
			p.outdated[bid] = true
		}
	}
	for _, r := range p.layout() {
		mine[r] = true
	}
	p.checkOthersUnchanged(l, after, mine)
	past := p.runs[run]
	if whole && past != nil && past.before != "" {
		if got := dumpOfAll(after, past.hadRuns); got != past.before {
			l.Fatalf("rollback of %s, which nobody touched, left another tree: %s", run, firstDifference(past.before, got))
		}
	}
	if after.Get("/migration/runs/"+run) == nil {
		delete(p.runs, run)
		delete(p.copied, run)
	}
}

// layout has the znodes of the layout that a run may create, and that its rollback removes.
func (p *lifeTarget) layout() []string {
	paths := []string{"/batches", "/batch-uuids", "/jobs", "/access", "/locks"}
	for _, parent := range []string{"/jobs", "/access", "/locks", "/locks/queue", "/jobs/states"} {
		for _, name := range p.before.Children(parent) {
			paths = append(paths, znode.Join(parent, name))
		}
	}
	return slices.DeleteFunc(paths, func(n string) bool {
		return strings.HasPrefix(n, "/jobs/jid") || strings.Count(n, "/") > 3
	})
}

// The new queue's workers and administrators.

func (l *life) drawState() newqueue.JobState {
	return rapid.SampledFrom([]newqueue.JobState{newqueue.JobPending, newqueue.JobPending, newqueue.JobRecording, newqueue.JobEstimating}).Draw(l.T, "state")
}

// refused are errors that mean that a step is not possible now.
func refused(err error) bool {
	var state *newqueue.StateError
	var node *newqueue.NodeError
	return errors.As(err, &state) || errors.As(err, &node) || errors.Is(err, newqueue.ErrLocked) || errors.Is(err, newqueue.ErrNone) ||
		errors.Is(err, newqueue.ErrNotFound) || errors.Is(err, newqueue.ErrNotResumable) || errors.Is(err, newqueue.ErrStillProcessing) ||
		errors.Is(err, newqueue.ErrNotReported) || errors.Is(err, newqueue.ErrNotLocked) || errors.Is(err, newqueue.ErrExists) || errors.Is(err, newqueue.ErrConflict)
}

func (l *life) okIfRefused(err error) {
	l.Helper()
	if err != nil && !refused(err) {
		l.Fatal(err)
	}
}

func (l *life) take() {
	j, err := l.now.queue.AcquireJob(l.Context(), l.drawState())
	l.okIfRefused(err)
	if err == nil {
		l.now.held = append(l.now.held, j)
	}
	l.observed()
}

func (l *life) finish() {
	if len(l.now.held) == 0 {
		l.SkipNow()
	}
	j := l.now.held[0]
	l.now.held = l.now.held[1:]
	switch rapid.IntRange(0, 2).Draw(l.T, "how") {
	case 0:
		l.okIfRefused(j.Unlock(l.Context()))
	case 1:
		l.okIfRefused(j.Fail(l.Context(), "broken"))
	default:
		l.okIfRefused(j.Succeed(l.Context()))
	}
	l.observed()
}

// workThrough moves a job from state to state until it is completed or a step fails.
func (l *life) workThrough() {
	state, steps := l.drawState(), rapid.IntRange(1, 12).Draw(l.T, "steps")
	for range steps {
		j, err := l.now.queue.AcquireJob(l.Context(), state)
		l.okIfRefused(err)
		if err != nil {
			break
		}
		l.okIfRefused(j.Succeed(l.Context()))
		if state = j.Status.State; state == newqueue.JobCompleted {
			break
		}
	}
	l.observed()
}

func (l *life) workAccess() {
	queue := rapid.SampledFrom(newqueue.AccessQueues).Draw(l.T, "queue")
	state := newqueue.AccessPending
	for range rapid.IntRange(1, 4).Draw(l.T, "steps") {
		a, err := l.now.queue.AcquireAccess(l.Context(), queue, state)
		l.okIfRefused(err)
		if err != nil {
			break
		}
		l.okIfRefused(a.Succeed(l.Context()))
		if state = a.Status.State; state == newqueue.AccessCompleted {
			break
		}
	}
	l.observed()
}

// report reports every batch whose jobs are all done.
func (l *life) report() {
	ctx, q := l.Context(), l.now.queue
	for _, bid := range l.now.before.Children("/batches") {
		l.okIfRefused(q.ReportIfEmptied(ctx, bid))
	}
	for {
		b, err := q.AcquireReportingBatch(ctx)
		l.okIfRefused(err)
		if err != nil {
			break
		}
		r, err := b.Report(ctx)
		l.okIfRefused(err)
		if err == nil {
			err = b.Finish(ctx, r)
			l.okIfRefused(err)
		}
		if err != nil {
			break
		}
	}
	l.observed()
}

func (l *life) clean() {
	ctx, q := l.Context(), l.now.queue
	_, err := q.CleanupJobs(ctx)
	l.okIfRefused(err)
	_, err = q.CleanupBatches(ctx)
	l.okIfRefused(err)
	for _, queue := range newqueue.AccessQueues {
		_, err = q.CleanupAccess(ctx, queue)
		l.okIfRefused(err)
	}
	l.observed()
}

func (l *life) drawJob() string {
	jids := slices.DeleteFunc(l.now.before.Children("/jobs"), func(name string) bool { return name == "states" })
	if len(jids) == 0 {
		l.SkipNow()
	}
	return rapid.SampledFrom(jids).Draw(l.T, "job")
}

func (l *life) deleteJob() {
	_, err := l.now.queue.DeleteJob(l.Context(), l.drawJob())
	l.okIfRefused(err)
	l.observed()
}

func (l *life) moveJob() {
	jid, ctx, q := l.drawJob(), l.Context(), l.now.queue
	switch rapid.IntRange(0, 2).Draw(l.T, "how") {
	case 0:
		l.okIfRefused(q.ReleaseJob(ctx, jid))
	case 1:
		_, err := q.ResumeJob(ctx, jid)
		l.okIfRefused(err)
	default:
		l.okIfRefused(q.SetPriority(ctx, jid, rapid.IntRange(0, 9).Draw(l.T, "priority")))
	}
	l.observed()
}

// holds has an administrator lift a hold or set one.
func (l *life) holds() {
	h := rapid.SampledFrom(newqueue.QueueHolds).Draw(l.T, "hold")
	if l.now.before.Get(newqueue.QueueHoldPath(h)) != nil {
		l.okIfRefused(l.now.queue.Unlock(l.Context(), newqueue.QueueLock(h)))
	} else {
		l.okIfRefused(l.now.queue.Lock(l.Context(), newqueue.QueueLock(h)))
	}
	l.observed()
}

// The field's script, and the repair after it.

// wipe removes everything below /migration and sets the field's own marker, as that
// script does (docs/field-script.md, "Migration levels").
func (l *life) wipe() {
	p := l.now
	for _, path := range slices.Backward(p.before.Paths(MigrationPath)) {
		if p.before.Get(path).Stat.EphemeralOwner == 0 && path != MigrationPath {
			do(l.T, p.site, znode.Delete(path, -1))
		}
	}
	if p.before.Get(MigrationPath) == nil {
		do(l.T, p.site, znode.Create(MigrationPath, none))
	}
	do(l.T, p.site, znode.Create(MigrationPath+"/m1", none))
	p.forgetBefore()
	if n := p.before.Get("/jobs"); n != nil && bytes.Contains(n.Data, []byte("custody_ledger")) {
		p.damaged = true
		// A batch's contents include all jobs of its run's plan. A rebuild can't know of the
		// jobs that a killed run did not create any more.
		for _, r := range rawRuns(p.before) {
			for bid := range p.batches {
				p.outdated[bid] = p.outdated[bid] || r.State != "done"
			}
		}
	}
}

func (l *life) rebuild() {
	p := l.now
	m := &Migrator{Target: p.Target, Now: clock(), Keep: keepNothing}
	res, err := m.Rebuild(l.Context())
	l.must(err)
	after := treeOf(l.T, p.site)
	p.checkOthersUnchanged(l, after, nil)
	if !p.damaged {
		if len(res.Runs) > 0 {
			l.Fatalf("rebuilt what was not damaged: %+v", res.Runs)
		}
		return
	}
	p.damaged = false
	p.lossy = true
	for _, r := range res.Runs {
		delete(p.copied, r.Run)
	}
	for _, list := range p.works {
		for _, w := range list {
			if w.state == jobRemoved || w.state == jobDeclaredDone {
				w.state = custodyForgotten
			}
		}
	}
}

// A dump of the target, and later a restore that replaces everything that came since.

func (l *life) dump() {
	var b bytes.Buffer
	l.must(znode.WriteDump(&b, l.now.before))
	l.now.saved = &saved{b.Bytes(), l.now.oracle.clone()}
}

func (l *life) restore() {
	p := l.now
	if p.saved == nil {
		l.SkipNow()
	}
	tree, err := znode.ReadDump(bytes.NewReader(p.saved.dump))
	l.must(err)
	p.oracle = p.saved.oracle.clone()
	p.forgetBefore()
	p.open(l, znode.NewTree())
	m := &Migrator{Target: p.Target, Now: clock(), Keep: keepNothing}
	_, err = m.Restore(l.Context(), p.Target.Backend.(online).Writer, tree)
	l.must(err)
	for _, w := range p.all() {
		w.copied, w.mayHideChange, w.seen = true, w.mayHideChange || w.seen, false
	}
	for _, r := range rawRuns(tree) {
		p.copied[r.Run] = true
	}
	p.begin(l.T)
}
