package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/internal/session"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

var (
	backends = flag.String("backends", "embedded", "backends on which TestSpeed measures, separated by commas")
	records  = flag.Int("records", 40, "how many records TestSpeed's legacy queue has")
	rounds   = flag.Int("rounds", 1, "how often TestSpeed measures everything; the figures are medians")
)

// TestSpeed measures how long each command takes, and compares it with a client that creates and
// reads the same znodes and does nothing else. It measures everything in one run against one server, and prints
// the tables of docs/figures.md:
//
//	go test ./harness/bench -run TestSpeed -backends jvm -records 20000 -rounds 3 -v
func TestSpeed(t *testing.T) {
	// The harness's settings start a server quickly. With this one it also runs as
	// fast as a production server.
	t.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4")
	for _, backend := range strings.Split(*backends, ",") {
		t.Run(backend, func(t *testing.T) {
			server := harness.ForTest(t, harness.Backend(backend), harness.Options{})
			b := &bench{dir: t.TempDir(), address: server.Address(), samples: map[string][]sample{}}
			address, err := zkconn.ParseAddress(b.address)
			must(t, err)
			b.conn, err = session.Open(t.Context(), zkconn.Config{Address: address})
			must(t, err)
			defer b.conn.Close()
			b.source = at(sourceRoot, writeQueue(t, filepath.Join(b.dir, "source.ndjson"), legacyqueue.Options{Records: *records, Seed: 1}))
			for range *rounds {
				must(t, b.round(t.Context()))
				must(t, server.Clean(t.Context()))
			}
			b.print(t.Output())
			if b.znodes < 5**records {
				t.Errorf("%d records became %d znodes", *records, b.znodes)
			}
			for what, samples := range b.samples {
				for _, s := range samples {
					if command := strings.HasPrefix(what, "mrtq"); s.seconds <= 0 || command != (s.cpu > 0) {
						t.Errorf("%s: %+v", what, s)
					}
				}
			}
		})
	}
}

// sourceRoot is the chroot of the legacy queue, and firstRun is the id of the first run in
// a target.
const (
	sourceRoot = "/source"
	firstRun   = "run0000000000"
)

type bench struct {
	dir     string // in which mrtq runs
	address string
	conn    *zk.Conn            // of the client library
	source  []string            // the paths of the legacy queue
	znodes  int                 // which the records became
	order   []string            // what was measured
	samples map[string][]sample // by name; one for each round
}

type sample struct {
	seconds float64
	cpu     float64 // the command's own processor time; 0 if no command ran
}

func (b *bench) run(ctx context.Context, args ...string) (sample, error) {
	cmd, said := prepare(ctx, b.dir, args...)
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%w: %s", err, said)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return sample{time.Since(began).Seconds(), cpu.Seconds()}, nil
}

func readTree(ctx context.Context, text string) (*znode.Tree, error) {
	address, err := zkconn.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	return session.Tree(ctx, zkconn.Config{Address: address})
}

// at returns the paths of a tree in a chroot, and the chroot.
func at(chroot string, tree *znode.Tree) (paths []string) {
	for n := range tree.All("/") {
		paths = append(paths, strings.TrimSuffix(chroot+n.Path, "/"))
	}
	return paths
}

