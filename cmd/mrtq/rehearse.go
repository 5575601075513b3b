package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/report"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness"
	"mrtq/harness/rehearse"
	"mrtq/internal/zkconn"
)

type rehearseCmd struct {
	planFlags
	backend, on, crash, html, output string
	rates                            rehearse.Rates
	seed                             uint64
	force                            bool
}

func (a *app) rehearseCmd() *cobra.Command {
	c := &rehearseCmd{}
	cmd := &cobra.Command{
		Use:   "rehearse SOURCE",
		Short: "rehearse the migration on a disposable ZooKeeper",
		Long: `Copy the source to a disposable ZooKeeper, and do there what the night will do: plan,
migrate, verify and release. Then simulated workers work the queue to its end: the
deployed services in dialect mrt-zk, the documented workers in dialect design. Some
fail, are killed or lose their sessions, as often as the flags say. rehearse compares
what they did with what the plan foretold: the work of each record is done once, or
not, as told; in the old queue's order; each batch is reported once; every job ends
in the state that was told; and no lock is left. The whole queue is verified against
the layout after the migration, after the release, half way, and at the end. The
legacy worker of a consumed record counts as done: nobody knows, and that is worst.

A second copy is rolled back when 30 % of the work is done: the records of the jobs that
nobody has begun go back, and simulated legacy workers do the rest: nothing twice,
nothing never. A third copy's migration is cut at --crash transactions, spread
evenly: its connection is lost, or its process is killed, before or after the server
does the transaction. Each time, the same command goes on.

The source is only read, and --max-rate is for these reads alone. The server runs in
this process, unless --backend or --on says otherwise, and nothing of it is left
afterwards, also after Ctrl-C. A worker is disturbed after it has taken something and
before it begins. Exit code 1 if anything differs, or if the plan has problems.`,
		Example: `  mrtq rehearse zk1:2181 --dialect mrt-zk --consumed held
  mrtq rehearse file:queue.ndjson.gz --dialect mrt-zk --crash all
  mrtq rehearse zk1:2181 --dialect design --on staging:2181/rehearsal`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	f := cmd.Flags()
	c.decisionFlags(f)
	a.conn.RateFlag(f) // for SOURCE alone: see options
	settings.Choice(f, &c.backend, "backend", "", "server to rehearse on", help.Texts(harness.Backends())...)
	f.StringVar(&c.on, "on", "", "rehearse at this `address` instead: an empty chroot on a staging ensemble; the connection flags are for it, too")
	f.StringVar(&c.crash, "crash", "20", "how many transactions of the migration are cut: a `number`, or all; 0 leaves this out")
	f.Float64Var(&c.rates.Fail, "fail", 0.001, "how often a worker fails a record, as a `part` of what it takes")
	f.Float64Var(&c.rates.Kill, "kill", 0.001, "how often a worker is killed, as a `part` of what it takes")
	f.Float64Var(&c.rates.Lose, "lose", 0.001, "how often a worker loses its session, as a `part` of what it takes")
	f.Uint64Var(&c.seed, "seed", 1, "`number` that decides who is disturbed when; the same one disturbs the same")
	f.StringVar(&c.html, "html", "", "also make a page, in this `file`: the verdict, and what the night will be; an earlier page is replaced")
	f.BoolVar(&c.force, "force", false, "replace the file of --html even if it is no page of mrtq")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *rehearseCmd) run(ctx context.Context, a *app, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	opt, err := c.options(a, p)
	if err != nil {
		return err
	}
	if files.IsGzip(c.html) {
		return exit.Usagef("--html %s: a browser can't open a gzip file; leave out .gz", c.html)
	}
	if err := a.checkFiles([]files.Named{{By: "--html", Path: c.html, New: !c.force && !report.IsPage(c.html)}}, p.named()); err != nil {
		return err
	}
	copied, err := c.copy(ctx, a, p, &opt)
	if err != nil {
		return err
	}
	r, err := rehearse.Run(ctx, copied, opt)
	var full *rehearse.NotEmptyError
	switch {
	case errors.As(err, &full):
		return exit.Usagef("--on: %w", err)
	case err != nil:
		return err
	}
	if c.output == "json" {
		a.JSON(r)
	} else {
		view.Rehearsal(a.Screen, r)
	}
	tone, word, text := view.RehearsalVerdict(r)
	var next advice.Next
	if len(r.Problems) > 0 {
		next = a.advice.RehearseAgain(r.Plan)
	}
	a.Conclude(tone, word, text, next)
	if c.html != "" {
		page := report.Rehearsal{Made: time.Now(), Source: p.Text, Report: r}
		if err := files.Write(c.html, func(w io.Writer) error { return report.WriteRehearsal(w, &page) }); err != nil {
			return err
		}
	}
	if !r.OK() {
		return exit.Check(errors.New("the rehearsal was not as foretold"))
	}
	return nil
}

// options checks the flags.
func (c *rehearseCmd) options(a *app, source place) (opt rehearse.Options, err error) {
	if !c.set.Changed("dialect") {
		return opt, exit.Usagef("--dialect is missing: a rehearsal begins with an empty target, so say which services will read the new queue: design or mrt-zk")
	}
	for name, rate := range map[string]float64{"fail": c.rates.Fail, "kill": c.rates.Kill, "lose": c.rates.Lose} {
		if math.IsNaN(rate) || rate < 0 || rate > 0.5 {
			return opt, exit.Usagef("--%s %v: expected a part from 0 to 0.5, such as 0.01", name, rate)
		}
	}
	opt.Rates, opt.Seed, opt.Meter = c.rates, c.seed, a
	if opt.Cuts, err = strconv.Atoi(c.crash); c.crash == "all" {
		opt.Cuts = rehearse.AllCuts
	} else if err != nil || opt.Cuts < 0 {
		return opt, exit.Usagef("--crash %q: expected a number, or all", c.crash)
	}
	c.acl = openToAll // only its sessions reach the server, or what is at --on
	if opt.Plan, err = c.planFlags.options(pair{source: source}); err != nil {
		return opt, err
	}
	opt.Backend = harness.Backend(c.backend)
	if c.on == "" {
		return opt, nil
	}
	if c.set.Changed("backend") {
		return opt, exit.Usagef("give --backend or --on, not both")
	}
	address, err := zkconn.ParseAddress(c.on)
	if err != nil {
		return opt, exit.Usagef("--on: %w", err)
	}
	if address.Chroot == "" {
		return opt, exit.Usagef("--on %s: expected an address with an empty chroot, such as %s/rehearsal", c.on, strings.TrimSuffix(c.on, "/"))
	}
	cfg, err := a.conn.Config(address)
	opt.Backend, opt.Client = harness.Backend(c.on), harness.Client{TLS: cfg.TLS, Credentials: cfg.Auth}
	return opt, err
}

// copy reads the source.
func (c *rehearseCmd) copy(ctx context.Context, a *app, p place, opt *rehearse.Options) (*rehearse.Copy, error) {
	ctx, finish := a.Phases(ctx, "reading the source")
	defer finish()
	src, side, err := a.openSource(ctx, pair{source: p}, &c.legacyFlags)
	if err != nil {
		return nil, err
	}
	defer side.Close()
	if p.isServer() {
		if opt.RoundTrip, err = rehearse.RoundTrip(ctx, side.Reader); err != nil {
			return nil, failed("source", p.Text, err)
		}
	}
	_, reads, err := c.reads()
	if err != nil {
		return nil, err
	}
	copied, err := rehearse.ReadCopy(ctx, src, reads)
	if errors.Is(err, rehearse.ErrNothing) {
		return nil, exit.Check(fmt.Errorf("source %s: %w", p.Text, err))
	}
	return copied, err
}
