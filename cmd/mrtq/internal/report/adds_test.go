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
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/features"
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
		tree, err = znode.ReadDump(strings.NewReader(features.Deployed))
	}
	g.must(err)
	g.must(tree.Put(znode.Node{Path: "/new", Data: []byte{}}))
	for i := range g.rnd.IntN(3) {
		g.must(tree.Put(znode.Node{Path: fmt.Sprintf("/ingest/mrtQ-0500000077%02d", i), Data: []byte("no record")}))
	}
	for i := range g.rnd.IntN(3) { // several demands of the services are not met
		data, err := legacyqueue.Encode(legacy.NewHeader(legacy.Pending, time.Unix(1.7e9, 0), legacy.Milliseconds), legacy.JSON, legacy.Payload{"jobID": fmt.Sprintf("jid-%d", i)})
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
	job, err := at.AcquireJob(g.t.Context(), newqueue.JobPending)
	if errors.Is(err, client.ErrNone) {
		return
	}
	g.must(err)
	g.must(job.Fail(g.t.Context(), "no space"))
}

// plan makes a page about a plan, and looks at it.
func (g *generated) plan(stage string) *pageOf {
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
	want := map[effect][]string{}
	for _, r := range p.Risks {
		if r.Chosen {
			want[twice], want[never], want[empty] = append(want[twice], r.Twice...), append(want[never], r.Never...), append(want[empty], r.Empty...)
		}
	}
	for _, e := range []effect{twice, never, empty} {
		if got := page.paths(e); !slices.Equal(got, slices.Sorted(slices.Values(want[e]))) {
			g.t.Errorf("plan: %s: %s: the page has %q, the plan %q", stage, e.Label, got, want[e])
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
func (g *generated) target(stage string) *pageOf {
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

func noStep(migrate.Step) advice.Next { return advice.Next{} }

// page adds up the numbers of a page, with each other and with the records.
func (g *generated) page(stage string, d *Data) *pageOf {
	g.t.Helper()
	write(g.t, d)
	v := newContent(d)
	p := &pageOf{v, map[string]int{}}
	for _, tile := range v.Tiles {
		p.tiles[tile.Label] = tile.N
	}
	equal := func(what string, got, want int) {
		g.t.Helper()
		if got != want {
			g.t.Errorf("%s: %s: %d, want %d", stage, what, got, want)
		}
	}
	equal("records", p.tiles["records"], len(d.Records))
	columns, withJob, leftOut, becomes, tracked := make([]int, len(v.Cross.Outcomes)), 0, 0, 0, 0
	for _, row := range v.Cross.Rows {
		equal("the row "+row.Queue, row.All, sum(row.N))
		for i, n := range row.N {
			columns[i] += n
		}
	}
	equal("the table by queue and outcome", v.Cross.Total.All, len(d.Records))
	for i, label := range v.Cross.Outcomes {
		equal("the column "+label, v.Cross.Total.N[i], columns[i])
		if n, there := p.tiles[label]; there {
			equal("the tile "+label, n, columns[i])
			if label != undecided.Label {
				withJob += n
			}
		}
	}
	equal("the tiles of all records", withJob+p.tiles["left out"], len(d.Records))
	for _, r := range v.LeftOut {
		leftOut += r.N
	}
	equal("records left out", leftOut, p.tiles["left out"])
	for _, t := range v.Becomes {
		becomes += t.Count
	}
	equal("what the records become", becomes, p.tiles["to create"])
	for _, e := range effects {
		paths := p.paths(e)
		equal("the tile of "+e.Label, p.tiles[e.Label], len(paths))
		equal("different records: "+e.Label, len(slices.Compact(paths)), len(paths))
	}
	for _, r := range v.Runs {
		equal("present and removed", r.Present+r.Removed, r.Tracked)
		tracked += r.Tracked
	}
	if len(v.Runs) > 0 {
		equal("records of all runs", tracked, withJob)
	}
	return p
}

// pageOf is what a page shows, with its tiles by their labels.
type pageOf struct {
	*content
	tiles map[string]int
}

// paths are the records under an effect, sorted.
func (p *pageOf) paths(e effect) (paths []string) {
	for _, r := range p.Risks {
		if r.Effect == e {
			paths = append(paths, r.Paths...)
		}
	}
	slices.Sort(paths)
	return paths
}

func sum(numbers []int) (n int) {
	for _, x := range numbers {
		n += x
	}
	return n
}
