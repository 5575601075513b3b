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
		want string // how it ends
	}{
		"no queues":       {&migrate.NoQueuesError{Missing: []string{"/ingest"}}, "there is nothing; give the chroot in the address, or the nodes with --ingest, --inventory, --access-small, --access-large"},
		"unlisted":        {migrate.ErrUnlisted, "with --auth-file or $MRTQ_ZK_AUTH, or have its ACL changed; if this is a dump, make it again with them"},
		"quarantine file": {migrate.ErrQuarantineLine, "give another --quarantine file"},
		"too large":       {migrate.ErrTooLarge, "give the same number with --packet"},
		"dropped":         {migrate.ErrDropped, "say so with --packet, or raise it"},
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

// Of each kind of problem that mends with a flag or a command, the plan names it.
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

// A list that mrtq itself does not take by default comes with the flag for it.
func TestLongListNamesTheFlag(t *testing.T) {
	if got := listMeans(migrate.ListSize{Bytes: 65 << 20, Message: "too long"}); got != "too long: give mrtq --max-response 136314880" {
		t.Error(got)
	}
	if got := listMeans(migrate.ListSize{Bytes: 5 << 20, Message: "too long"}); got != "too long" {
		t.Error(got)
	}
}
