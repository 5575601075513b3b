package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/migration"
	"mrtq/internal/zkconn"
)

// ofQueue is the value of --scenarios that runs the scenarios of the new queue. Each
// other value names a feature file of the migration.
const ofQueue = "queue"

// migrationScenarios runs the scenarios of a feature file of the migration. They run
// this executable.
func (c *acceptCmd) migrationScenarios(ctx context.Context, a *app, server *harness.Server, session zkconn.Config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	flags, err := a.conn.sameServer()
	if err != nil {
		return err
	}
	opt := migration.Options{
		Address: server.Address(), Session: session, Command: self, Flags: flags,
		Features: []string{c.scenariosOf + ".feature"}, Tags: c.tags, Format: accept.Format(c.format), Out: a.Out,
		Color: c.out == "" && screen.Colourful(a.Out.Writer),
	}
	if opt.Format == accept.Brief && a.verbose {
		opt.Format = accept.Pretty
	}
	if server.Nodes() > 0 {
		opt.Restart = func(ctx context.Context) error {
			if err := server.Kill(); err != nil {
				return err
			}
			return server.Restart(ctx)
		}
	}
	var found *accept.Report
	if c.out == "" {
		found, err = migration.Run(ctx, opt)
	} else {
		err = files.Write(c.out, func(w io.Writer) (err error) {
			opt.Out = w
			found, err = migration.Run(ctx, opt)
			return err
		})
	}
	switch {
	case err != nil:
		return err
	case found.OK():
		a.Conclude(screen.Good, "Accept: %s of the %s passed.", screen.Count(found.Scenarios, "scenario", "scenarios"), c.scenariosOf)
		return nil
	}
	for _, p := range found.Problems {
		a.Say("%s", p)
	}
	a.Conclude(screen.Bad, "Accept: %s of %d failed; %s.",
		screen.Count(found.Failed, "scenario", "scenarios"), found.Scenarios, screen.Count(len(found.Problems), "problem", "problems"))
	return exit.Check(errNotAccepted)
}

// sameServer returns the flags with which another mrtq process, in another folder,
// connects to the same server in the same way.
func (c *connection) sameServer() ([]string, error) {
	var flags []string
	for _, f := range []struct{ flag, file string }{
		{"--tls-ca", c.tls.CA}, {"--tls-cert", c.tls.Cert}, {"--tls-key", c.tls.Key}, {"--auth-file", c.authFile},
	} {
		if f.file == "" {
			continue
		}
		path, err := filepath.Abs(f.file)
		if err != nil {
			return nil, err
		}
		flags = append(flags, f.flag, path)
	}
	if c.useTLS {
		flags = append(flags, "--tls")
	}
	if c.tls.ServerName != "" {
		flags = append(flags, "--tls-server-name", c.tls.ServerName)
	}
	return append(flags, "--timeout", c.timeout.String(), "--session-timeout", c.sessionTimeout.String()), nil
}
