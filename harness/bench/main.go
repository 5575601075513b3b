// Command bench measures mrtq's commands and compares them with what their server
// can do:
//
//	go run ./harness/bench --backends jvm --records 20000
//
// For the comparison it creates and reads the same znodes and does nothing else, and it
// creates jobs in the documented way, with a round trip for each step. It measures
// everything in one run against one server, in several rounds, and prints times and
// ratios. It builds mrtq first, and runs each command as a process.
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
	backends string
	records  int
	jobs     int
	rounds   int
	out      string
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.backends, "backends", "embedded,jvm", "backends to measure on, separated by commas; one that isn't installed is skipped")
	f.IntVar(&o.records, "records", 500, "how many records the legacy queue has")
	f.IntVar(&o.jobs, "jobs", 100, "how many jobs to create in the documented way")
	f.IntVar(&o.rounds, "rounds", 3, "how often to measure everything; the figures are medians")
	f.StringVar(&o.out, "out", "", "file to write all measurements to, as JSON")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.records < 1 || o.jobs < 1 || o.rounds < 1 {
		return errors.New("--records, --jobs and --rounds must be at least 1")
	}
	results, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := r.print(stdout); err != nil {
			return err
		}
	}
	if o.out == "" {
		return nil
	}
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, append(text, '\n'), 0o666)
}

// measureAll builds mrtq, and measures it on each backend.
func measureAll(ctx context.Context, o options) ([]result, error) {
	dir, err := os.MkdirTemp("", "mrtq-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	mrtq, err := build(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%w; run bench in mrtq's source folder", err)
	}
	// The harness's settings start a server quickly. With this one it also runs as
	// fast as a production server.
	if err := os.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4"); err != nil {
		return nil, err
	}
	var results []result
	for _, backend := range strings.Split(o.backends, ",") {
		r, err := measure(ctx, harness.Backend(backend), mrtq, o)
		if errors.Is(err, harness.ErrUnavailable) && !harness.Required(backend) {
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
