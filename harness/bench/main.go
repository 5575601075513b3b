// Command bench measures mrtq's commands and compares them with what their server
// can do:
//
//	go run ./harness/bench --backends jvm --records 20000
//
// For the comparison it sends the same multis and does nothing else, reads the same
// znodes and does nothing else, and creates jobs in the documented way, with a round
// trip for each step. It measures everything in one run against one server, in
// several rounds, and prints times and ratios. It builds mrtq first, and runs each
// command as a process.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
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
	mrtq     string
	backends string
	records  int
	jobs     int
	rounds   int
	heap     int
	out      string
	svg      string
	from     string
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.mrtq, "mrtq", "", "the mrtq to measure; if not given, it is built from the source here")
	f.StringVar(&o.backends, "backends", "embedded,jvm", "backends to measure on, separated by commas; one that isn't installed is skipped")
	f.IntVar(&o.records, "records", 500, "how many records the legacy queue has")
	f.IntVar(&o.jobs, "jobs", 100, "how many jobs to create in the documented way")
	f.IntVar(&o.rounds, "rounds", 3, "how often to measure everything; the figures are medians")
	f.IntVar(&o.heap, "heap", 1024, "heap of a JVM server, in MiB")
	f.StringVar(&o.out, "out", "", "file to write all measurements to, as JSON")
	f.StringVar(&o.svg, "svg", "", "file to draw a chart to")
	f.StringVar(&o.from, "from", "", "measure nothing, but read the measurements from this file, which --out has written")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.records < 1 || o.jobs < 1 || o.rounds < 1 {
		return errors.New("--records, --jobs and --rounds must be at least 1")
	}
	results, err := resultsOf(ctx, o)
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := r.print(stdout); err != nil {
			return err
		}
	}
	if o.out != "" {
		text, err := json.MarshalIndent(results, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.out, append(text, '\n'), 0o666); err != nil {
			return err
		}
	}
	if o.svg != "" {
		return os.WriteFile(o.svg, chart(results), 0o666)
	}
	return nil
}

// resultsOf measures, or reads the measurements from a file.
func resultsOf(ctx context.Context, o options) ([]result, error) {
	var results []result
	if o.from != "" {
		text, err := os.ReadFile(o.from)
		if err != nil {
			return nil, err
		}
		return results, json.Unmarshal(text, &results)
	}
	if o.mrtq == "" {
		dir, err := os.MkdirTemp("", "mrtq-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if o.mrtq, err = build(ctx, dir); err != nil {
			return nil, fmt.Errorf("%w; run bench in mrtq's source folder, or give the path of a built mrtq with --mrtq", err)
		}
	}
	var err error
	if o.mrtq, err = filepath.Abs(o.mrtq); err != nil {
		return nil, err
	}
	// The harness's settings start a server quickly. With this one it also runs as
	// fast as a production server.
	if err := os.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4"); err != nil {
		return nil, err
	}
	required := strings.Split(os.Getenv(harness.RequireVariable), ",")
	for _, backend := range strings.Split(o.backends, ",") {
		r, err := measure(ctx, harness.Backend(backend), o)
		if errors.Is(err, harness.ErrUnavailable) && !slices.Contains(required, backend) {
			fmt.Fprintf(os.Stderr, "%s is skipped: %v\n", backend, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", backend, err)
		}
		results = append(results, r)
	}
	return results, nil
}
