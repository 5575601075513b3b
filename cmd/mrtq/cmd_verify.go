package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

type verifyCmd struct {
	legacyFlags
	policies   migrate.Policies
	others     bool
	acl        bool
	quarantine string
	output     string
	verdict    *migrate.Verdict // what it found
	differing  *otherChoices    // choices that are not the run's; nil if there are none
}

var errDiffers = errors.New("the target is not what the source says it should be")

func (a *app) verifyCmd() *cobra.Command {
	_, cmd := a.newVerify()
	return cmd
}

// newVerify returns the command mrtq verify, and the values of its flags.
func (a *app) newVerify() (*verifyCmd, *cobra.Command) {
	c := &verifyCmd{}
	cmd := &cobra.Command{
		Use:   "verify SOURCE TARGET",
		Short: "derive everything again from the source and compare",
		Long: `Read both sides again, derive from the source what the target should hold, and
compare. verify checks that every record is there exactly once, each znode's data,
each property of a job, the order, the counts and the layout's rules. It takes only
the policies and the dialect from the run's record, and derives everything else again.
If you give a policy here, it uses yours, and says so if the run was made with another
one. Nothing is written.

After a release, verify distinguishes the work of workers from damage: it counts the
jobs that they have worked on, and compares only what workers never change. Exit code
1 if anything else differs.`,
		Example: `  mrtq verify zk1:2181 zk1:2181/new --quarantine mrtq-quarantine-zk1-2181-new.ndjson`,
		Args:    args("SOURCE", "TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, a, args) },
	}
	f := cmd.Flags()
	a.conn.rateFlag(f)
	c.flags(f)
	policyFlags(f, &c.policies)
	for _, choice := range migrate.PolicyChoices {
		f.Lookup(choice.Name).DefValue = "the run's"
	}
	f.BoolVar(&c.others, "others", false, "allow jobs, batches and locks that others have created since the migration began")
	f.BoolVar(&c.acl, "all-acls", false, "compare the ACLs of all created znodes, not only of a sample; one more request for each znode")
	f.StringVar(&c.quarantine, "quarantine", "", "quarantine `file` that must hold the bytes of every undecodable record")
	choice(f, &c.output, "output", "o", "format", "table", "json")
	return c, cmd
}

func (c *verifyCmd) run(cmd *cobra.Command, a *app, args []string) error {
	defer collectOften()()
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	opt := migrate.VerifyOptions{Others: c.others}
	if opt.Quarantined, err = c.kept(s.target); err != nil {
		return err
	}
	v, err := c.verify(cmd, a, s, opt)
	if err != nil {
		return err
	}
	c.verdict = v
	if c.output == "json" {
		if err := a.printJSON(v); err != nil {
			return err
		}
	} else {
		a.printVerdict(v, c.differing == nil)
	}
	if n := v.Records.Quarantined; n > 0 && c.quarantine == "" && v.OK() {
		a.say("%s in quarantine; their bytes were not checked: add --quarantine FILE", count(n, "record is", "records are"))
	}
	lacks := ""
	if n := notKept(v); n > 0 {
		lacks = quarantineLacks(c.quarantine, s.target, n)
	}
	if !v.OK() {
		a.sayOtherSource(v.Run, v.RunSource(), s.source.text)
	}
	if c.differing != nil && !v.OK() && v.State != migrate.RunRunning && v.State != migrate.RunRollingBack {
		a.concludeOtherChoices(c, s)
	} else {
		tone, text := verifyVerdict(v, shellWord(s.target.text), lacks)
		a.conclude(tone, "%s%s", text, afterBlank(a.nextAfterVerify(v, s, c.quarantine)))
	}
	switch {
	case v.OK():
		return nil
	case notKept(v) == len(v.Differences):
		return checkError(fmt.Errorf("verify: %s", lacks))
	}
	return checkError(fmt.Errorf("verify: %w: %s", errDiffers, count(len(v.Differences), "difference", "differences")))
}

// verify reads both sides at the same time.
func (c *verifyCmd) verify(cmd *cobra.Command, a *app, s sides, opt migrate.VerifyOptions) (*migrate.Verdict, error) {
	ctx, finish := a.phases(cmd.Context(), "verifying")
	defer finish()
	opt.ACLs = migrate.NewACLSample(c.acl)
	target, err := a.openTarget(ctx, s.target, opt.ACLs.Wants)
	if err != nil {
		return nil, failed("verify: target", s.target.text, err)
	}
	defer target.Close()
	queues, _, err := c.reads()
	if err != nil {
		return nil, err
	}
	policies, time := c.chosen(cmd.Flags().Changed)
	choices, err := migrate.ReadChoices(ctx, target, policies, time)
	if err != nil {
		return nil, failed("verify: target", s.target.text, err)
	}
	opt.Policies = choices.Policies
	if run, ran, err := migrate.ReadNewestRun(ctx, target); err == nil && ran {
		c.differing = differingChoices(run, policies, time)
	}
	if c.differing != nil {
		a.say("%s: verify compares the target with what your %s would have made", c.differing, c.differing.one("choice", "choices"))
	}
	source, err := a.openSource(ctx, s.source, nil)
	if err != nil {
		return nil, failed("verify: source", s.source.text, err)
	}
	defer source.Close()
	queue, err := migrate.OpenLegacyQueue(ctx, source.Side, queues, choices.Reads)
	if err != nil {
		return nil, failed("verify: source", s.source.text, a.noLegacyQueue(ctx, s, &c.legacyFlags, err))
	}
	v, err := migrate.Verify(ctx, queue, target, opt)
	if err != nil {
		return nil, failed("verify", s.source.text+" "+s.target.text, err)
	}
	return v, nil
}

// kept is the content of the quarantine file. It is nil if no file is given. A missing
// file counts as empty, because migrate creates it only for the first record.
func (c *verifyCmd) kept(target endpoint) (map[string][][]byte, error) {
	if c.quarantine == "" {
		return nil, nil
	}
	kept, err := migrate.ReadQuarantine(c.quarantine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string][][]byte{}, nil
	case errors.Is(err, migrate.ErrQuarantineFile):
		return nil, usageError("--quarantine %s: %s. %s", c.quarantine, notAFile(c.quarantine), wantQuarantine(target))
	case err != nil:
		return nil, fmt.Errorf("verify: %w", err)
	}
	return kept, nil
}

