package acceptcmd

import (
	"context"
	"os"

	"mrtq/harness"
	"mrtq/harness/accept/migration"
	"mrtq/internal/zkconn"
)

// ofQueue is the value of --scenarios that runs the scenarios of the new queue. Each
// other value names a feature file of the migration.
const ofQueue = "queue"

func (c *acceptCmd) migrationScenarios(ctx context.Context, server *harness.Server, session zkconn.Config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	flags, err := c.Conn.SameServer()
	if err != nil {
		return err
	}
	found, err := migration.Run(ctx, migration.Options{
		Server: server, Options: c.options(session), Command: self, Flags: flags, Files: []string{c.scenariosOf + ".feature"},
	})
	if err != nil {
		return err
	}
	return c.conclude(found, "of the "+c.scenariosOf, "")
}
