package migrate_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mrtq/harness/minizk"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// This example migrates a dump of a legacy queue to a server, verifies the new queue, and
// rolls the run back.
func Example() {
	ctx := context.Background()
	server, err := minizk.Start(minizk.Options{}) // or a ZooKeeper of your own
	check(err)
	defer server.Close()
	target, err := migrate.OpenWritableSide(ctx, server.Addr(), migrate.SideOptions{})
	check(err)
	defer target.Close()
	dump, err := migrate.OpenSide(ctx, "file:testdata/legacy.ndjson", migrate.SideOptions{})
	check(err)
	defer dump.Close()
	source, err := migrate.OpenSource(ctx, dump.Reader, migration.DefaultQueues(), legacy.Options{})
	check(err)

	// What only you can decide.
	choices := migration.DefaultChoices()
	choices.Consumed = "failed"
	choices.Undecodable = "quarantine"
	opt := migration.PlanOptions{Dialect: newqueue.Design, Choices: choices}
	opt.NewQueue = true

	// The plan changes nothing.
	plan, err := migrate.MakePlan(ctx, source, &target.Reader, opt)
	check(err)
	for _, p := range plan.Problems {
		fmt.Println("problem:", p)
	}
	fmt.Println(plan.Count(migration.ActionCreate), "to create,", plan.Count(migration.ActionQuarantine), "to quarantine")

	// The bytes of what can't be decoded go to a file, before anything is written.
	folder, err := os.MkdirTemp("", "quarantine")
	check(err)
	defer os.RemoveAll(folder)
	keep := func(bad []migration.Record) error {
		for i, r := range bad {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), r.Data, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	result, err := migrate.Migrate(ctx, source, target.Writer, migrate.MigrateOptions{PlanOptions: opt, Approved: plan, SaveQuarantined: keep})
	check(err)
	fmt.Println(result.Run, "created", result.Created.Jobs, "jobs and", result.Created.Access, "access requests")

	verdict, err := migrate.Verify(ctx, source, &target.Reader, migrate.VerifyOptions{})
	check(err)
	fmt.Println("verified:", verdict.OK())

	undone, err := migrate.Rollback(ctx, target.Writer, migrate.RollbackOptions{})
	check(err)
	fmt.Println(undone.Removes.Jobs, "jobs removed,", len(undone.Keeps), "kept")
	// Output:
	// 11 to create, 9 to quarantine
	// run0000000000 created 9 jobs and 2 access requests
	// verified: true
	// 9 jobs removed, 0 kept
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