// chosen are the policies and the unit of times that were given as flags.
func (c *verifyCmd) chosen(given func(flag string) bool) (policies map[string]string, time string) {
	policies = map[string]string{}
	for _, choice := range migrate.PolicyChoices {
		if given(choice.Name) {
			policies[choice.Name] = *choice.Value(&c.policies)
		}
	}
	if given("time") {
		time = c.time
	}
	return policies, time
}

// printVerdict prints a verification. mendable is false if the differences may come only
// from other policies.
func (a *app) printVerdict(v *migrate.Verdict, mendable bool) {
	if noRunHere(v) {
		return // it would only list every record as missing
	}
	r := v.Records
	rows := [][]any{{"migrated", r.Migrated}}
	if r.Gone > 0 {
		rows = append(rows, []any{"migrated, and the job gone", r.Gone})
	}
	a.table("", []string{"RECORDS", "COUNT"}, append(rows, []any{"skipped by policy", r.Skipped}, []any{"in quarantine", r.Quarantined}, []any{"missing", r.Missing}, []any{"all", r.Total}))
	var states [][]any
	for _, s := range slices.Sorted(maps.Keys(v.States)) {
		states = append(states, []any{s, v.States[s]})
	}
	a.table("", []string{"NEW STATE", "COUNT"}, states)
	list(a, "Differences", v.Differences, []string{"RECORD OR ZNODE", "DIFFERENCE", "WHAT"}, func(d migrate.Difference) []any {
		return []any{d.Path, string(d.Kind), d.Message}
	})
	a.printServices("What the deployed services would do with it", v.Services)
	if mendable && slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return d.Kind == migrate.NodeExtra }) {
		fmt.Fprint(a.stdout, "If live services created the extra znodes, add --others to allow them.\n\n")
	}
	if slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return d.Kind == migrate.Damaged && d.Rebuildable }) {
		fmt.Fprint(a.stdout, "To rebuild the migration's own records: mrtq rebuild TARGET\n\n")
	}
	compared := count(v.Nodes, "znode", "znodes")
	if v.ACLs > 0 {
		compared += " and " + count(v.ACLs, "ACL", "ACLs")
	}
	fmt.Fprintf(a.stdout, "%s compared, %s of others ignored\n", compared, count(v.Others, "znode", "znodes"))
	a.printWorked(v)
	if v.Settled > 0 {
		fmt.Fprintf(a.stdout, "%s in custody, gone from both sides\n", count(v.Settled, "record is", "records are"))
	}
}

// printWorked says what workers have done since queues were released.
func (a *app) printWorked(v *migrate.Verdict) {
	if len(v.Released) == 0 {
		return
	}
	w := v.Worked
	fmt.Fprintf(a.stdout, "Released: %s. ", strings.Join(lastNames(v.Released), ", "))
	if w.Jobs == 0 {
		fmt.Fprint(a.stdout, "Workers have changed no job or request that is still there.\n\n")
	} else {
		fmt.Fprintf(a.stdout, "Workers have worked on %s: %d locked now, %d done or waiting for the next worker.\n\n", count(w.Jobs, "job or request", "jobs and requests"), w.Locked, w.Jobs-w.Locked)
	}
	list(a, "Worked on", w.First, []string{"JOB OR REQUEST", "STATE", "LOCKED"}, func(j migrate.WorkedJob) []any {
		locked := "no"
		if j.Locked {
			locked = "yes"
		}
		return []any{j.Path, j.State, locked}
	})
	list(a, "In processing, but not locked: no deployed worker acquires these again. Their worker ended, or an administrator requeued them. Let the requesters ask again", w.Abandoned,
		[]string{"REQUEST"}, func(path string) []any { return []any{path} })
	list(a, "Gone: finished and cleaned up by the services, or deleted by hand, which looks the same. Compare with what the services logged", w.Gone,
		[]string{"LEGACY RECORD", "WAS"}, func(j migrate.GoneJob) []any { return []any{j.Record, j.Path} })
}
