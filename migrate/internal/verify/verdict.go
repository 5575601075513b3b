// Package verify compares a target with its source. It recomputes from the source what
// should exist, and never reads a plan. It takes from the target only the operator's
// choices and which record became which job, as the runs' records and the ledger say.
//
// What is compared depends on the state of the job's run (docs/life.md, "States"): the jobs
// of a done run exactly, those of a released queue only for what the layout allows.
//
//	verify.go    the parts of a verification, in order
//	records.go   what became of each legacy record
//	exact.go     a job against what its record should have become
//	account.go   a job against what the layout allows
//	batches.go   the batches
//	entries.go   entries that are in the wrong place, and names that no reader knows
package verify

import ()
