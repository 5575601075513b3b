package settings

import (
	"slices"

	"mrtq/cmd/mrtq/internal/exit"
)

// FlagOnly are the settings that can lose a job, run it twice, hide that one was lost, or
// choose what a command changes. A file that happens to be in the working folder, or a
// variable that was set for an earlier command, must not decide that. So mrtq accepts
// them only on the command line.
var FlagOnly = []string{
	"again",             // creates jobs again that were migrated before
	"below",             // restores a part of a dump
	"collection",        // what is held and released
	"completed",         // skip: never created
	"consumed",          // could run twice, or never
	"failed",            // could run twice, or be stored empty
	"decisions",         // could run twice, or never
	"deleted",           // migrate: created again
	"force",             // removes what others changed
	"hold-again",        // stops queues whose workers are running
	"inventory-records", // migrate: jobs that no service can finish
	"ledger-damaged",    // releases although the migration's own records are damaged
	"max-priority",      // the services may lose a job
	"new-queue",         // creates a queue where none is
	"only",              // what is held and released
	"others",            // lifts the holds of others
	"record-is",         // could run twice, or never
	"restored",          // jobs that were finished after the backup run again
	"run",               // what is rolled back
	"undecodable",       // quarantine: not created
	"unreadable",        // accept: missing in a dump
	"unserviceable",     // migrate: jobs that a service can't work on
	"vanished",          // could run twice, or never
	"workers-stopped",   // releases although legacy workers may be at work
	"yes",               // answers the question whether to go on
}

// refuseFlagOnly refuses a setting that must be a flag. where is the place in which it
// was found.
func refuseFlagOnly(flag, where string) error {
	if !slices.Contains(FlagOnly, flag) {
		return nil
	}
	return exit.Usagef("%s: --%s is accepted on the command line only, because it can lose a job or run it twice; remove it there, and give the flag if you want it", where, flag)
}
