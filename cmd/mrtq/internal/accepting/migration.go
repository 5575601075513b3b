package accepting

import (
	"context"
	"os"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness"
	"mrtq/harness/accept/migration"
	"mrtq/internal/zkconn"
)

// ofQueue is the value of --scenarios that runs the scenarios of the new queue. Each
// other value names a feature file of the migration.
const ofQueue = "queue"

// migrationScenarios runs the scenarios of a feature file of the migration. They run
// this executable.
func (c *acceptCmd) migrationScenarios(ctx context.Context, server *harness.Server, session zkconn.Config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	flags, err := c.Conn.SameServer()
	if err != nil {
		return err
	}
	opt := migration.Options{
		Address: server.Address(), Session: session, Command: self, Flags: flags,
		Features: []string{c.scenariosOf + ".feature"}, Tags: c.tags, Format: c.form(),
	}
	if server.Nodes() > 0 {
		opt.Restart = func(ctx context.Context) error {
			if err := server.Kill(); err != nil {
				return err
			}
			return server.Restart(ctx)
		}
	}
	if c.out != "" {
		opt.JUnit = &c.junit
	}
	opt.Out, opt.Color = c.Out, screen.Colourful(c.Out.Writer)
	found, err := migration.Run(ctx, opt)
	if err != nil {
		return err
	}
	return c.conclude(found, "of the "+c.scenariosOf, "")
}
