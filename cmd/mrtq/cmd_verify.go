package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

type verifyCmd struct {
	legacyFlags
	policies   migrate.Policies
	others     bool
	quarantine string
	output     string
}

var errDiffers = errors.New("the target is not what the source says it should be")

func (a *app) verifyCmd() *cobra.Command {
	c := &verifyCmd{}
	cmd := &cobra.Command{
		Use:   "verify SOURCE TARGET",
		Short: "derive everything again from the source and compare",
		Long: `Read both sides anew, derive from the source what the target should hold, and
compare: every record accounted for exactly once, every znode's data, every
property read back, order, counts, the layout's rules. Of what a migration
recorded, only the operator's choices (dialect, policies) are taken over, and
only if not given here. Nothing is written. Exit code 1 if anything differs.`,
		Example: `  mrtq verify zk1:2181 zk1:2181/new --quarantine mrtq-quarantine.ndjson`,
		Args:    args("SOURCE", "TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, a, args) },
	}
	f := cmd.Flags()
	c.flags(f)
	policyFlags(f, &c.policies)
	f.BoolVar(&c.others, "others", false, "allow jobs, batches and locks that somebody else made since the migration began")
	f.StringVar(&c.quarantine, "quarantine", "", "`file` in which the bytes of every undecodable record must be")
	choice(f, &c.output, "output", "o", "format", "table", "json")
	return cmd
}

func (c *verifyCmd) run(cmd *cobra.Command, a *app, args []string) error {
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	opt := migrate.VerifyOptions{Others: c.others}
	if c.quarantine != "" {
		if opt.Quarantined, err = migrate.ReadQuarantine(c.quarantine); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	tree, err := a.targetTree(cmd.Context(), s.target)
	if err != nil {
		return failed("verify: target", args[1], err)
	}
	run, ran, err := migrate.NewestRun(tree)
	if err != nil {
		return failed("verify: target", args[1], err)
	}
	if !ran {
		run.Policies = migrate.DefaultPolicies()
	} else if !cmd.Flags().Changed("time") {
		c.time = run.Time
	}
	opt.Policies = c.chosen(run.Policies, cmd.Flags().Changed)
	src, err := a.readSource(cmd.Context(), s.source, &c.legacyFlags)
	if err != nil {
		return failed("verify: source", args[0], err)
	}
	v, err := migrate.Verify(src, tree, opt)
	if err != nil {
		return failed("verify: target", args[1], err)
	}
	if c.output == "json" {
		if err := a.printJSON(v); err != nil {
			return err
		}
	} else {
		a.printVerdict(v)
	}
	if n := v.Records.Quarantined; n > 0 && c.quarantine == "" && v.OK() {
		a.say("%s in quarantine; whether the bytes are kept was not checked: add --quarantine FILE", count(n, "record is", "records are"))
	}
	if !v.OK() {
		return checkError(fmt.Errorf("verify: %w: %s", errDiffers, count(len(v.Differences), "difference", "differences")))
	}
	return nil
}

// chosen are the policies given here, and for the rest those of the newest
// run; nil if none is given.
func (c *verifyCmd) chosen(p migrate.Policies, changed func(flag string) bool) *migrate.Policies {
	given := false
	for _, choice := range migrate.PolicyChoices {
		if changed(choice.Name) {
			*choice.Value(&p) = *choice.Value(&c.policies)
			given = true
		}
	}
	if !given {
		return nil
	}
	return &p
}

func (a *app) printVerdict(v *migrate.Verdict) {
	r := v.Records
	a.table("", []string{"RECORDS", "COUNT"}, [][]any{
		{"migrated", r.Migrated}, {"skipped by policy", r.Skipped}, {"in quarantine", r.Quarantined}, {"missing", r.Missing}, {"all", r.Total},
	})
	var states [][]any
	for _, s := range slices.Sorted(maps.Keys(v.States)) {
		states = append(states, []any{s, v.States[s]})
	}
	a.table("", []string{"NEW STATE", "COUNT"}, states)
	list(a, "Differences", v.Differences, []string{"RECORD OR ZNODE", "DIFFERENCE", "WHAT"}, func(d migrate.Difference) []any {
		return []any{d.Path, string(d.Kind), d.Message}
	})
	a.printServices("What no deployed service could work, because of what its record lacks", v.Services)
	if slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return d.Kind == migrate.NodeExtra }) {
		fmt.Fprint(a.stdout, "If the extra znodes are a live queue's own, --others allows them.\n\n")
	}
	fmt.Fprintf(a.stdout, "%s compared, %d of others left alone\n", count(v.Nodes, "znode", "znodes"), v.Others)
	if v.OK() {
		fmt.Fprintln(a.stdout, "Verified: the target is what the source says it should be.")
	}
}
