package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

// These are the names of what is measured.
const (
	plan       = "mrtq plan"
	inspect    = "mrtq inspect"
	migrate    = "mrtq migrate"
	verify     = "mrtq verify"
	dump       = "mrtq dump of the target"
	rollback   = "mrtq rollback"
	release    = "mrtq release" // with its verification
	released   = "mrtq verify after the release"
	giveBack   = "mrtq rollback after the release"
	load       = "bare load"
	unload     = "bare delete of the target"
	readSource = "bare read of the source"
	readTarget = "bare read of the target"
	readACLs   = "bare read of the target with ACLs"
	byTheBook  = "documented way"
	beside     = "another client's wait during migrate" // see [probe]
	alone      = "another client's wait, alone"
)

// order is the order of the table.
var order = []string{inspect, plan, migrate, verify, dump, rollback, release, released, giveBack, load, unload, readSource, readTarget, readACLs, byTheBook, beside, alone}

// result is what was measured on one server.
type result struct {
	Backend string              `json:"backend"`
	Time    time.Time           `json:"time"`
	Cores   int                 `json:"cores"`
	Records int                 `json:"records"`
	Source  int                 `json:"sourceZnodes"`
	Target  int                 `json:"targetZnodes"`
	Jobs    int                 `json:"jobs"`    // how many jobs were created in the documented way
	Samples map[string][]sample `json:"samples"` // by name; one for each round
}

// firstRun is the id of the first run in a target.
const firstRun = "run0000000000"

// bench is one server while it is measured.
type bench struct {
	options
	command
	address string
	conn    *zk.Conn
	source  []string // the paths of the legacy queue
	result  result
}

func measure(ctx context.Context, backend harness.Backend, mrtq string, o options) (_ result, err error) {
	dir, err := os.MkdirTemp("", "mrtq-bench-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := harness.Start(ctx, backend, harness.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	conn, err := connect(ctx, server.Address())
	if err != nil {
		return result{}, err
	}
	defer conn.Close()
	b := &bench{
		options: o, command: command{mrtq: mrtq, dir: dir}, address: server.Address(), conn: conn,
		result: result{Backend: string(backend), Time: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Records: o.records, Jobs: o.jobs, Samples: map[string][]sample{}},
	}
	if err := b.makeSource(ctx); err != nil {
		return result{}, err
	}
	for round := range o.rounds {
		if err := b.round(ctx, round); err != nil {
			return result{}, fmt.Errorf("round %d: %w", round, err)
		}
	}
	return b.result, nil
}

// sourceRoot is the chroot of the legacy queue.
const sourceRoot = "/source"

// chroot returns the name of a chroot.
func chroot(kind string, round int) string { return fmt.Sprintf("/%s%02d", kind, round) }

// makeSource generates a legacy queue and restores it to the server.
func (b *bench) makeSource(ctx context.Context) error {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: b.records, Seed: 1})
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(b.dir, "source.ndjson"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := znode.WriteDump(file, tree); err != nil {
		return err
	}
	for _, path := range tree.Paths("/") {
		b.source = append(b.source, znode.Join(sourceRoot, path[1:]))
	}
	b.source[0] = sourceRoot
	b.result.Source = len(b.source)
	_, err = b.run(ctx, "restore", b.address+sourceRoot, "--in", file.Name())
	return err
}

// into runs plan or migrate from the source. One server gets many new queues of it, each
// in a chroot of its own.
func (b *bench) into(ctx context.Context, command, target string) (sample, error) {
	return b.run(ctx, command, "--dialect", "design", "--new-queue", b.address+sourceRoot, target)
}

// round measures everything once.
func (b *bench) round(ctx context.Context, round int) error {
	made, copied, probed, book := chroot("made", round), chroot("copy", round), chroot("probed", round), chroot("book", round)
	source, target := b.address+sourceRoot, b.address+made
	var nodes []node // what migrate made
	took := time.Duration(0)
	steps := []struct {
		what string
		do   func() (sample, error)
	}{
		{inspect, func() (sample, error) { return b.run(ctx, "inspect", source, "-o", "ndjson") }},
		{plan, func() (sample, error) { return b.into(ctx, "plan", target) }},
		{migrate, func() (s sample, err error) {
			if s, err = b.into(ctx, "migrate", target); err == nil {
				nodes, err = below(b.conn, made)
				b.result.Target = len(nodes)
			}
			return s, err
		}},
		{readSource, func() (sample, error) { return bareRead(ctx, b.conn, b.source, false) }},
		{readTarget, func() (sample, error) { return bareRead(ctx, b.conn, paths(nodes), false) }},
		{readACLs, func() (sample, error) { return bareRead(ctx, b.conn, paths(nodes), true) }},
		{verify, func() (sample, error) { return b.run(ctx, "verify", target) }},
		{dump, func() (sample, error) { return b.run(ctx, "dump", target, "--out", "target.ndjson", "--force") }},
		{rollback, func() (sample, error) { return b.run(ctx, "rollback", target, "--run", firstRun) }},
		{load, func() (sample, error) { return bareLoad(b.address, nodes, made, copied) }},
		{beside, func() (sample, error) {
			return probeDuring(b.address, func() error {
				began := time.Now()
				_, err := b.into(ctx, "migrate", b.address+probed)
				took = time.Since(began)
				return err
			})
		}},
		{alone, func() (sample, error) { return probeQuiet(b.address, max(took, leastProbe)) }},
		{release, func() (sample, error) { return b.run(ctx, "release", b.address+probed) }},
		{released, func() (sample, error) { return b.run(ctx, "verify", b.address+probed) }},
		{giveBack, func() (sample, error) { return b.run(ctx, "rollback", b.address+probed, "--run", firstRun, "--yes") }},
		{byTheBook, func() (sample, error) { return documented(ctx, b.conn, book, b.jobs) }},
	}
	for _, step := range steps {
		s, err := step.do()
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		b.result.Samples[step.what] = append(b.result.Samples[step.what], s)
	}
	for _, left := range []string{made, copied, probed, book} {
		nodes, err := below(b.conn, left)
		if err != nil {
			return err
		}
		s, err := bareDelete(b.address, paths(nodes))
		if err != nil {
			return err
		}
		if left == copied {
			b.result.Samples[unload] = append(b.result.Samples[unload], s)
		}
	}
	return nil
}
