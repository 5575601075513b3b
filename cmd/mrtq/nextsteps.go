package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"mrtq/migrate"
)

// Package migrate does not know mrtq's flags and commands. This file says with which flag
// or command to solve its problems and errors.

// permit is what to do about a znode that mrtq has no permission to read.
const permit = "give credentials that may read it, with --auth-file or $" + authVariable + ", or have its ACL changed; if this is a dump, make it again with them"

// nextSteps say what to do about a plan's problem. FITS stands for the value that would
// be right. If a kind is missing here, the plan's own words are used.
var nextSteps = map[migrate.ProblemKind]string{
	migrate.Undecodable:        "repair it, or choose --undecodable quarantine, which keeps its bytes in a file",
	migrate.Unreadable:         permit,
	migrate.Consumed:           "let the legacy workers finish, or choose --consumed pending or --consumed failed (see the risks of each)",
	migrate.NoDialect:          "choose --dialect mrt-zk or --dialect design: the one that your services read",
	migrate.OtherDialect:       "give --dialect FITS",
	migrate.OtherPolicies:      "finish it with those, or roll it back first: mrtq rollback TARGET --run FITS",
	migrate.RollbackUnfinished: "finish that first: mrtq rollback TARGET --run FITS",
	migrate.TooLarge:           "raise jute.maxbuffer on the servers and give the same number with --packet",
	migrate.CounterBehind:      "the tree was restored without its counters: restore it with mrtq restore from a dump that has Stats",
	migrate.CustodyLost:        "find out whether it was done; then give --done with its path, or --again to create its job",
	migrate.NotGone:            "leave --done out, or remove the record from the legacy queue if it is done",
	migrate.NoSuchRecord:       "give --again and --done the record's whole path, as mrtq plan shows it",
	migrate.InventoryWaiting:   "drain the inventory queue first: let the legacy inventory service finish it; or choose --inventory-records migrate and fail or delete the jobs by hand",
	migrate.Unserviceable:      "repair or remove these records in the legacy queue, or choose --unserviceable migrate and repair the jobs by hand",
}

// nextStep is what to do about a problem.
func nextStep(p migrate.Problem) string {
	if p.Rebuildable {
		return p.Next + rebuildCommand
	}
	next := nextSteps[p.Kind]
	if p.Kind == migrate.OtherPolicies && !migrate.IsRun(p.Fits) {
		next = "give --time FITS"
	}
	return cmp.Or(strings.ReplaceAll(next, "FITS", p.Fits), p.Next)
}

// rebuildCommand is added to the advice to rebuild the migration's own records.
const rebuildCommand = ": mrtq rebuild TARGET"

// errorSteps say what to do about an error.
var errorSteps = []struct {
	is   error
	next string
}{
	{migrate.ErrNoQueues, "give the chroot in the address, or the nodes with --ingest, --inventory, --access-small, --access-large"},
	{migrate.ErrUnlisted, permit},
	{migrate.ErrQuarantineLine, "repair it, or give another --quarantine file"},
	{migrate.ErrTooLarge, "raise jute.maxbuffer on the servers and give the same number with --packet"},
	{migrate.ErrDropped, "if the servers' jute.maxbuffer is less than its default, give its value with --packet, or raise it"},
}

// withNextStep adds to an error what to do about it.
func withNextStep(err error) error {
	var damage *migrate.DamageError
	if errors.As(err, &damage) && damage.Damage.Rebuildable {
		return fmt.Errorf("%w%s", err, rebuildCommand)
	}
	var line *migrate.DumpError
	if errors.As(err, &line) {
		return fmt.Errorf("%w; correct this line, or make the dump again with mrtq dump", err)
	}
	for _, s := range errorSteps {
		if errors.Is(err, s.is) {
			return fmt.Errorf("%w; %s", err, s.next)
		}
	}
	return err
}

// listMeans says what a long list of children means.
func listMeans(l migrate.ListSize) string {
	if l.OverOwnLimit() {
		return fmt.Sprintf("%s: give mrtq --max-response %d", l.Message, 2*l.Bytes) // it grows
	}
	return l.Message
}
