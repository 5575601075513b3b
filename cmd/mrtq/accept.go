package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/report"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
)

type acceptCmd struct {
	backend, tags, dialect, format, out, coverage, scenariosOf string

	clean, force bool
}

var errNotAccepted = errors.New("not everything passed")

// bothDialects is the value of --dialect that runs the scenarios in both.
const bothDialects = "both"

func (a *app) acceptCmd() *cobra.Command {
	c := &acceptCmd{}
	var backends []string
	for _, b := range harness.Backends() {
		backends = append(backends, string(b))
	}
	cmd := &cobra.Command{
		Use:   "accept [flags]",
		Short: "prove every documented transition on a ZooKeeper",
		Long: `Run the scenarios of the new queue: every documented transition, acquisition,
lock and behaviour, and every step that must be refused. A second connection reads
what happened, and the whole tree is compared each time.

The backend is ` + strings.Join(backends, ", ") + `, or the address host:port[,…][/chroot] of a running
server. There, accept works in a new chroot, and removes it afterwards, also after
Ctrl-C. It takes the same flags for TLS and credentials as all other commands. With
credentials, only their owner can read or write the test data. Without, anyone can.
If a run was killed, the next one lists what it left behind, and --clean removes it.

--scenarios migration runs the scenarios of the migration: plan, migrate, verify and
rollback, also if they are killed or interrupted. --scenarios services runs the
scenarios of the deployed services on a migrated queue. Scenarios that kill the
server don't run at an address.

accept prints a line for each feature, and the steps of each scenario that failed.
With -v it prints every step, and the table of all transitions. Exit code 1 if
anything failed, or, without --tags, if a transition was not covered.`,
		Example: `  mrtq accept
  mrtq accept --backend staging:2181/scratch --dialect mrt-zk
  mrtq accept --backend staging:2281 --tls-ca ca.pem --auth-file credentials
  mrtq accept --backend staging:2181/scratch --clean
  mrtq accept --scenarios migration --backend jvm
  mrtq accept --tags '@J9,@J11' --format junit --out accept.xml`,
		Args: args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.clean {
				return during("accept", c.removeLeftovers(cmd.Context(), a))
			}
			if c.force {
				return exit.Usagef("--force can only be used with --clean")
			}
			if c.scenariosOf != ofQueue {
				for _, flag := range []string{"coverage", "dialect"} {
					if cmd.Flags().Changed(flag) {
						return exit.Usagef("--%s can only be used with --scenarios %s", flag, ofQueue)
					}
				}
			}
			return during("accept", c.run(cmd.Context(), a))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.clean, "clean", false, "run nothing: remove what killed runs left at the address")
	f.BoolVar(&c.force, "force", false, "with --clean, remove also the chroots of runs that may still be running")
	f.StringVar(&c.backend, "backend", backends[0], "server to run on: "+strings.Join(backends, ", ")+" or an `address`")
	f.StringVar(&c.tags, "tags", "", "run only scenarios with these `tags`: , is or, && is and, ~ is not")
	settings.Choice(f, &c.scenariosOf, "scenarios", "", "which scenarios to run", ofQueue, "migration", "services")
	settings.Choice(f, &c.dialect, "dialect", "", "dialect of the layout", bothDialects, string(newqueue.Design), string(newqueue.MrtZK))
	settings.Choice(f, &c.format, "format", "", "output format", string(accept.Brief), string(accept.JUnit))
	f.StringVar(&c.out, "out", "", "output `file`, instead of stdout")
	f.StringVar(&c.coverage, "coverage", "", "`file` to write the coverage to, as JSON: mrtq report shows it")
	return cmd
}

func (c *acceptCmd) run(ctx context.Context, a *app) (err error) {
	backend, err := harness.ParseBackend(c.backend)
	if err != nil {
		return exit.Usagef("--backend: %w", err)
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out}, {By: "--coverage", Path: c.coverage}}); err != nil {
		return err
	}
	opt, session, err := a.reach(backend)
	if err != nil {
		return err
	}
	server, err := harness.Start(ctx, backend, opt)
	if err != nil {
		return err
	}
	defer func() {
		// Remove the test data also after Ctrl-C, which has ended ctx.
		if ctx.Err() != nil && backend.IsAddress() {
			a.Say("removing the test data on %s; press Ctrl-C again to leave it there", server.Address())
		}
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if serr := server.Stop(sctx); serr != nil {
			err = errors.Join(err, serr)
		}
	}()
	for _, other := range server.Others() {
		a.Say("another run is using %s, or was killed and left it: %s. mrtq accept --backend %s --clean removes what killed runs left", other.Path, other.Note, backend)
	}
	if c.scenariosOf != ofQueue {
		return c.wrongTags(c.migrationScenarios(ctx, a, server, session))
	}
	found, err := c.scenarios(ctx, a, accept.Options{Address: server.Address(), Session: session, Tidy: backend.IsAddress()})
	if err != nil {
		return c.wrongTags(err)
	}
	if c.coverage != "" {
		if err := files.Write(c.coverage, func(w io.Writer) error { return screen.WriteJSON(w, coverageOf(found)) }); err != nil {
			return err
		}
	}
	return c.conclude(a, found)
}

// wrongTags turns an error that --tags caused into a usage error.
func (c *acceptCmd) wrongTags(err error) error {
	var tags *accept.TagsError
	if errors.As(err, &tags) || errors.Is(err, accept.ErrNothing) {
		return exit.Usagef("--tags: %w", err)
	}
	return err
}

