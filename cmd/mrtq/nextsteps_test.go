package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mrtq/migrate"
)

// An error of package migrate says what happened. The command adds which flag or
// command helps, and keeps the exit code.
func TestErrorsSayWhatToDo(t *testing.T) {
	damage := migrate.Problem{Kind: migrate.LedgerDamaged, Path: "/migration/ledger/run0000000000", Message: "it is gone", Next: "rebuild it", Rebuildable: true}
	for name, c := range map[string]struct {
		err  error
		want string // the end of the message
	}{
		"no queues":       {&migrate.NoQueuesError{Missing: []string{"/ingest"}}, "there is nothing; give the chroot in the address, or the nodes with --ingest, --inventory, --access-small, --access-large"},
		"unlisted":        {migrate.ErrUnlisted, "with --auth-file or $MRTQ_ZK_AUTH, or have its ACL changed; if this is a dump, make it again with them"},
		"quarantine file": {migrate.ErrQuarantineLine, "give another --quarantine file"},
		"dump":            {&migrate.DumpError{Line: 2, Offset: 26, Err: errors.New("this is not JSON")}, "dump line 2 (at byte 26): this is not JSON; correct this line, or make the dump again with mrtq dump"},
		"too large":       {migrate.ErrTooLarge, "give the same number with --packet"},
		"dropped":         {migrate.ErrDropped, "give its value with --packet, or raise it"},
		"damage":          {&migrate.DamageError{Damage: damage}, "; rebuild it: mrtq rebuild TARGET"},
		"others' damage":  {&migrate.DamageError{Damage: migrate.Problem{Next: "remove it"}}, "; remove it"},
		"another":         {errors.New("no file"), "no file"},
	} {
		t.Run(name, func(t *testing.T) {
			got := withNextStep(checkError(fmt.Errorf("migrate: %w", c.err)))
			if !strings.HasSuffix(got.Error(), c.want) || exitCode(got) != exitCheck {
				t.Errorf("exit code %d: %v", exitCode(got), got)
			}
		})
	}
	if withNextStep(nil) != nil {
		t.Error("no error became one")
	}
}

// If a flag or a command solves a problem, the plan names it.
func TestProblemsNameFlags(t *testing.T) {
	for _, c := range []struct {
		problem migrate.Problem
		want    string
	}{
		{migrate.Problem{Kind: migrate.NoSuchRecord, Next: "x"}, "give --again and --done the record's whole path, as mrtq plan shows it"},
		{migrate.Problem{Kind: migrate.OtherPolicies, Next: "x", Fits: "ms"}, "give --time ms"},
		{migrate.Problem{Kind: migrate.OtherPolicies, Next: "x", Fits: "run0000000001"}, "finish it with those, or roll it back first: mrtq rollback TARGET --run run0000000001"},
		{migrate.Problem{Kind: migrate.RunDamaged, Next: "rebuild it", Rebuildable: true}, "rebuild it: mrtq rebuild TARGET"},
		{migrate.Problem{Kind: migrate.BadBatchID, Next: "the plan's own words"}, "the plan's own words"},
	} {
		if got := nextStep(c.problem); got != c.want {
			t.Errorf("%s: %q, want %q", c.problem.Kind, got, c.want)
		}
	}
}

// What a run's record says is never a flag of the next command, and never part of a shell's line.
func TestNextOfAForgedSource(t *testing.T) {
	for source, want := range map[string]string{
		"":               "mrtq verify SOURCE zk1:2181/new",
		"--force":        "mrtq verify SOURCE zk1:2181/new",
		"zk2:2181":       "mrtq verify zk2:2181 zk1:2181/new",
		"zk2;$(id)`'x\n": `mrtq verify 'zk2;$(id)` + "`" + `'\''x` + "\n" + `' zk1:2181/new`,
	} {
		if got := (&app{}).command("verify", []string{source, "zk1:2181/new"}); got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
	}
}

