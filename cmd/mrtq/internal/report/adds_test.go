package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestAddsUp: the numbers of pages about generated migrations add up, at each stage of a
// migration: every tile and every table, with each other and with the plan.
func TestAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newGenerated(t, seed).live()
		})
	}
}

// generated is a migration that is generated from a seed.
type generated struct {
	t        *testing.T
	rnd      *rand.Rand
	src, new *migrate.Writer
	door     *zk.Conn
	opt      migrate.Options
	waits    int // how many jobs wait, as the last plan's page says
}

func newGenerated(t *testing.T, seed uint64) *generated {
	g := &generated{t: t, rnd: rand.New(rand.NewPCG(seed, 1))}
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 150, Seed: seed, Consumed: seed%3 > 0})
	if seed%4 == 3 {
		tree, err = legacyqueue.Deployed()
	}
	g.must(err)
	g.must(tree.Put(znode.Node{Path: "/new", Data: []byte{}}))
	for i := range g.rnd.IntN(3) {
		g.must(tree.Put(znode.Node{Path: fmt.Sprintf("/ingest/mrtQ-0500000077%02d", i), Data: []byte("no record")}))
	}
	for i := range g.rnd.IntN(3) { // several demands of the services are not met
		data, err := legacy.Encode(legacy.NewHeader(legacy.Pending, time.Unix(1.7e9, 0), legacy.Milliseconds), legacy.JSON, legacy.Payload{"jobID": fmt.Sprintf("jid-%d", i)})
		g.must(err)
		g.must(tree.Put(znode.Node{Path: fmt.Sprintf("/ingest/mrtQ-0500000088%02d", i), Data: data}))
	}
	server := minizk.RunWith(quiet{t}, minizk.Options{RealTime: true})
	g.must(server.Load(tree))
	g.src, g.new = g.open(server.Addr()), g.open(server.Addr()+"/new")
	door, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	g.must(err)
	t.Cleanup(door.Close)
	g.door = door
	g.opt = migrate.Options{Dialect: newqueue.Dialects[seed%2], NewQueue: true, Choices: migrate.DefaultChoices(), Source: "zk1", Target: "zk1/new"}
	for _, c := range migrate.AllChoices {
		*c.Value(&g.opt.Choices) = c.Values[g.rnd.IntN(len(c.Values))]
	}
	return g
}

// quiet is a test that does not print the server's log.
type quiet struct{ testing.TB }

// Logf prints nothing.
func (quiet) Logf(string, ...any) {}

func (g *generated) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *generated) open(address string) *migrate.Writer {
	at, err := zkconn.ParseAddress(address)
	g.must(err)
	w, err := zkconn.OpenWriter(g.t.Context(), zkconn.Config{Address: at})
	g.must(err)
	g.t.Cleanup(w.Close)
	return w
}

func (g *generated) source() *migrate.Source {
	src, err := migrate.OpenSource(g.t.Context(), &g.src.Reader, migrate.DefaultQueues(), legacy.Options{})
	g.must(err)
	return src
}

