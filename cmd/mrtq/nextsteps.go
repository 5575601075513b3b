package main

import (
	"strings"

	"mrtq/migrate"
)

// nextSteps say what to do about a plan's problem, with the names of mrtq's flags
// and commands. FITS stands for what would be right. A kind that is not here has
// nothing to do with them, and the plan's own words are good.
var nextSteps = map[migrate.ProblemKind]string{
	migrate.Undecodable:        "repair it, or choose --undecodable quarantine, which keeps its bytes in a file",
	migrate.Consumed:           "let the legacy workers finish, or choose --consumed pending or --consumed failed (see the risks of each)",
	migrate.OtherDialect:       "give --dialect FITS",
	migrate.OtherPolicies:      "finish it with those, or take it back first: mrtq rollback TARGET --run FITS",
	migrate.RollbackUnfinished: "finish that first: mrtq rollback TARGET --run FITS",
	migrate.TooLarge:           "raise jute.maxbuffer on the servers and give the same number with --packet",
	migrate.InventoryWaiting:   "drain the inventory queue first: let the legacy inventory service finish it; or choose --inventory-records migrate and fail or delete the jobs by hand",
	migrate.Unserviceable:      "repair or remove these records in the legacy queue, or choose --unserviceable migrate and see to the jobs by hand",
}

// nextStep is what to do about a problem.
func nextStep(p migrate.Problem) string {
	next := nextSteps[p.Kind]
	if p.Kind == migrate.OtherPolicies && !migrate.IsRun(p.Fits) {
		next = "give --time FITS"
	}
	return strings.ReplaceAll(next, "FITS", p.Fits)
}
