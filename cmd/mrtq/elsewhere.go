package main

import (
	"context"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// If TARGET is mistyped, there is no queue at it. Without the check in this file, migrate
// would create a second queue there, and every job would run twice.

// addElsewhere adds a problem to a plan that would create a second new queue of the same
// source. If the target has runs, it looks for no other queue, unless the newest run was
// rolled back.
func (a *app) addElsewhere(ctx context.Context, s sides, target side.Side, plan *migrate.Plan) error {
	on := side.Server(target)
	if on == nil || plan.Empty() || plan.NewestRun() != "" && !plan.AfterRollback() {
		return nil
	}
	found, err := migrate.FindOtherQueues(ctx, on, s.source.addr.Chroot, s.source.isNamed)
	for _, other := range found {
		at := zkconn.Address{Servers: s.target.addr.Servers, Chroot: other.Chroot}.String()
		twice := "and a second new queue would run their jobs twice"
		if other.Run.State == migrate.RunRolledBack {
			twice = "its rollback kept some of their jobs, and a second new queue would run them twice"
		}
		plan.Problems = append(plan.Problems, migrate.Problem{
			Kind: migrate.MigratedElsewhere, Path: at, Fits: at,
			Message: fmt.Sprintf("%s migrated the records of %s to this queue, %s", other.Run.ID, other.Run.Source, twice),
			Next: fmt.Sprintf("check the address TARGET. To create the new queue at TARGET instead, roll the other one back first: %s. If you want a second queue, add --second-queue",
				a.command("rollback", []string{at}, newFlag("run", other.Run.ID))),
		})
	}
	return err
}

// isNamed reports whether a run's record names this source. Servers of one ensemble can
// be given in several ways.
func (e endpoint) isNamed(source string) bool {
	if e.text == source {
		return true
	}
	o, err := parseEndpoint("SOURCE", source)
	if err != nil || e.file != "" || e.data != nil || o.file != "" || o.data != nil || e.addr.Chroot != o.addr.Chroot {
		return false
	}
	return slices.ContainsFunc(e.addr.Servers, func(server string) bool { return slices.Contains(o.addr.Servers, server) })
}

// elsewhere is the address of the other queue. It is "" if there is none.
func elsewhere(plan *migrate.Plan) string {
	i := slices.IndexFunc(plan.Problems, func(p migrate.Problem) bool { return p.Kind == migrate.MigratedElsewhere })
	if i < 0 {
		return ""
	}
	return plan.Problems[i].Fits
}

// withoutElsewhere is the plan to save. A saved plan is only about its two sides, and
// migrate looks for another queue itself.
func withoutElsewhere(plan *migrate.Plan) *migrate.Plan {
	saved := *plan
	saved.Problems = slices.DeleteFunc(slices.Clone(plan.Problems), func(p migrate.Problem) bool { return p.Kind == migrate.MigratedElsewhere })
	return &saved
}
