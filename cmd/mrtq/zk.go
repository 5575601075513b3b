package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/harness"
	"mrtq/harness/practice"
	"mrtq/internal/sides"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

type zkCmd struct {
	backend   string
	nodes     int
	addr      string
	load      string
	workers   string
	stopAfter int // how many records the services begin; 0 means all
	submit    int // how many records the submitter submits
	secure    bool

	minSession, maxSession time.Duration
}

// The session timeouts that a real server grants with its usual settings, and the longest that it can be told to grant here. The
// harness has shorter ones, for tests.
const (
	usualMinSession, usualMaxSession = 4 * time.Second, 40 * time.Second
	longestSession                   = 24 * time.Hour
)

func (a *app) zkCmd() *cobra.Command {
	c := &zkCmd{}
	cmd := &cobra.Command{
		Use:   "zk [flags] [-- COMMAND [ARG…]]",
		Short: "run a disposable ZooKeeper",
		Long: `Start a ZooKeeper, and print its address. It runs until Ctrl-C, which deletes its data.
With a COMMAND, the server stops when COMMAND exits, and mrtq exits with its code,
or with 128 and the number of the signal that has ended it.
COMMAND finds the address in $` + settings.AddressVariable + `. The embedded server needs nothing
installed and starts in milliseconds; jvm and docker are Apache's own.

Clients get the session timeout that they ask for, between --min-session-timeout and
--max-session-timeout, whose defaults are a real server's. With --secure, the server has
a second port, for TLS. Without a COMMAND, mrtq prints that port's address in the second
line, and in the third line the PEM file that clients need as certificate, key and authority.
COMMAND finds the two in $` + settings.SecureAddressVariable + ` and $` + settings.SecureFileVariable + `.

With --load, the embedded server takes a dump. It keeps the Stats, and leaves out
ephemeral znodes, because their sessions have ended. Clients can connect when all is loaded. To load a dump
into an Apache server, use mrtq restore.

With --workers, people can practise a cutover on a copy. First, the legacy inventory
service finishes its queue. The deployed services of a new queue at CHROOT start at the
release. With --stop-after N they stop when they have begun N
records. Then you can roll back: the legacy workers process what it gives back. The
services start again when you lift the holds. With --submit N, a depositor submits N records to the
legacy queue meanwhile, one every two seconds: copies of pending ingest records of the dump, with new
jobIDs, and every second one with a new batchID. All of them are simulated, and reach only this server.`,
		Example: `  mrtq zk --addr localhost:2281 --load queue.ndjson.gz
  mrtq zk --load queue.ndjson.gz --workers /new --submit 100 --stop-after 90
  mrtq zk --load queue.ndjson.gz -- sh -c 'mrtq inspect $MRTQ_ADDRESS'
  mrtq zk --backend jvm --nodes 3 -- go test ./...
  mrtq zk --secure --max-session-timeout 10m -- pytest`,
		Args: func(cmd *cobra.Command, command []string) error {
			return args("[COMMAND]")(cmd, command[:min(1, len(command))]) // the rest is the command's own
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	settings.Choice(f, &c.backend, "backend", "", "server to start", help.Texts(harness.Backends())...)
	f.IntVar(&c.nodes, "nodes", 1, "`number` of servers: 1, or an ensemble of 3 (jvm)")
	f.StringVar(&c.addr, "addr", "", "`host:port` to serve at, instead of a free port (embedded)")
	f.BoolVar(&c.secure, "secure", false, "also serve TLS, at a second port")
	f.DurationVar(&c.minSession, "min-session-timeout", usualMinSession, "shortest session `timeout` that clients get")
	f.DurationVar(&c.maxSession, "max-session-timeout", usualMaxSession, "longest session `timeout` that clients get")
	f.StringVar(&c.load, "load", "", "dump `file` to load first (embedded)")
	f.StringVar(&c.workers, "workers", "", "let simulated workers process the legacy queue, and a new queue at this `chroot`, such as /new")
	f.IntVar(&c.stopAfter, "stop-after", 0, "how many `records` the services begin before they stop (0: all); only with --workers")
	f.IntVar(&c.submit, "submit", 0, "how many `records` a simulated depositor submits to the legacy queue; only with --workers and --load")
	return cmd
}

func (c *zkCmd) run(ctx context.Context, a *app, command []string) (err error) {
	if c.nodes != 1 && c.nodes != 3 {
		return exit.Usagef("--nodes %d: expected 1 or 3", c.nodes)
	}
	if harness.Backend(c.backend) != harness.JVM && c.nodes != 1 {
		return exit.Usagef("--nodes %d: the %s backend is one server; use --backend %s, or docker-compose.yml", c.nodes, c.backend, harness.JVM)
	}
	if harness.Backend(c.backend) != harness.Embedded && c.addr != "" {
		return exit.Usagef("--addr %s: only the %s backend can serve at a given address; leave --addr out, and mrtq zk prints the address", c.addr, harness.Embedded)
	}
	if harness.Backend(c.backend) != harness.Embedded && c.load != "" {
		return exit.Usagef("--load %s: only the %s backend can load a tree; leave --load out, and use mrtq restore", c.load, harness.Embedded)
	}
	if err := znode.ValidatePath(c.workers); c.workers != "" && (err != nil || c.workers == "/") {
		return exit.Usagef("--workers %s: expected the chroot of the new queue, such as /new", c.workers)
	}
	if c.stopAfter < 0 || c.stopAfter > 0 && c.workers == "" {
		return exit.Usagef("--stop-after %d: expected a number of records from 1, or 0 for all, and --workers", c.stopAfter)
	}
	if c.submit < 0 || c.submit > 0 && (c.workers == "" || c.load == "") {
		return exit.Usagef("--submit %d: expected a number of records from 1, --workers and --load", c.submit)
	}
	if _, err := net.ResolveTCPAddr("tcp", c.addr); err != nil && c.addr != "" {
		return exit.Usagef("--addr %s: %w", c.addr, err)
	}
	if c.minSession < time.Millisecond {
		return exit.Usagef("--min-session-timeout %v: expected at least 1ms", c.minSession)
	}
	if c.maxSession < c.minSession || c.maxSession > longestSession {
		return exit.Usagef("--max-session-timeout %v: expected %v (--min-session-timeout) to %v", c.maxSession, c.minSession, longestSession)
	}
	opt := harness.Options{Nodes: c.nodes, Listen: c.addr, TLS: c.secure, MinSessionTimeout: c.minSession, MaxSessionTimeout: c.maxSession}
	if c.load != "" {
		if opt.Tree, err = sides.Load(ctx, sides.Place{Text: c.load, File: c.load}, sides.Options{RequireComplete: true}); err != nil {
			return files.Unread("--load "+c.load, err)
		}
		if opt.Tree.Get(ztree.SystemRoot) != nil {
			return fmt.Errorf("--load %s: the dump is that of a chroot: it has %s, where this server has its own znodes; leave --load out, and restore it into a chroot", c.load, ztree.SystemRoot)
		}
	}
	server, err := harness.Start(ctx, harness.Backend(c.backend), opt)
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(c.addr)
		return fmt.Errorf("--addr %s: port %s is in use", c.addr, port)
	}
	if err != nil {
		return err
	}
	defer func() {
		// Stop the server also after Ctrl-C, which has ended ctx.
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if serr := server.Stop(sctx); err == nil && serr != nil {
			err = serr
		}
	}()
	if c.workers != "" {
		stop, err := c.practise(ctx, a, server.Address(), opt.Tree)
		if err != nil {
			return err
		}
		defer stop()
	}
	if len(command) > 0 {
		return runCommand(ctx, a, server, command)
	}
	a.Println(server.Address())
	if c.secure {
		a.Println(server.SecureAddress())
		a.Println(server.TLSFiles().CA)
	}
	a.Say("this is a disposable ZooKeeper (%s): Ctrl-C stops it and deletes its data", c.backend)
	<-ctx.Done()
	return nil
}

func (c *zkCmd) practise(ctx context.Context, a *app, address string, loaded *znode.Tree) (stop func(), err error) {
	p, err := practice.New(ctx, address, c.workers)
	if err != nil {
		return nil, err
	}
	if c.submit > 0 {
		if err := p.Submit(c.submit, loaded); err != nil {
			return nil, exit.Check(fmt.Errorf("--submit %d: %w", c.submit, err))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var told []string
		err := p.Run(ctx, c.stopAfter, func(who, does string) {
			all := p.Tally()
			a.Say("%s: %s. So far: %s", who, does, workDone(&all))
			for _, trouble := range all.Troubles {
				if !slices.Contains(told, trouble) {
					a.Say("  %s", trouble)
				}
			}
			told = all.Troubles
		})
		if ctx.Err() == nil {
			a.Say("the simulated workers have ended: %v", err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}

func workDone(t *practice.Tally) string {
	text := fmt.Sprintf("%s begun, %s stored, %d recorded in the inventory, %s assembled, %s removed by the cleanup", screen.Count(t.Begun, "record", "records"),
		screen.Count(t.Stored, "object", "objects"), t.Recorded, screen.Count(t.Assembled, "access request", "access requests"), screen.Count(t.Removed, "batch", "batches"))
	if t.Submitted > 0 {
		text = screen.Count(t.Submitted, "record", "records") + " submitted, " + text
	}
	if len(t.Twice) > 0 {
		return text + "; done twice: " + strings.Join(t.Twice, ", ")
	}
	return text + "; nothing was done twice"
}

func runCommand(ctx context.Context, a *app, server *harness.Server, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.Out.Writer, a.Log()
	cmd.Env = append(os.Environ(), settings.AddressVariable+"="+server.Address())
	if server.SecureAddress() != "" {
		cmd.Env = append(cmd.Env, settings.SecureAddressVariable+"="+server.SecureAddress(), settings.SecureFileVariable+"="+server.TLSFiles().CA)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exit.With(128+int(status.Signal()), fmt.Errorf("%s was ended by a signal: %v", command[0], status.Signal()))
	}
	return exit.With(ended.ExitCode(), fmt.Errorf("%s ended with exit code %d", command[0], ended.ExitCode()))
}