// The next step ends with its command, so that a full stop is not pasted with it.
func TestNextEndsWithItsCommand(t *testing.T) {
	run := migrate.RunStatus{Run: "run0000000003", Source: "zk1:2181", Dialect: "design", Policies: migrate.Policies{Undecodable: migrate.Quarantine, Consumed: "failed"}}
	target := endpoint{text: "zk1:2181/new"}
	for _, c := range []struct {
		status migrate.Status
		want   string
	}{
		{migrate.Status{Step: migrate.StepRebuild}, "Next: mrtq rebuild zk1:2181/new"},
		{migrate.Status{Step: migrate.StepFinishRollback}, "Next, to finish it: mrtq rollback zk1:2181/new --run run0000000003"},
		{migrate.Status{Step: migrate.StepRelease}, "Next, to verify and release: mrtq release zk1:2181/new zk1:2181 --quarantine FILE"},
		{migrate.Status{Step: migrate.StepReleaseOthers, Holds: []migrate.HoldStatus{{Path: "/locks/queue/ingest", By: "alice", CoversRun: true}}},
			"Next, when others no longer need their holds, to verify and release: mrtq release zk1:2181/new zk1:2181 --quarantine FILE"},
		{migrate.Status{Step: migrate.StepPlanAgain}, "Next: mrtq plan zk1:2181 zk1:2181/new --dialect design --consumed failed --undecodable quarantine"},
	} {
		c.status.Runs = []migrate.RunStatus{run}
		if got := (&app{}).nextOf(&c.status, target); got != c.want {
			t.Errorf("%s: %q, want %q", c.status.Step, got, c.want)
		}
	}
	s := sides{source: endpoint{text: "zk1:2181"}, target: target}
	for kind, want := range map[migrate.DifferenceKind]string{
		migrate.Damaged:       "Next, for the migration's own records: mrtq rebuild zk1:2181/new",
		migrate.RecordChanged: "Next, for the records that came or changed since: mrtq plan zk1:2181 zk1:2181/new --consumed failed --undecodable quarantine",
		migrate.Undecided:     "Next, to decide what becomes of these records: mrtq plan zk1:2181 zk1:2181/new --consumed failed --undecodable quarantine",
	} {
		v := &migrate.Verdict{Run: run.Run, State: migrate.RunDone, Policies: run.Policies, Nodes: 1, Differences: []migrate.Difference{{Kind: kind}}}
		if got := (&app{}).nextAfterVerify(v, s, ""); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// The next step after a plan that is not ready also ends with its command. The command has
// the choices that the plan needs, and no flag twice.
func TestNotReadyEndsWithItsCommand(t *testing.T) {
	s := sides{source: endpoint{text: "zk1:2181"}, target: endpoint{text: "zk1:2181/new"}}
	for _, c := range []struct {
		problems []migrate.Problem
		settings []flagWords
		want     string
	}{
		{[]migrate.Problem{{Kind: migrate.Consumed}}, nil, "Next, once you have decided: mrtq plan zk1:2181 zk1:2181/new --consumed 'pending|failed'"},
		{[]migrate.Problem{{Kind: migrate.Undecodable}, {Kind: migrate.Consumed}, {Kind: migrate.Undecodable}}, []flagWords{newFlag("dialect", "design"), newFlag("consumed", "block")},
			"Next, once you have decided: mrtq plan zk1:2181 zk1:2181/new --dialect design --consumed 'pending|failed' --undecodable quarantine"},
		{[]migrate.Problem{{Kind: migrate.InventoryWaiting}, {Kind: migrate.Unserviceable}}, nil,
			"Next, once you have decided: mrtq plan zk1:2181 zk1:2181/new --inventory-records migrate --unserviceable migrate"},
		{[]migrate.Problem{{Kind: migrate.Unreadable}}, nil, "Next, once that is mended: mrtq plan zk1:2181 zk1:2181/new"},
		{[]migrate.Problem{{Kind: migrate.OtherDialect, Fits: "mrt-zk"}, {Kind: migrate.OtherPolicies, Fits: "ms"}}, []flagWords{newFlag("dialect", "design")},
			"Next, once that is mended: mrtq plan zk1:2181 zk1:2181/new --dialect mrt-zk --time ms"},
		{[]migrate.Problem{{Kind: migrate.RollbackUnfinished, Fits: "run0000000003"}, {Kind: migrate.Consumed}}, nil,
			"Next, to finish it: mrtq rollback zk1:2181/new --run run0000000003"},
		{[]migrate.Problem{{Kind: migrate.RunDamaged, Rebuildable: true}}, nil, "Next, for the migration's own records: mrtq rebuild zk1:2181/new"},
		{[]migrate.Problem{{Kind: migrate.Consumed}, {Kind: migrate.MigratedElsewhere, Fits: "zk1:2181/old"}}, nil, "Next, to look at that queue: mrtq status zk1:2181/old"},
	} {
		if got := (&app{}).unblock(&migrate.Plan{Problems: c.problems}, s, c.settings...); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// All commands that mrtq shows have the same order: what the command is about, the
// dialect, the policies, and the other flags by name.
func TestFlagsHaveOneOrder(t *testing.T) {
	flags := []flagWords{newFlag("auth-file", "auth"), newFlag("time", "ms"), newFlag("undecodable", "quarantine"), newSwitch("others"), newFlag("only", "ingest"),
		newFlag("only", "accessSmall"), newFlag("consumed", "failed"), newFlag("dialect", "design"), newFlag("plan", "plan.json")}
	want := "mrtq migrate zk1:2181 --plan plan.json --dialect design --consumed failed --undecodable quarantine --auth-file auth --only ingest --only accessSmall --others --time ms"
	if got := commandLine("migrate", []string{"zk1:2181"}, flags); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if flags[0].name != "auth-file" {
		t.Error("the caller's flags were sorted, too")
	}
}

// If a list is longer than mrtq accepts by default, the text names the flag to raise.
func TestLongListNamesTheFlag(t *testing.T) {
	if got := listMeans(migrate.ListSize{Bytes: 65 << 20, Message: "too long"}); got != "too long: give mrtq --max-response 136314880" {
		t.Error(got)
	}
	if got := listMeans(migrate.ListSize{Bytes: 5 << 20, Message: "too long"}); got != "too long" {
		t.Error(got)
	}
}