// coverageOf is the content of --coverage.
func coverageOf(r *accept.Report) report.Coverage {
	c := report.Coverage{Rows: []report.CoverageRow{}}
	for _, row := range r.Coverage {
		c.Rows = append(c.Rows, report.CoverageRow{ID: row.ID, What: row.What, Dialect: string(row.Dialect), Result: string(row.Result), Why: row.Why})
	}
	return c
}

// reach returns how to open sessions to an address, as the connection flags say. A
// server that mrtq starts itself needs none of them.
func (a *app) reach(backend harness.Backend) (harness.Options, zkconn.Config, error) {
	if !backend.IsAddress() {
		return harness.Options{}, zkconn.Config{}, nil
	}
	address, err := zkconn.ParseAddress(string(backend))
	if err != nil {
		return harness.Options{}, zkconn.Config{}, exit.Usagef("--backend: %w", err)
	}
	cfg, err := a.connConfig(address)
	var client harness.Client
	if t := cfg.TLS; t != nil {
		client.TLS, client.ServerName = &harness.TLSFiles{CA: t.CA, Cert: t.Cert, Key: t.Key}, t.ServerName
	}
	for _, auth := range cfg.Auth {
		client.Credentials = append(client.Credentials, harness.Digest(auth.UserPassword()))
	}
	var acl []zk.ACL // open to all
	if len(cfg.Auth) > 0 {
		acl = zk.AuthACL(zk.PermAll) // only for those who have the same credentials
	}
	return harness.Options{Client: client, ACL: acl, StartTimeout: a.conn.timeout}, cfg, err
}

// scenarios runs the scenarios, and prints them to stdout or to the file of --out.
func (c *acceptCmd) scenarios(ctx context.Context, a *app, opt accept.Options) (*accept.Report, error) {
	opt.Tags, opt.Format, opt.Out = c.tags, accept.Format(c.format), a.Out
	if opt.Format == accept.Brief && a.verbose {
		opt.Format = accept.Pretty
	}
	if c.dialect != bothDialects {
		opt.Dialects = []newqueue.Dialect{newqueue.Dialect(c.dialect)}
	}
	if !forPeople(opt.Format) {
		opt.Parallel = parallelScenarios // printed as one document at the end
	}
	opt.Color = screen.Colourful(a.Out.Writer)
	if c.out == "" {
		return accept.Run(ctx, opt)
	}
	opt.Color = false
	var found *accept.Report
	err := files.Write(c.out, func(w io.Writer) (err error) {
		opt.Out = w
		found, err = accept.Run(ctx, opt)
		return err
	})
	return found, err
}

// parallelScenarios is more than one so that a scenario runs while another waits
// for the server.
const parallelScenarios = 4

// forPeople reports whether people read a format, and not a program.
func forPeople(f accept.Format) bool { return f == accept.Brief || f == accept.Pretty }

// conclude prints the coverage and the problems. They go to stderr if a program reads
// stdout.
func (c *acceptCmd) conclude(a *app, r *accept.Report) error {
	people := a.Screen
	if c.out == "" && !forPeople(accept.Format(c.format)) {
		people = a.ToErr()
	}
	printCoverage(people, r, accept.Format(c.format) == accept.Brief && !a.verbose)
	if r.OK() {
		a.Conclude(screen.Good, "Accept: %s in %s passed; %s.", screen.Count(r.Scenarios, "scenario", "scenarios"), c.dialects(), covered(r))
		return nil
	}
	for _, p := range r.Problems {
		a.Say("%s", p)
	}
	a.Conclude(screen.Bad, "Accept: %s of %d failed; %s; %s.",
		screen.Count(r.Failed, "scenario", "scenarios"), r.Scenarios, covered(r), screen.Count(len(r.Problems), "problem", "problems"))
	return exit.Check(errNotAccepted)
}

func (c *acceptCmd) dialects() string {
	if c.dialect == bothDialects {
		return "both dialects"
	}
	return "dialect " + c.dialect
}

func covered(r *accept.Report) string {
	passed := 0
	for _, row := range r.Coverage {
		if row.Result == accept.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d rows covered", passed, len(r.Coverage))
}

var coverageTones = map[accept.Result]screen.Tone{accept.Passed: screen.Good, accept.Failed: screen.Bad, accept.NotRun: screen.Attention}

// printCoverage prints a row for each documented transition, with a column for each dialect.
// After a run with --tags, it prints only the rows that have run. If brief, it prints
// only the rows that have not passed.
func printCoverage(s *screen.Screen, r *accept.Report, brief bool) {
	results := map[string]map[newqueue.Dialect]accept.Result{}
	var lines []string // keys of results, in the documents' order
	var dialects []newqueue.Dialect
	last := -1
	for _, row := range r.Coverage {
		if !slices.Contains(dialects, row.Dialect) {
			dialects, last = append(dialects, row.Dialect), -1
		}
		if r.Subset && row.Result == accept.NotRun {
			continue
		}
		key := row.ID + "\t" + row.What
		if results[key] == nil {
			results[key] = map[newqueue.Dialect]accept.Result{}
			lines = slices.Insert(lines, last+1, key) // a row of only one dialect stays beside its neighbour
		}
		last = slices.Index(lines, key)
		results[key][row.Dialect] = row.Result
	}
	header := []string{"id", "what"}
	for _, d := range dialects {
		header = append(header, string(d))
	}
	var rows []screen.Row
	for _, key := range lines {
		id, what, _ := strings.Cut(key, "\t")
		row := screen.Row{id, what}
		passed := true
		for _, d := range dialects {
			result := results[key][d]
			passed = passed && (result == accept.Passed || result == "")
			row = append(row, screen.Toned{Tone: coverageTones[result], Text: cmp.Or(string(result), "–")})
		}
		if !brief || !passed {
			rows = append(rows, row)
		}
	}
	s.Table("Coverage", header, rows)
}
