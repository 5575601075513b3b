package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
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
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	a.conn.RateFlag(cmd.Flags())
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
		a.JSON(verified{outcome(v), v})
	} else {
		view.Verdict(a.Screen, v)
	}
	a.sayQuarantine(v, c.quarantine, s.target)
	a.concludeVerdict(v, s, c.quarantine, "")
	if !v.OK() {
		return exit.Check(fmt.Errorf("%w: %s", migrate.ErrNotVerified, screen.Count(len(v.Differences), "difference", "differences")))
	}
	return nil
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
		at.Run = &v.Current
	}
	tone, text := view.VerdictText(v, s.target.Text)
	verify := "Verify"
	if tone == screen.Good {
		verify = "Verified"
	}
	a.Conclude(tone, "%s%s: %s. %s", before, verify, text, a.advice.Next(migrate.VerdictStep(v), at))
}
