package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness"
	"mrtq/harness/rehearse"
	"mrtq/internal/zkconn"
)

// fails is how often a worker fails a record.
const fails = 0.01

type rehearseCmd struct {
	planFlags
	on, output, out string
	force           bool
}

func (a *app) rehearseCmd() *cobra.Command {
	c := &rehearseCmd{}
	cmd := &cobra.Command{
		Use:   "rehearse SOURCE",
		Short: "rehearse the migration on a disposable ZooKeeper",
		Long: `Copy the source to a throwaway ZooKeeper, and run the cutover there. Then simulated
workers drain the queue: the deployed services in dialect mrt-zk, the documented workers
in dialect design. They fail one record in a hundred. Meanwhile a depositor submits more
records, and follow moves them. rehearse compares the outcome with the plan's predictions:
each record's work is done once, each batch is reported once, and every job ends in the
predicted state. Consumed records are assumed finished, the worst case.

A second copy is rolled back when 30 % of the work is done, and simulated legacy workers
do the rest: nothing runs twice, nothing is missed.

The source is only read, and --max-rate limits these reads. Exit code 1 if anything
differs, or if the plan has problems.`,
		Example: `  mrtq rehearse zk1:2181 --dialect mrt-zk --consumed held
  mrtq rehearse file:queue.ndjson.gz --dialect mrt-zk --out rehearsal.json
  mrtq rehearse zk1:2181 --dialect design --on staging:2181/rehearsal`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	f := cmd.Flags()
	c.decisionFlags(f)
	a.conn.RateFlag(f) // for SOURCE alone: see options
	f.StringVar(&c.on, "on", "", "rehearse at this `address`: an empty chroot on a staging ensemble")
	outputFlag(f, &c.output, "json")
	f.StringVar(&c.out, "out", "", "`file` to save the result to, as JSON, for mrtq report --rehearsal")
	f.BoolVar(&c.force, "force", false, "replace the file of --out if it exists")
	return cmd
}

func (c *rehearseCmd) run(ctx context.Context, a *app, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out, New: !c.force}}, p.named()); err != nil {
		return err
	}
	opt, err := c.options(a, p)
	if err != nil {
		return err
	}
	copied, err := c.copy(ctx, a, p, &opt)
	if err != nil {
		return err
	}
	var finish func()
	opt.Progress, finish = a.Follow("rehearsing")
	r, err := rehearse.Run(ctx, copied, opt)
	finish()
	if err != nil {
		return err
	}
	if c.out != "" && r.Rehearsed() {
		if err := files.Write(c.out, func(w io.Writer) error { return screen.WriteJSON(w, r) }); err != nil {
			return err
		}
		a.Say("the rehearsal is saved in %s", c.out)
	}
	a.printAs(c.output, r, func() { view.Rehearsal(a.Screen, r) })
	tone, word, text := view.RehearsalVerdict(r)
	var next advice.Next
	switch {
	case r.OK():
		next.First = "on cutover night, stop the legacy workers, and save the plan with mrtq plan --out"
	case len(r.Problems) > 0:
		next = a.advice.RehearseAgain(r.Plan)
	}
	a.Conclude(tone, word, text, next)
	if !r.OK() {
		return exit.Check(errors.New("the outcome of the rehearsal differs from the plan"))
	}
	return nil
}

func (c *rehearseCmd) options(a *app, source place) (opt rehearse.Options, err error) {
	if !c.set.Changed("dialect") {
		return opt, exit.Usagef("--dialect is missing: a rehearsal begins with an empty target, so say which services will read the new queue: design or mrt-zk")
	}
	opt.Fails = fails
	c.acl = openToAll // only its sessions reach the server, or what is at --on
	if opt.Plan, err = c.planFlags.options(pair{source: source}); err != nil {
		return opt, err
	}
	if c.on == "" {
		return opt, nil
	}
	address, err := zkconn.ParseAddress(c.on)
	if err != nil {
		return opt, exit.Usagef("--on: %w", err)
	}
	if address.Chroot == "" {
		return opt, exit.Usagef("--on %s: expected an address with an empty chroot, such as %s/rehearsal", c.on, strings.TrimSuffix(c.on, "/"))
	}
	cfg, err := a.conn.Config(address)
	opt.On, opt.Client = c.on, harness.Client{TLS: cfg.TLS, Credentials: cfg.Auth}
	return opt, err
}

func (c *rehearseCmd) copy(ctx context.Context, a *app, p place, opt *rehearse.Options) (*rehearse.Copy, error) {
	ctx, finish := a.Phases(ctx, "reading the source")
	defer finish()
	src, side, err := a.openSource(ctx, pair{source: p}, &c.legacyFlags)
	if err != nil {
		return nil, err
	}
	defer side.Close()
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
