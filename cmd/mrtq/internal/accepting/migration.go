package accepting

import (
	"context"
	"os"

	"mrtq/cmd/mrtq/internal/exit"
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
	opt.Out, opt.Color = c.Out, screen.Colourful(c.Out.Writer)
	found, err := migration.Run(ctx, opt)
	switch {
	case err != nil:
		return err
	case found.OK():
		c.Conclude(screen.Good, "Accept: %s of the %s passed.", screen.Count(found.Scenarios, "scenario", "scenarios"), c.scenariosOf)
		return nil
	}
	for _, p := range found.Problems {
		c.Say("%s", p)
	}
	c.Conclude(screen.Bad, "Accept: %s of %d failed; %s.",
		screen.Count(found.Failed, "scenario", "scenarios"), found.Scenarios, screen.Count(len(found.Problems), "problem", "problems"))
	return exit.Check(errNotAccepted)
}
