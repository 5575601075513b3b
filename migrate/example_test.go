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
	"mrtq/newqueue"
)

// This example plans, migrates and verifies a dump of a legacy queue, with a new queue on a
// server. Then it rolls the run back.
func Example() {
	ctx := context.Background()
	server, err := minizk.Start(minizk.Options{}) // or a ZooKeeper of your own
	check(err)
	defer server.Close()
	address, err := migrate.ParseAddress(server.Addr())
	check(err)
	session, err := migrate.OpenSession(ctx, migrate.Config{Address: address})
	check(err)
	defer session.Close()

	// The source: a dump, record by record.
	dump, err := migrate.OpenDump(ctx, "testdata/legacy.ndjson")
	check(err)
	defer dump.Close()
	source := func(ctx context.Context) (*migrate.LegacyQueue, func(), error) {
		queue, err := migrate.OpenLegacyQueue(ctx, dump, migrate.DefaultQueues(), legacy.Options{})
		return queue, func() {}, err
	}

	// What only you can decide.
	policies := migrate.DefaultPolicies()
	policies.Consumed = migrate.AsFailed
	policies.Undecodable = migrate.Quarantine
	opt := migrate.Options{Dialect: newqueue.Design, Policies: policies, Source: "legacy.ndjson", Target: server.Addr()}

	// The plan changes nothing.
	queue, done, err := source(ctx)
	check(err)
	defer done()
	plan, err := migrate.MakePlan(ctx, queue, migrate.SideOfServer(&session.Reader, nil), opt)
	check(err)
	for _, p := range plan.Problems {
		fmt.Println("problem:", p)
	}
	fmt.Println(plan.Count(migrate.ActCreate), "to create,", plan.Count(migrate.ActQuarantine), "to quarantine")

	// The bytes of what can't be decoded go to a file, before anything is written.
	kept, err := os.MkdirTemp("", "quarantine")
	check(err)
	defer os.RemoveAll(kept)
	m := migrate.Migrator{
		Target: migrate.NewTarget(session),
		Plan:   plan,
		Keep: func(bad []migrate.Record) error {
			for i, r := range bad {
				if err := os.WriteFile(filepath.Join(kept, fmt.Sprint(i)), r.Data, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
	}
	result, err := m.Migrate(ctx, source, opt, plan.Expectation())
	check(err)
	fmt.Println(result.Run, "made", result.Done.Jobs, "jobs and", result.Done.Access, "access requests")

	verdict, err := migrate.Verify(ctx, queue, migrate.SideOfServer(&session.Reader, nil), migrate.VerifyOptions{})
	check(err)
	fmt.Println("verified:", verdict.OK())

	undone, err := m.Rollback(ctx, result.Run, false)
	check(err)
	fmt.Println(undone.Done.Jobs, "jobs removed,", len(undone.Kept), "kept")
	// Output:
	// 11 to create, 9 to quarantine
	// run0000000000 made 9 jobs and 2 access requests
	// verified: true
	// 9 jobs removed, 0 kept
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
