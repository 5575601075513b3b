package main

import "slices"

// flagOnly are the settings that can lose a job, run it twice, hide that one was lost, or
// choose what a command changes. A file that happens to be in the working folder, or a
// variable that was set for an earlier command, must not decide that. So mrtq accepts
// them only on the command line.
var flagOnly = []string{
	"again",             // creates jobs again that were migrated before
	"collection",        // what is held and released
	"completed",         // skip: never created
	"consumed",          // could run twice, or never
	"deleted",           // migrate: created again
	"done",              // records a job as done: never created
	"force",             // removes what others changed
	"hold-again",        // stops queues that are at work
	"inventory-records", // migrate: jobs that no service can finish
	"only",              // what is held and released
	"others",            // verify: allows znodes that no record explains
	"run",               // what is rolled back
	"second-queue",      // every job runs twice
	"undecodable",       // quarantine: not created
	"unfinished",        // workers see only half of the queue
	"unreadable",        // accept: missing in a dump
	"unserviceable",     // migrate: jobs that a service can't work on
}

// refuseFlagOnly refuses a setting that must be a flag. where is the place in which it
// was found.
func refuseFlagOnly(flag, where string) error {
	if !slices.Contains(flagOnly, flag) {
		return nil
	}
	return usageError("%s: --%s is accepted on the command line only, because it can lose a job or run it twice; remove it there, and give the flag if you want it", where, flag)
}
