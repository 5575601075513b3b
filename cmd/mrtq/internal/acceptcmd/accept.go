// Package acceptcmd has the command mrtq accept. It runs the scenarios of package harness/accept
// on a server, and prints what they found.
//
//	accept.go     the flags, and the scenarios of the new queue
//	coverage.go   which documented transitions were covered
//	migration.go  the scenarios of the migration and of the services
package acceptcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/connect"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/internal/text"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
)

// Env is what the command shares with the others.
type Env struct {
	*screen.Screen
	Conn    *connect.Connection
	Verbose *bool
	// CheckFiles refuses to write to these files, or to read them.
	Advice     *advice.Adviser
	CheckFiles func(writes []files.Named, reads ...files.Named) error
	Args       cobra.PositionalArgs // the folder, or none
}

type acceptCmd struct {
	Env
	backend, tags, only, dialect, scenariosOf, out, knownFile string
	force                                                     bool
	implementations                                           []string
	junit                                                     bytes.Buffer // for out
	within                                                    time.Duration

	own []accept.Feature // those of FOLDER; nil means mrtq's own
}

var errNotAccepted = errors.New("not everything passed")

const bothDialects = "both"

// Command is mrtq accept.
func Command(env Env) *cobra.Command {
	c := &acceptCmd{Env: env}
	backends := help.Texts(harness.Backends())
	cmd := &cobra.Command{
		Use:   "accept [FOLDER]",
		Short: "test every documented transition on a ZooKeeper",
		Long: `Run the scenarios of the new queue: every documented transition, acquisition,
lock and behaviour, and every step that must be refused. A second connection reads
what happened, and the whole tree is compared each time.

The backend is ` + strings.Join(backends, ", ") + `, or the address host:port[,…][/chroot] of a running
server. There, accept works in a new chroot, and removes it afterwards, even after
Ctrl-C. It creates the chroot of the address if that is not there. It takes the same
flags for TLS and credentials as all other commands. With
credentials, only their owner can read or write the test data. Without, anyone can.
If a run was killed, its chroot mrtq-… stays: its data says which process made it.

--implementation runs the scenarios on another implementation, in any language: COMMAND
is a driver, a program that answers requests on stdin (docs/drivers.md). --known lists
the scenarios that are expected to fail: then the run passes if exactly these fail.

With FOLDER, its feature files run instead of mrtq's own, with the same steps
(docs/testing.md lists them).

--scenarios migration runs the scenarios of the migration: plan, migrate, verify and
rollback, even if they are killed or interrupted. --scenarios services runs the
scenarios of the deployed services on a migrated queue. Scenarios that kill the
server don't run at an address.

accept prints a character for each step, and each scenario that failed with its file
and line. --out also writes the results as JUnit XML, even if the run can't begin or the
server dies midway; each failure has the command that runs its scenario alone. A feature
file that can't be read, and a scenario that tests nothing, are errors. With -v it prints every step, and the table of all transitions. Exit code 1
if anything failed, or, without --tags, --only and FOLDER, if a transition was not covered.`,
		Example: `  mrtq accept
  mrtq accept --backend staging:2181/scratch --dialect mrt-zk
  mrtq accept --backend staging:2281 --tls-ca ca.pem --auth-file credentials
  mrtq accept our-features
  mrtq accept --implementation 'python3 worker.py' --dialect mrt-zk
  mrtq accept --scenarios migration --backend jvm
  mrtq accept --tags '@J9,@J11' --out accept.xml`,
		Args: env.Args,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.scenariosOf != ofQueue {
				if len(args) > 0 {
					return exit.Usagef("FOLDER can only be given with --scenarios %s", ofQueue)
				}
				for _, flag := range []string{"dialect", "implementation", "known"} {
					if cmd.Flags().Changed(flag) {
						return exit.Usagef("--%s can only be used with --scenarios %s", flag, ofQueue)
					}
				}
			}
			return c.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.backend, "backend", backends[0], "server to run on: "+strings.Join(backends, ", ")+" or an `address`")
	settings.Offer(f, "backend", backends...)
	f.StringVar(&c.tags, "tags", "", "run only scenarios with these `tags`: , is or, && is and, ~ is not")
	f.StringVar(&c.only, "only", "", "run only the scenario, or the row of its examples, at `file:line`")
	settings.Choice(f, &c.scenariosOf, "scenarios", "", "which scenarios to run", ofQueue, "migration", "services")
	settings.Choice(f, &c.dialect, "dialect", "", "dialect of the layout", bothDialects, string(newqueue.Design), string(newqueue.MrtZK))
	f.DurationVar(&c.within, "within", 0, "end the run with an error after this time; 0 means never")
	f.StringVar(&c.out, "out", "", "also write the results to this `file`, as JUnit XML; an earlier one is replaced")
	f.StringArrayVar(&c.implementations, "implementation", nil, "test the driver that this `command` starts; ROLE=COMMAND tests one kind of actor: worker, administrator, API, watcher or pass (the cleanup); can be repeated")
	f.StringVar(&c.knownFile, "known", "", "`file` with the scenarios that are expected to fail: ROW | SCENARIO | REASON")
	f.BoolVar(&c.force, "force", false, "replace the file of --out even if it is not mrtq's")
	return cmd
}