// live takes the migration through its stages, and looks at a page about each.
func (g *generated) live() {
	ctx := g.t.Context()
	g.plan("as chosen")
	for _, c := range migrate.AllChoices { // nothing blocks
		if v := c.Value(&g.opt.Choices); *v == "block" {
			*v = c.Values[1+g.rnd.IntN(len(c.Values)-1)]
		}
	}
	foretold := g.plan("decided")
	waiting := g.waits
	half, cancel := context.WithCancel(ctx)
	half = migrate.WithPhases(half, func(p migrate.Phase, done, total int) {
		if p == migrate.Sending && done > 0 && done < total {
			cancel()
		}
	})
	keep := func([]migrate.Record) error { return nil }
	_, err := migrate.Migrate(half, g.source(), g.new, migrate.MigrateOptions{Options: g.opt, SaveQuarantined: keep, Limits: migrate.Limits{Ops: 60}})
	if err != nil {
		g.target("interrupted")
		g.plan("interrupted")
		_, err = migrate.Migrate(ctx, g.source(), g.new, migrate.MigrateOptions{Options: g.opt, SaveQuarantined: keep})
	}
	g.must(err)
	done := g.target("migrated")
	status, err := migrate.ReadStatus(ctx, &g.new.Reader)
	g.must(err)
	for _, c := range slices.Concat(status.Jobs, status.Access) {
		if c.State == "held" || c.State == "failed" {
			waiting -= c.Migrated
		}
	}
	if waiting != 0 {
		g.t.Errorf("the plan says that %d more jobs wait than status does", waiting)
	}
	for _, e := range []effect{twice, never, empty} {
		if foretold.tiles[e.Label] != done.tiles[e.Label] {
			g.t.Errorf("%s: the plan's page says %d, the target's %d", e.Label, foretold.tiles[e.Label], done.tiles[e.Label])
		}
	}
	records := slices.Collect(g.source().Paths())
	changed, vanished := records[g.rnd.IntN(len(records)/2)], records[len(records)/2]
	data, _, err := g.door.Get(changed)
	g.must(err)
	_, err = g.door.Set(changed, append(bytes.Clone(data), ' '), -1)
	g.must(err)
	g.must(g.door.Delete(vanished, -1))
	_, err = g.door.Create("/ingest/mrtQ-0500000099999", data, 0, zk.WorldACL(zk.PermAll))
	g.must(err)
	g.target("legacy workers at work")
	g.opt.NewQueue = false
	g.plan("legacy workers at work")
	_, err = migrate.Release(ctx, g.new, migrate.ReleaseOptions{WorkersStopped: 1000})
	if err != nil && !errors.Is(err, migrate.ErrUndecided) {
		g.must(err)
	}
	g.target("undecided")
	_, err = migrate.Release(ctx, g.new, migrate.ReleaseOptions{WorkersStopped: 1000, Decisions: migrate.Decisions{Vanished: migrate.IsNew}})
	g.must(err)
	for range 3 {
		g.work()
	}
	g.target("released")
	g.opt.HoldAgain = true
	g.plan("released")
	_, err = migrate.Rollback(ctx, g.new, "", migrate.RollbackOptions{})
	g.must(err)
	g.target("rolled back")
	g.plan("rolled back")
}

// work lets a worker take a job, and fail it.
func (g *generated) work() {
	at := client.Open(g.door, g.opt.Dialect, client.WithRoot("/new"))
	jobs, err := at.Jobs(g.t.Context(), newqueue.JobPending)
	g.must(err)
	if len(jobs) == 0 {
		return
	}
	job, err := at.AcquireJob(g.t.Context(), newqueue.JobPending)
	g.must(err)
	g.must(job.Fail(g.t.Context(), "no space"))
}

// plan makes a page about a plan, and looks at it.
func (g *generated) plan(stage string) *shownPage {
	g.t.Helper()
	p, err := migrate.MakePlan(g.t.Context(), g.source(), &g.new.Reader, g.opt)
	g.must(err)
	var b bytes.Buffer
	g.must(p.Write(&b))
	p, err = migrate.ReadPlan(&b)
	g.must(err)
	d := &Data{Source: "zk1", Target: "zk1/new", Plan: p, Next: noStep}
	d.Records, err = migrate.ReadRecords(g.t.Context(), nil, p)
	g.must(err)
	page := g.page("plan: "+stage, d)
	for _, of := range []struct {
		effect effect
		paths  func(migrate.Risk) []string
		more   []string
	}{
		{twice, func(r migrate.Risk) []string { return r.Twice }, nil},
		{never, func(r migrate.Risk) []string { return r.Never }, nil},
		{empty, func(r migrate.Risk) []string { return r.Empty }, nil},
	} {
		want := slices.Clone(of.more)
		for _, r := range p.Risks {
			if r.Chosen {
				want = append(want, of.paths(r)...)
			}
		}
		if got := page.paths(of.effect); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			g.t.Errorf("plan: %s: %s: the page has %q, the plan %q", stage, of.effect.Label, got, want)
		}
	}
	said := d.verdict().Sentence
	if n := cannot.FindStringSubmatch(said); n != nil && n[1] != fmt.Sprint(page.tiles[unfit.Label]) {
		g.t.Errorf("plan: %s: the tile says %d, the page begins with: %s", stage, page.tiles[unfit.Label], said)
	}
	g.waits = 0
	if n := waits.FindStringSubmatch(said); n != nil {
		g.waits, err = strconv.Atoi(n[1])
		g.must(err)
	}
	return page
}

// What the first sentence of a page counts.
var (
	cannot = regexp.MustCompile(`(\d+) jobs? cannot be processed`)
	waits  = regexp.MustCompile(`(\d+) jobs? won't run until`)
)

