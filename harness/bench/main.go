// Command bench measures mrtq's commands and compares them with what their server
// can do:
//
//	go run ./harness/bench --backends jvm --records 20000
//
// For the comparison it creates and reads the same znodes and does nothing else. It measures
// everything in one run against one server, in several rounds, and prints the tables of
// docs/figures.md. It builds mrtq first, and runs each command as a process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/internal/session"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	backends        string
	records, rounds int
}

// run builds mrtq, measures it on each backend, and prints the tables.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.backends, "backends", "embedded,jvm", "backends to measure on, separated by commas; one that isn't installed is skipped")
	f.IntVar(&o.records, "records", 500, "how many records the legacy queue has")
	f.IntVar(&o.rounds, "rounds", 3, "how often to measure everything; the figures are medians")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.records < 1 || o.rounds < 1 {
		return errors.New("--records and --rounds must be at least 1")
	}
	dir, err := os.MkdirTemp("", "mrtq-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := build(ctx, dir)
	if err != nil {
		return fmt.Errorf("%w; run bench in mrtq's source folder", err)
	}
	// The harness's settings start a server quickly. With this one it also runs as
	// fast as a production server.
	if err := os.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4"); err != nil {
		return err
	}
	for _, backend := range strings.Split(o.backends, ",") {
		r, err := measure(ctx, harness.Backend(backend), c, o)
		if errors.Is(err, harness.ErrUnavailable) && !harness.Required(backend) {
			fmt.Fprintf(os.Stderr, "%s is skipped: %v\n", backend, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", backend, err)
		}
		fmt.Fprintf(stdout, "%s: %d records became %d znodes; medians of %d rounds on %d cores, server and clients together\n\n",
			backend, r.records, r.znodes, o.rounds, runtime.NumCPU())
		r.print(stdout)
	}
	return nil
}

// sourceRoot is the chroot of the legacy queue, and firstRun is the id of the first run in
// a target.
const (
	sourceRoot = "/source"
	firstRun   = "run0000000000"
)

// bench is one server while it is measured.
type bench struct {
	command
	address string
	conn    *zk.Conn // of the client library
	source  []string // the paths of the legacy queue
	result  result
}

// measure measures everything on one server.
func measure(ctx context.Context, backend harness.Backend, c command, o options) (_ result, err error) {
	server, err := harness.Start(ctx, backend, harness.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	b := &bench{command: c, address: server.Address(), result: result{records: o.records, samples: map[string][]sample{}}}
	address, err := zkconn.ParseAddress(b.address)
	if err != nil {
		return result{}, err
	}
	if b.conn, err = session.Open(ctx, zkconn.Config{Address: address}); err != nil {
		return result{}, err
	}
	defer b.conn.Close()
	tree, err := writeQueue(filepath.Join(c.dir, "source.ndjson"), legacyqueue.Options{Records: o.records, Seed: 1})
	if err != nil {
		return result{}, err
	}
	b.source = at(sourceRoot, tree)
	for range o.rounds {
		if err := errors.Join(b.round(ctx), server.Clean(ctx)); err != nil {
			return result{}, err
		}
	}
	return b.result, nil
}

// writeQueue writes a generated legacy queue to a dump.
func writeQueue(path string, opt legacyqueue.Options) (*znode.Tree, error) {
	tree, err := legacyqueue.Make(opt)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return tree, errors.Join(znode.WriteDump(file, tree), file.Close())
}

// readTree reads everything below the chroot of an address.
func readTree(ctx context.Context, text string) (*znode.Tree, error) {
	address, err := zkconn.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	r, err := zkconn.OpenReader(ctx, zkconn.Config{Address: address})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Tree(ctx)
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
		{rollback, mrtq("rollback", target, "--run", firstRun)},
		{load, bare(func() error { return bareLoad(ctx, b.conn, tree, copied) })},
		{"mrtq migrate to a second target", mrtq("migrate", "--dialect", "design", "--new-queue", source, other)},
		{release, mrtq("release", other)},
		{"mrtq verify after the release", mrtq("verify", other)},
		{giveBack, mrtq("rollback", other, "--run", firstRun, "--yes")},
	} {
		s, err := step.do()
		if err == nil && step.what == migrate {
			if tree, err = readTree(ctx, b.address+made); err == nil {
				paths = at(made, tree)
				b.result.znodes = len(paths)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if b.result.samples[step.what] == nil {
			b.result.order = append(b.result.order, step.what)
		}
		b.result.samples[step.what] = append(b.result.samples[step.what], s)
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

// result is what was measured on one server.
type result struct {
	records, znodes int
	order           []string            // what was measured
	samples         map[string][]sample // by name; one for each round
}

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
func (r result) median(f func(round int) float64) float64 {
	values := make([]float64, len(r.samples[migrate]))
	for round := range values {
		values[round] = f(round)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// print writes two tables of Markdown: how long each thing took, and the ratios.
func (r result) print(w io.Writer) {
	fmt.Fprintln(w, "| what | seconds | records/s | CPU time, ms a record |\n|---|---|---|---|")
	for _, what := range r.order {
		samples := r.samples[what]
		seconds, cpu := r.median(func(i int) float64 { return samples[i].seconds }), ""
		if s := r.median(func(i int) float64 { return samples[i].cpu }); s > 0 {
			cpu = fmt.Sprintf("%.3f", 1000*s/float64(r.records))
		}
		fmt.Fprintf(w, "| %s | %.4g | %.0f | %s |\n", what, seconds, float64(r.records)/seconds, cpu)
	}
	fmt.Fprintln(w, "\n| ratio | is | goal |\n|---|---|---|")
	for _, of := range ratios {
		// It does not divide medians, because what disturbs one side in a round is likely to
		// disturb the other side in the same round.
		is := r.median(func(round int) float64 {
			sum := 0.0
			for _, what := range of.yardstick {
				sum += r.samples[what][round].seconds
			}
			return sum / r.samples[of.of][round].seconds
		})
		fmt.Fprintf(w, "| %s | %.2f | %s |\n", of.what, is, of.goal)
	}
	fmt.Fprintln(w)
}
