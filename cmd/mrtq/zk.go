package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"mrtq/harness"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

type zkCmd struct {
	backend string
	nodes   int
	addr    string
	load    string

	minSessionTimeout time.Duration
}

// usualMinSessionTimeout is the shortest timeout that a real server grants: two of its
// usual ticks.
const usualMinSessionTimeout = 4 * time.Second

// addressVariable is the variable in which COMMAND finds the server's address.
const addressVariable = "MRTQ_ADDRESS"

func (a *app) zkCmd() *cobra.Command {
	c := &zkCmd{}
	cmd := &cobra.Command{
		Use:   "zk [flags] [-- COMMAND [ARG…]]",
		Short: "run a disposable ZooKeeper",
		Long: `Start a ZooKeeper, and print its address. It runs until Ctrl-C, which deletes its data.
With a COMMAND, the server stops when it exits, and mrtq exits with its code. The
command finds the address in $` + addressVariable + `. The embedded server needs nothing
installed and starts in milliseconds; jvm and docker are Apache's own.

Clients get the session timeout that they ask for, up to 10 minutes, but not less
than --min-session-timeout. Its default is that of a real server.`,
		Example: `  mrtq zk --addr localhost:2281 --load queue.ndjson.gz
  mrtq zk --backend docker --nodes 3 -- go test ./...`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	names := []string{}
	for _, b := range harness.Backends() {
		names = append(names, string(b))
	}
	settings.Choice(f, &c.backend, "backend", "", "server to start", names...)
	f.IntVar(&c.nodes, "nodes", 1, "1 server, or an ensemble of 3 (jvm, docker)")
	f.StringVar(&c.addr, "addr", "", "`host:port` to serve at, instead of a free port (embedded)")
	f.DurationVar(&c.minSessionTimeout, "min-session-timeout", usualMinSessionTimeout, "shortest session timeout that clients get")
	f.StringVar(&c.load, "load", "", "dump `file` to load first")
	return cmd
}

func (c *zkCmd) run(ctx context.Context, a *app, command []string) (err error) {
	if c.nodes != 1 && c.nodes != 3 {
		return exit.Usagef("--nodes %d: want 1 or 3", c.nodes)
	}
	if harness.Backend(c.backend) == harness.Embedded && c.nodes != 1 {
		return exit.Usagef("--nodes %d: an embedded ZooKeeper is one server; add --backend %s or %s", c.nodes, harness.JVM, harness.Docker)
	}
	if harness.Backend(c.backend) != harness.Embedded && c.addr != "" {
		return exit.Usagef("--addr %s: only the %s backend can serve at a given address; leave --addr out, and mrtq zk prints the address", c.addr, harness.Embedded)
	}
	if err := checkAddr(c.addr); err != nil {
		return err
	}
	if c.minSessionTimeout < time.Millisecond || c.minSessionTimeout > harness.MaxSessionTimeout {
		return exit.Usagef("--min-session-timeout %v: want 1ms to %v", c.minSessionTimeout, harness.MaxSessionTimeout)
	}
	var tree *znode.Tree
	if c.load != "" {
		if tree, err = readDump(c.load); err != nil {
			return cmp.Or(files.Missing("--load "+c.load, c.load, err, makeDump), fmt.Errorf("zk: --load %s: %w", c.load, err))
		}
	}
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return fmt.Errorf("zk: %w", err)
		}
	}
	server, err := harness.Start(ctx, harness.Backend(c.backend), harness.Options{Nodes: c.nodes, Listen: c.addr, MinSessionTimeout: c.minSessionTimeout})
	if err != nil {
		return notServed(c.addr, err)
	}
	defer func() {
		// Stop the server also after Ctrl-C, which has ended ctx.
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if serr := server.Stop(sctx); err == nil && serr != nil {
			err = fmt.Errorf("zk: %w", serr)
		}
	}()
	if tree != nil {
		if err := load(ctx, server.Address(), tree); err != nil {
			return fmt.Errorf("zk: load %s: %w", c.load, err)
		}
	}
	if len(command) > 0 {
		return runCommand(ctx, a, server.Address(), command)
	}
	fmt.Fprintln(a.stdout, server.Address())
	a.Say("this is a disposable ZooKeeper (%s): Ctrl-C stops it and deletes its data", c.backend)
	<-ctx.Done()
	return nil
}

func load(ctx context.Context, address string, tree *znode.Tree) error {
	addr, err := zkconn.ParseAddress(address)
	if err != nil {
		return err
	}
	w, err := zkconn.OpenWriter(ctx, zkconn.Config{Address: addr})
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = (&migrate.Migrator{}).Restore(ctx, w, tree)
	return err
}

// runCommand runs COMMAND on the same terminal while the server runs.
func runCommand(ctx context.Context, a *app, address string, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.stdout.Writer, a.stderr
	cmd.Env = append(os.Environ(), addressVariable+"="+address)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &coded{exit.ExitCode(), fmt.Errorf("zk: %s ended with exit code %d", command[0], exit.ExitCode())}
	}
	if err != nil {
		return fmt.Errorf("zk: %w", err)
	}
	return nil
}