// target makes a page about the target, and looks at it.
func (g *generated) target(stage string) *shownPage {
	g.t.Helper()
	ctx := g.t.Context()
	var err error
	d := &Data{Source: "zk1", Target: "zk1/new", Next: noStep}
	d.Status, err = migrate.ReadStatus(ctx, &g.new.Reader)
	g.must(err)
	d.Verdict, err = migrate.Verify(ctx, nil, &g.new.Reader, migrate.VerifyOptions{})
	g.must(err)
	d.Records, err = migrate.ReadRecords(ctx, &g.new.Reader, nil)
	g.must(err)
	p := g.page("target: "+stage, d)
	for _, u := range d.Status.Undecided() {
		if !slices.Contains(p.paths(undecided), u.Record) {
			g.t.Errorf("%s: status names %s, the page does not", stage, u.Record)
		}
	}
	return p
}

func noStep(migrate.Step) string { return "" }

// page adds up a page.
func (g *generated) page(stage string, d *Data) *shownPage {
	g.t.Helper()
	p := read(g.t, write(g.t, d))
	equal := func(what string, got, want int) {
		if got != want {
			g.t.Errorf("%s: %s: %d, want %d", stage, what, got, want)
		}
	}
	all := p.tiles["records"]
	equal("records", all, len(d.Records))
	withJob := 0
	if table := p.tables["Records by legacy queue and outcome"]; table != nil {
		for i, label := range table.head[1 : len(table.head)-1] {
			if n, there := p.tiles[label]; there {
				equal("the tile "+label, n, table.foot[0][i+1].number(g.t))
				if label != undecided.Label {
					withJob += n
				}
			}
		}
	}
	equal("the tiles of all records", withJob+p.tiles["left out"], all)
	equal("records left out", p.sum(g.t, "Left out, and why", 2), p.tiles["left out"])
	equal("what the records become", p.sum(g.t, "What the records will become", 3), p.tiles["to create"])
	p.addUpQueues(g.t, stage, all)
	known := map[string]bool{}
	for _, e := range effects {
		known[e.Label] = true
		paths := p.paths(e)
		equal("the tile of "+e.Label, p.tiles[e.Label], len(paths))
		equal("different records: "+e.Label, len(slices.Compact(paths)), len(paths))
	}
	for label, row := range p.riskRows() {
		if !known[label] {
			g.t.Errorf("%s: %q is no effect", stage, label)
		}
		for _, r := range row {
			equal("records in a row of "+label, r[1].number(g.t), len(r[4].paths))
		}
	}
	if runs := p.tables["Runs"]; runs != nil {
		tracked := 0
		for _, r := range runs.body {
			equal("present and removed", r[7].number(g.t)+r[8].number(g.t), r[5].number(g.t))
			tracked += r[5].number(g.t)
		}
		equal("records of all runs", tracked, withJob)
	}
	return p
}

// addUpQueues adds up the table by queue and outcome.
func (p *shownPage) addUpQueues(t testing.TB, stage string, all int) {
	t.Helper()
	table := p.tables["Records by legacy queue and outcome"]
	if table == nil {
		return
	}
	columns := make([]int, len(table.head))
	for _, row := range table.body {
		n := 0
		for i, c := range row[1:] {
			columns[i+1] += c.number(t)
			n += c.number(t)
		}
		if total := row[len(row)-1].number(t); n != 2*total {
			t.Errorf("%s: the row %v does not add up", stage, row)
		}
	}
	for i, c := range table.foot[0][1:] {
		if c.number(t) != columns[i+1] {
			t.Errorf("%s: the column %s does not add up", stage, table.head[i+1])
		}
	}
	if columns[len(columns)-1] != all {
		t.Errorf("%s: the table has %d records, want %d", stage, columns[len(columns)-1], all)
	}
}

// sum is the sum of a column of a table; 0 if there is no such table.
func (p *shownPage) sum(t testing.TB, table string, column int) (n int) {
	t.Helper()
	if p.tables[table] != nil {
		for _, row := range p.tables[table].body {
			n += row[column].number(t)
		}
	}
	return n
}

// riskRows are the rows of the table of risks, by their effects.
func (p *shownPage) riskRows() map[string][][]shownCell {
	rows := map[string][][]shownCell{}
	if table := p.tables["What could happen, and why"]; table != nil {
		for _, row := range table.body {
			rows[row[0].text] = append(rows[row[0].text], row)
		}
	}
	return rows
}

// paths are the records under an effect, sorted.
func (p *shownPage) paths(e effect) (paths []string) {
	for _, row := range p.riskRows()[e.Label] {
		paths = append(paths, row[4].paths...)
	}
	slices.Sort(paths)
	return paths
}