func (c *acceptCmd) run(ctx context.Context, folder []string) (err error) {
	backend, err := harness.ParseBackend(c.backend)
	if err != nil {
		return exit.Usagef("--backend: %w", err)
	}
	if err := c.CheckFiles([]files.Named{{By: "--out", Path: c.out, New: !c.force && !isJUnit(c.out)}}); err != nil {
		return err
	}
	defer func() { // also if the run could not begin, or if the server died midway
		if c.out == "" {
			return
		}
		if err != nil && c.junit.Len() == 0 {
			err = errors.Join(err, accept.WriteError(&c.junit, err))
		}
		err = errors.Join(err, files.Write(c.out, func(w io.Writer) error {
			_, err := w.Write(c.junit.Bytes())
			return err
		}))
	}()
	if len(folder) > 0 {
		if c.own, err = featuresIn(folder[0]); err != nil {
			return err
		}
	}
	reach, session, err := c.reach(backend)
	if err != nil {
		return err
	}
	if err := c.makeChroot(ctx, session); err != nil {
		return err
	}
	server, err := harness.Start(ctx, backend, reach)
	if err != nil {
		return err
	}
	defer func() {
		// Remove the test data also after Ctrl-C, which has ended ctx.
		if ctx.Err() != nil && backend.IsAddress() {
			c.Say("removing the test data on %s; press Ctrl-C again to leave it there", server.Address())
		}
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if serr := server.Stop(sctx); serr != nil {
			err = errors.Join(err, serr)
		}
	}()
	if c.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.within, fmt.Errorf("not done within %v", c.within))
		defer cancel()
	}
	if c.scenariosOf != ofQueue {
		return c.wrongTags(c.migrationScenarios(ctx, server, session))
	}
	known, err := c.known()
	if err != nil {
		return err
	}
	libraries, stop, err := c.drivers(ctx, server, session)
	defer stop()
	if err != nil {
		return err
	}
	opt := c.options(session)
	opt.Address, opt.Dialects, opt.Features, opt.Parallel = server.Address(), c.inDialects(), c.own, parallelScenarios
	opt.Libraries, opt.KnownFailures = libraries, known
	found, err := accept.Run(ctx, opt)
	if err != nil {
		return c.wrongTags(err)
	}
	printCoverage(c.Screen, found, !*c.Verbose)
	return c.conclude(found, c.dialects(), "; "+covered(found))
}

func (c *acceptCmd) wrongTags(err error) error {
	switch {
	case errors.Is(err, accept.ErrOnly):
		return exit.Usagef("--only %w", err)
	case errors.Is(err, accept.ErrTags), errors.Is(err, accept.ErrNothing):
		return exit.Usagef("--tags: %w", err)
	}
	return err
}

