package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

type planCmd struct {
	planFlags
	output string
	out    string
}

func (a *app) planCmd() *cobra.Command {
	c := &planCmd{}
	cmd := &cobra.Command{
		Use:   "plan SOURCE TARGET",
		Short: "say what migrate would do; change nothing",
		Long: `Read both sides and say what a migration would do, and everything that an operator
should know before it: records that block it, jobs that could run twice or never,
outstanding locks, how many sequence numbers are left, lists too long for a client.
In dialect mrt-zk, plan also lists what no deployed service could work on, and what
would happen to it. Nothing is written to either side. Exit code 1 if the plan has
problems.

--out saves the plan, with both sides and all settings. mrtq migrate --plan carries
it out once. It refuses the plan if either side has changed since.`,
		Example: `  mrtq plan zk1:2181 zk1:2181/new --dialect mrt-zk
  mrtq plan zk1:2181 zk1:2181/new --dialect mrt-zk --undecodable quarantine --out plan.json`,
		Args: args("SOURCE", "TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, a, args) },
	}
	c.flags(cmd.Flags())
	a.conn.rateFlag(cmd.Flags())
	choice(cmd.Flags(), &c.output, "output", "o", "format", "table", "json")
	cmd.Flags().StringVar(&c.out, "out", "", "`file` to save the plan to, as JSON")
	return cmd
}

func (c *planCmd) run(cmd *cobra.Command, a *app, args []string) error {
	defer collectOften()()
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	if err := a.checkFiles([]namedFile{{by: "--out", path: c.out}}, s.source.read("SOURCE"), s.target.read("TARGET")); err != nil {
		return err
	}
	plan, _, done, err := a.makePlan(cmd.Context(), s, &c.planFlags)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	defer done()
	var unsaved error // the plan is printed even if it can't be saved
	if c.out != "" {
		if unsaved = writeFile(c.out, func(w io.Writer) error { return writePlan(w, withoutElsewhere(plan)) }); unsaved == nil {
			a.say("the plan is saved in %s", c.out)
		}
	}
	if c.output == "json" {
		if err := writePlan(a.stdout, plan); err != nil {
			return err
		}
	} else {
		a.printPlan(plan)
	}
	if unsaved != nil {
		return fmt.Errorf("plan: the plan was printed, but not saved: %w", unsaved)
	}
	a.sayOtherSource(cmd.Context(), plan.NewestRun(), plan.EarlierSource(), s.source)
	tone, text := planVerdict(plan)
	a.conclude(tone, "Plan: %s.%s", text, afterBlank(c.next(a, s, plan)))
	if plan.Blocked() {
		return checkError(fmt.Errorf("plan: %w: %s", migrate.ErrBlocked, problems(len(plan.Problems))))
	}
	return nil
}

// next is what to do with a plan. It is "" if there is nothing to do.
func (c *planCmd) next(a *app, s sides, plan *migrate.Plan) string {
	switch {
	case plan.Blocked():
		return a.unblock(plan, s, savedIn(c.out)...)
	case plan.Empty() && plan.NewestRun() == "":
		return ""
	case plan.Empty():
		if plan.Count(migrate.ActQuarantine) > 0 {
			return "Next: " + a.command("verify", s.args(), quarantineFlag("", s.target))
		}
		return "Next: " + a.command("verify", s.args())
	}
	var flags []flagWords
	if len(plan.HoldsAgain()) > 0 {
		flags = append(flags, newSwitch("hold-again"))
	}
	if c.out != "" {
		if c.second { // a saved plan does not hold this choice
			flags = append(flags, newSwitch("second-queue"))
		}
		return "Next: " + a.commandOfFile("migrate", append(flags, newFlag("plan", c.out))...)
	}
	return "Next: " + a.command("migrate", s.args(), flags...)
}
