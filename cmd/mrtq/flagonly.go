package main

import "slices"

// flagOnly are the settings that can lose a job or have it run twice, hide that
// one was, or choose what is taken back. A file that happens to be in the
// working folder, or a variable that an earlier command was given, must not
// decide that: they come from the command line alone.
var flagOnly = []string{
	"again",             // makes jobs anew that were migrated before
	"collection",        // what is held and released
	"completed",         // skip: never made
	"consumed",          // could run twice, or never
	"deleted",           // migrate: comes back
	"done",              // enters a record as done: never made
	"fix",               // writes to the tree
	"force",             // removes what others changed
	"hold-again",        // stops queues that are at work
	"inventory-records", // migrate: jobs that no service can end
	"only",              // what is held and released
	"others",            // verify: allows what nobody accounts for
	"run",               // what a rollback takes back
	"undecodable",       // quarantine: not made
	"unfinished",        // workers meet half of a queue
	"unreadable",        // accept: missing from a dump
	"unserviceable",     // migrate: jobs that a service fails or sticks at
	"yes",               // with --fix: commits
}

// fromElsewhere refuses a setting from the place where if it may come only from
// a flag.
func fromElsewhere(flag, where string) error {
	if !slices.Contains(flagOnly, flag) {
		return nil
	}
	return usageError("%s: --%s is taken from the command line only, because it can lose a job or have it run twice; remove it there, and give the flag if you want it", where, flag)
}