func (c *acceptCmd) reach(backend harness.Backend) (harness.Options, zkconn.Config, error) {
	if !backend.IsAddress() {
		return harness.Options{}, zkconn.Config{}, nil
	}
	address, err := zkconn.ParseAddress(string(backend))
	if err != nil {
		return harness.Options{}, zkconn.Config{}, exit.Usagef("--backend: %w", err)
	}
	cfg, err := c.Conn.Config(address)
	return harness.Options{Client: harness.Client{TLS: cfg.TLS, Credentials: cfg.Auth}, StartTimeout: c.Conn.Timeout}, cfg, err
}

// makeChroot creates the chroot of an address, so that a scratch place need not be there.
func (c *acceptCmd) makeChroot(ctx context.Context, session zkconn.Config) error {
	if session.Address.Chroot == "" {
		return nil
	}
	w, err := zkconn.OpenWriter(ctx, session)
	if err != nil {
		return err
	}
	defer w.Close()
	made, err := w.MakeChroot(ctx)
	if len(made) > 0 {
		c.Say("created the chroot %s, which stays", made[len(made)-1])
	}
	return err
}

func (c *acceptCmd) options(session zkconn.Config) accept.Options {
	opt := accept.Options{Session: session, Tags: c.tags, Only: c.only, Alone: c.alone, Pretty: *c.Verbose, Out: text.NewWriter(c.Out)}
	if c.out != "" {
		opt.JUnit = &c.junit
	}
	return opt
}

func (c *acceptCmd) alone(d newqueue.Dialect, at string) string {
	again := *c.Advice
	again.Given = slices.DeleteFunc(slices.Clone(again.Given), func(f advice.Flag) bool {
		return slices.Contains([]string{"tags", "only", "dialect", "known", "out", "force", "within"}, f.Name)
	})
	flags := advice.Set("only", at)
	if d != "" {
		flags = append(flags, advice.Set("dialect", string(d))...)
	}
	return again.Again(flags...)
}

// parallelScenarios is more than one so that a scenario runs while another waits
// for the server.
const parallelScenarios = 4

func (c *acceptCmd) conclude(r *accept.Report, which, rows string) error {
	also := ""
	if r.KnownFailures > 0 {
		also = fmt.Sprintf(", %d failed as expected", r.KnownFailures)
	}
	if r.NotOffered > 0 {
		also += fmt.Sprintf(", %d not offered", r.NotOffered)
		var lacks []string
		for _, verb := range slices.Sorted(maps.Keys(r.NotOfferedByVerb)) {
			lacks = append(lacks, fmt.Sprintf("%s (%d)", verb, r.NotOfferedByVerb[verb]))
		}
		c.Say("not offered: %s", strings.Join(lacks, ", "))
	}
	if r.OK() {
		c.Conclude(screen.Good, "passed", fmt.Sprintf("%s %s%s%s.", screen.Count(r.Scenarios-r.Failed, "scenario", "scenarios"), which, also, rows), advice.Next{})
		return nil
	}
	for _, p := range r.Problems {
		c.Say("%s", p)
	}
	c.Conclude(screen.Bad, "failed", fmt.Sprintf("%s of %d%s%s; %s.",
		screen.Count(r.Failed, "scenario", "scenarios"), r.Scenarios, also, rows, screen.Count(len(r.Problems), "problem", "problems")), advice.Next{})
	return exit.Check(errNotAccepted)
}

func (c *acceptCmd) dialects() string {
	if c.dialect == bothDialects {
		return "in both dialects"
	}
	return "in dialect " + c.dialect
}

func featuresIn(folder string) (all []accept.Feature, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".feature" {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, accept.Feature{Path: path, Text: text})
		return err
	})
	if err == nil && all == nil {
		return nil, exit.Usagef("FOLDER %s: no file there has a name that ends in .feature", folder)
	}
	if err != nil {
		return nil, files.Unread("FOLDER "+folder, err)
	}
	return all, nil
}
