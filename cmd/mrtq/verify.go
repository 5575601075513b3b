package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// verifyFlags are the flags of a verification. verify and release have them.
type verifyFlags struct {
	legacyFlags
	quarantine string
	allACLs    bool
}

func (v *verifyFlags) flags(f *pflag.FlagSet) {
	v.nodeFlags(f)
	v.time = "auto" // a verification reads times as the run did
	f.StringVar(&v.quarantine, "quarantine", "", "quarantine `file` that must hold the bytes of every undecodable record")
	f.BoolVar(&v.allACLs, "all-acls", false, "compare the ACLs of all created znodes, not only of a sample; one more request for each znode")
}

func (v *verifyFlags) options(target place) (opt migrate.VerifyOptions, err error) {
	opt.AllACLs = v.allACLs
	opt.Quarantined, err = keptBytes(v.quarantine, target)
	return opt, err
}

type verifyCmd struct {
	verifyFlags
	output string
}

func (a *app) verifyCmd() *cobra.Command {
	c := &verifyCmd{}
	cmd := &cobra.Command{
		Use:   "verify SOURCE TARGET",
		Short: "recompute the expected tree from the source and compare",
		Long: `Read both sides again, recompute from the source what the target should hold, and
compare. verify takes only the choices of the migration from its record, and which
record became which job. Nothing is written.

Before the release, verify checks that every record is there exactly once, each
znode's data, each property of a job, the order, the counts and the layout's rules.
After the release, the jobs belong to the services: verify then checks that each is
in a state that the layout allows, or was removed. It names jobs that were acted on
apart from damage, and records that came late, changed, vanished or were missed.

Exit code 1 unless the target matches the source.`,
		Example: `  mrtq verify zk1:2181 zk1:2181/new --quarantine mrtq-quarantine-zk1-2181-new.ndjson`,
		Args:    args("SOURCE", "TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return during("verify", c.run(cmd.Context(), a, args)) },
	}
	a.conn.rateFlag(cmd.Flags())
	c.flags(cmd.Flags())
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

// verified is the -o json of verify.
type verified struct {
	// Outcome is "ok", or the gravest group of the differences.
	Outcome string `json:"verdict"`
	*migrate.Verdict
}

func outcome(v *migrate.Verdict) string {
	for _, g := range migrate.Groups {
		if v.CountGroup(g) > 0 {
			return string(g)
		}
	}
	return "ok"
}

func (c *verifyCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parsePair(args)
	if err != nil {
		return err
	}
	opt, err := c.options(s.target)
	if err != nil {
		return err
	}
	v, err := c.verify(ctx, a, s, opt)
	if err != nil {
		return withWayOut(a, err, advice.Situation{Source: s.source.Text, Target: s.target.Text})
	}
	if c.output == "json" {
		err = a.JSON(verified{outcome(v), v})
	} else {
		printVerdict(a.Screen, v)
	}
	a.sayQuarantine(v, c.quarantine, s.target)
	a.concludeVerdict(v, s, c.quarantine, "")
	if err == nil && !v.OK() {
		err = exit.Check(fmt.Errorf("%w: %s", migrate.ErrNotVerified, screen.Count(len(v.Differences), "difference", "differences")))
	}
	return err
}

// sayQuarantine says what is not known, or is wrong, about the quarantine file.
func (a *app) sayQuarantine(v *migrate.Verdict, file string, target place) {
	switch n := v.Count("not-kept"); {
	case n > 0:
		lacks := fmt.Sprintf("--quarantine %s doesn't hold the bytes of %s", file, screen.Count(n, "undecodable record", "undecodable records"))
		if !files.IsRegular(file) {
			lacks += ", because it is not there"
		}
		a.Say("%s. %s", lacks, wantQuarantine(target))
	case v.Records.Quarantined > 0 && file == "":
		a.Say("%s in quarantine; their bytes were not checked: add --quarantine FILE", screen.Count(v.Records.Quarantined, "record is", "records are"))
	}
}

func (c *verifyCmd) verify(ctx context.Context, a *app, s pair, opt migrate.VerifyOptions) (*migrate.Verdict, error) {
	ctx, finish := a.Phases(ctx, "verifying")
	defer finish()
	src, target, done, err := a.openBoth(ctx, s, &c.legacyFlags)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := migrate.Verify(ctx, src, target, opt)
	if err != nil {
		return nil, whichSide(s, err)
	}
	return v, nil
}

// groupTitles are the titles of the lists of differences.
var groupTitles = map[migrate.Group]string{
	migrate.Damage:       "Damage: no worker, service or administrator who follows the documents causes this",
	migrate.MovedRecords: "Records of the legacy queue that moved: they could run twice, or were missed",
	migrate.UnfinishedIn: "Unfinished",
	migrate.RestoredIn:   "Restored from a backup",
	migrate.ActedOnIn:    "Acted on since they were migrated: a worker, a service or an administrator did this",
}

// printVerdict prints a verification.
func printVerdict(s *screen.Screen, v *migrate.Verdict) {
	r := v.Records
	rows := []screen.Row{{"migrated", r.Migrated}, {"skipped by choice", r.Skipped}, {"in quarantine", r.Quarantined}, {"missed", r.Missed}}
	for _, more := range []struct {
		what string
		n    int
	}{{"migrated, and the job removed", r.Removed}, {"not migrated yet", r.Waiting}, {"late", r.Late}, {"returned to the legacy queue", r.Returned}} {
		if more.n > 0 {
			rows = append(rows, screen.Row{more.what, more.n})
		}
	}
	s.Table("", []string{"RECORDS", "COUNT"}, append(rows, screen.Row{"all", r.Total}))
	var states []screen.Row
	for _, state := range slices.Sorted(maps.Keys(v.States)) {
		states = append(states, screen.Row{state, v.States[state]})
	}
	s.Table("", []string{"STATE OF JOBS", "COUNT"}, states)
	for _, g := range migrate.Groups {
		differences := slices.DeleteFunc(slices.Clone(v.Differences), func(d migrate.Difference) bool { return d.Kind.Group() != g })
		screen.List(s, groupTitles[g], differences, []string{"RECORD OR ZNODE", "DIFFERENCE", "WHAT"}, func(d migrate.Difference) screen.Row {
			return screen.Row{d.Path, string(d.Kind), d.Message}
		})
	}
	item := func(i migrate.VerdictItem) screen.Row { return screen.Row{i.Record, i.Job, i.What} }
	screen.List(s, "Late: added to the legacy queue since the migration", v.Late, []string{"LEGACY RECORD"}, func(path string) screen.Row { return screen.Row{path} })
	screen.List(s, "Removed: finished and cleaned up, or deleted", v.Removed, []string{"LEGACY RECORD", "JOB", "WHAT"}, item)
	screen.List(s, "For information: these records moved, and can't run twice", v.Notices, []string{"LEGACY RECORD", "JOB", "WHAT"}, item)
	compared := screen.Count(v.Nodes, "znode", "znodes")
	if v.ACLs > 0 {
		compared += " and " + screen.Count(v.ACLs, "ACL", "ACLs")
	}
	s.Printf("%s compared. The target also has %s that no run created.\n", compared, screen.Count(v.Unrelated, "job, request or batch", "jobs, requests and batches"))
	if len(v.Released) > 0 {
		s.Printf("Released: %s.\n", queueNames(v.Released))
	}
}

func queueNames(queues []newqueue.QueueHold) string {
	var names []string
	for _, q := range queues {
		names = append(names, string(q))
	}
	return strings.Join(names, ", ")
}

// concludeVerdict sums up a verification in one line, with what to do next. before comes
// first.
func (a *app) concludeVerdict(v *migrate.Verdict, s pair, quarantine, before string) {
	if quarantine == "" {
		quarantine = defaultQuarantine(s.target)
	}
	if v.Records.Quarantined == 0 {
		quarantine = ""
	}
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, ActedOn: v.Count("acted-on"),
		Quarantined: v.Records.Quarantined > 0, Quarantine: quarantine}
	if v.Run != "" {
		at.Run = &v.Newest
	}
	tone, text := verdictText(v, s.target)
	a.Conclude(tone, "%s%s %s", before, text, a.advice.Next(migrate.VerdictStep(v), at))
}

// verdictText says in one line how a verification ended.
func verdictText(v *migrate.Verdict, target place) (screen.Tone, string) {
	var parts []string
	for _, g := range migrate.Groups {
		if n := v.CountGroup(g); n > 0 {
			parts = append(parts, screen.Count(n, groupWords[g][0], groupWords[g][1]))
		}
	}
	also := ""
	if n := len(v.Late); n > 0 {
		also = fmt.Sprintf(" %s late.", screen.Count(n, "record is", "records are"))
	}
	switch {
	case !v.OK() && v.Count("not-kept") == len(v.Differences):
		return screen.Bad, fmt.Sprintf("Verify: the target matches the source, but the quarantine file lacks the bytes of %s.%s", screen.Count(len(v.Differences), "record", "records"), also)
	case v.Run == "":
		return screen.Bad, fmt.Sprintf("Verify: no migration is recorded in %s. Check this address and its chroot, or migrate first.", advice.Word(target.Text))
	case !v.OK():
		return screen.Bad, fmt.Sprintf("Verify: the target does not match the source: %s.%s", strings.Join(parts, ", "), also)
	case len(v.Released) == 0:
		return screen.Good, "Verified: the target matches the source." + also
	}
	return screen.Good, fmt.Sprintf("Verified: every migrated record is accounted for, 0 damaged. Released: %s.%s", queueNames(v.Released), also)
}

// groupWords are the words for one difference of a group, and for many.
var groupWords = map[migrate.Group][2]string{
	migrate.Damage:       {"damaged", "damaged"},
	migrate.MovedRecords: {"record moved", "records moved"},
	migrate.UnfinishedIn: {"unfinished", "unfinished"},
	migrate.RestoredIn:   {"restored from a backup", "restored from a backup"},
	migrate.ActedOnIn:    {"acted on", "acted on"},
}
