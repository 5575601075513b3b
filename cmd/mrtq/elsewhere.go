package main

import (
	"context"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// A mistyped TARGET is a place without a queue, so migrate would make a second queue of
// the same records there, and every job would run twice.

// addElsewhere adds a problem to a plan that would make a second new queue of the same
// source. A target that has runs already is no mistake of today, unless the newest was
// rolled back.
func (a *app) addElsewhere(ctx context.Context, s sides, target side.Side, plan *migrate.Plan) error {
	on := side.Server(target)
	if on == nil || plan.Empty() || plan.NewestRun() != "" && !plan.AfterRollback() {
		return nil
	}
	found, err := migrate.FindOtherQueues(ctx, on, s.source.addr.Chroot, func(source string) bool { return s.source.isNamed(ctx, source) })
	for _, other := range found {
		at := zkconn.Address{Servers: s.target.addr.Servers, Chroot: other.Chroot}.String()
		twice := "and a second new queue would run their jobs twice"
		if other.Run.State == migrate.RunRolledBack {
			twice = "its rollback kept some of their jobs, and a second new queue would run them twice"
		}
		plan.Problems = append(plan.Problems, migrate.Problem{
			Kind: migrate.MigratedElsewhere, Path: at, Fits: at,
			Message: fmt.Sprintf("%s migrated the records of %s to there, %s", other.Run.ID, other.Run.Source, twice),
			Next: fmt.Sprintf("check the address TARGET. To put the queue there instead, roll the other one back first: %s. For a second queue all the same, add --second-queue",
				a.command("rollback", []string{at}, newFlag("run", other.Run.ID))),
		})
	}
	return err
}

// elsewhere is the address of the other queue, "" if there is none.
func elsewhere(plan *migrate.Plan) string {
	i := slices.IndexFunc(plan.Problems, func(p migrate.Problem) bool { return p.Kind == migrate.MigratedElsewhere })
	if i < 0 {
		return ""
	}
	return plan.Problems[i].Fits
}

// withoutElsewhere is the plan as it is saved. The file is about the two sides only, and
// migrate looks for another queue again.
func withoutElsewhere(plan *migrate.Plan) *migrate.Plan {
	saved := *plan
	saved.Problems = slices.DeleteFunc(slices.Clone(plan.Problems), func(p migrate.Problem) bool { return p.Kind == migrate.MigratedElsewhere })
	return &saved
}