// round measures everything once, on an empty server. It gets several new queues of the source,
// each in a chroot of its own.
func (b *bench) round(ctx context.Context) error {
	const made, copied, second = "/made", "/copy", "/second"
	source, target, other := b.address+sourceRoot, b.address+made, b.address+second
	mrtq := func(args ...string) func() (sample, error) {
		return func() (sample, error) { return b.run(ctx, args...) }
	}
	bare := func(do func() error) func() (sample, error) {
		return func() (sample, error) {
			began := time.Now()
			err := do()
			return sample{seconds: time.Since(began).Seconds()}, err
		}
	}
	var tree *znode.Tree // what migrate made, and its paths
	var paths []string
	for _, step := range []struct {
		what string
		do   func() (sample, error)
	}{
		{"mrtq restore of the source", mrtq("restore", source, "--in", "source.ndjson")},
		{"mrtq inspect", mrtq("inspect", source, "-o", "ndjson")},
		{plan, mrtq("plan", "--dialect", "design", "--new-queue", source, target)},
		{migrate, mrtq("migrate", "--dialect", "design", "--new-queue", source, target)},
		{readSource, bare(func() error { return bareRead(ctx, b.conn, b.source, false) })},
		{readTarget, bare(func() error { return bareRead(ctx, b.conn, paths, false) })},
		{readACLs, bare(func() error { return bareRead(ctx, b.conn, paths, true) })},
		{verify, mrtq("verify", target)},
		{dump, mrtq("dump", target, "--out", "target.ndjson", "--force")},
		{rollback, mrtq("rollback", target)},
		{load, bare(func() error { return bareLoad(ctx, b.conn, tree, copied) })},
		{"mrtq migrate to a second target", mrtq("migrate", "--dialect", "design", "--new-queue", source, other)},
		{release, mrtq("release", other)},
		{"mrtq verify after the release", mrtq("verify", other)},
		{giveBack, mrtq("rollback", other, "--yes")},
	} {
		s, err := step.do()
		if err == nil && step.what == migrate {
			if tree, err = readTree(ctx, b.address+made); err == nil {
				paths = at(made, tree)
				b.znodes = len(paths)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if b.samples[step.what] == nil {
			b.order = append(b.order, step.what)
		}
		b.samples[step.what] = append(b.samples[step.what], s)
	}
	return nil
}

// These are the names of what ratios compare.
const (
	plan       = "mrtq plan"
	migrate    = "mrtq migrate"
	verify     = "mrtq verify"
	dump       = "mrtq dump of the target"
	rollback   = "mrtq rollback"
	release    = "mrtq release" // with its verification
	giveBack   = "mrtq rollback after the release"
	load       = "bare load"
	readSource = "bare read of the source"
	readTarget = "bare read of the target"
	readACLs   = "bare read of the target with ACLs"
)

// ratio says how fast something is in comparison with a yardstick: the sum of the
// yardstick's times, divided by its own time.
type ratio struct {
	what      string
	yardstick []string
	of        string
	goal      string // what the project wants to reach
}

var ratios = []ratio{
	{"speed of migrate ÷ speed of a bare read of the source and then a bare load", []string{readSource, load}, migrate, "0.75"},
	{"speed of verify ÷ speed of a bare read of both sides", []string{readSource, readTarget}, verify, "2"},
	{"speed of plan ÷ speed of migrate", []string{migrate}, plan, "2.5"},
	{"speed of rollback ÷ speed of migrate", []string{migrate}, rollback, "1.1"},
	{"speed of release, with hand-over and verification ÷ speed of migrate", []string{migrate}, release, "0.80"},
	{"speed of rollback after the release ÷ speed of migrate", []string{migrate}, giveBack, ""},
	{"speed of dump ÷ speed of the bare read with ACLs", []string{readACLs}, dump, "1.5"},
}

// median returns the median of f's values in all rounds. If there are two in the middle, it
// returns the larger.
func (b *bench) median(f func(round int) float64) float64 {
	values := make([]float64, len(b.samples[migrate]))
	for round := range values {
		values[round] = f(round)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// print writes what was measured, as two tables of Markdown: how long each thing took, and the ratios.
func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "%d records became %d znodes; medians of %d rounds on %d cores, server and clients together\n\n", *records, b.znodes, *rounds, runtime.NumCPU())
	fmt.Fprintln(w, "| what | seconds | records/s | CPU time, ms a record |\n|---|---|---|---|")
	for _, what := range b.order {
		samples := b.samples[what]
		seconds, cpu := b.median(func(i int) float64 { return samples[i].seconds }), ""
		if s := b.median(func(i int) float64 { return samples[i].cpu }); s > 0 {
			cpu = fmt.Sprintf("%.3f", 1000*s/float64(*records))
		}
		fmt.Fprintf(w, "| %s | %.4g | %.0f | %s |\n", what, seconds, float64(*records)/seconds, cpu)
	}
	fmt.Fprintln(w, "\n| ratio | is | goal |\n|---|---|---|")
	for _, of := range ratios {
		// It does not divide medians, because what disturbs one side in a round is likely to
		// disturb the other side in the same round.
		is := b.median(func(round int) float64 {
			sum := 0.0
			for _, what := range of.yardstick {
				sum += b.samples[what][round].seconds
			}
			return sum / b.samples[of.of][round].seconds
		})
		fmt.Fprintf(w, "| %s | %.2f | %s |\n", of.what, is, of.goal)
	}
}
