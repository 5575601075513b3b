package acceptcmd

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/goqueue"
	"mrtq/harness/accept/library"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
)

func (c *acceptCmd) drivers(ctx context.Context, server *harness.Server, session zkconn.Config) (all map[library.Role]library.Library, stop func(), err error) {
	started := map[string]*library.Driver{}
	stop = func() {
		for _, d := range started {
			d.Stop()
		}
	}
	for _, given := range c.implementations {
		if all == nil {
			all = map[library.Role]library.Library{}
		}
		roles, command := rolesOf(given)
		if role, _, ok := strings.Cut(command, "="); ok && maybeRole.MatchString(role) {
			return nil, stop, exit.Usagef("--implementation: %q is not a kind of actor: expected one of %s, or a command", role, strings.Join(help.Texts(library.Roles), ", "))
		}
		if session.TLS != nil {
			return nil, stop, exit.Usagef("--implementation: a driver can't connect over TLS; give the address of the plain port, without --tls")
		}
		d := started[command]
		if d == nil {
			opt := library.Options{Command: command, Log: c.Log()}
			if opt.Servers, opt.Auth, err = reached(server, session); err != nil {
				return nil, stop, err
			}
			if d, err = library.Start(ctx, opt); err != nil {
				return nil, stop, exit.Usagef("--implementation: %w", err)
			}
			started[command] = d
			c.Say("testing %v: %s", d.Capabilities(), strings.Join(help.Texts(roles), ", "))
		}
		for _, dialect := range c.inDialects() {
			if !d.Capabilities().Supports(dialect) {
				return nil, stop, exit.Usagef("--implementation %q knows only dialect %[2]s: give --dialect %[2]s", command, strings.Join(help.Texts(d.Capabilities().Dialects), ", "))
			}
		}
		for _, role := range roles {
			all[role] = d
		}
	}
	return all, stop, nil
}

// maybeRole is what a mistyped role looks like. A variable for the command is in capitals.
var maybeRole = regexp.MustCompile(`^[A-Za-z]*[a-z][A-Za-z]*$`)

func rolesOf(given string) ([]library.Role, string) {
	if role, command, ok := strings.Cut(given, "="); ok && slices.Contains(library.Roles, library.Role(role)) {
		return []library.Role{library.Role(role)}, command
	}
	return library.Roles, given
}

func reached(server *harness.Server, session zkconn.Config) (servers string, auth []string, err error) {
	address, err := zkconn.ParseAddress(server.Address())
	for _, a := range session.Auth {
		user, password := a.UserPassword()
		auth = append(auth, fmt.Sprintf("%s:%s:%s", a.Scheme, user, password))
	}
	return strings.Join(address.Servers, ","), auth, err
}

func (c *acceptCmd) known() ([]accept.KnownFailure, error) {
	if c.knownFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.knownFile)
	if err != nil {
		return nil, files.Unread("--known "+c.knownFile, err)
	}
	defer f.Close()
	known, err := accept.ParseKnownFailures(f)
	if err != nil {
		return nil, exit.Usagef("--known %s: %w", c.knownFile, err)
	}
	return known, nil
}

// Driver is the hidden command mrtq driver: newqueue/client as a driver, as docs/drivers.md describes one.
func Driver(env Env) *cobra.Command {
	return &cobra.Command{
		Use:    "driver",
		Hidden: true,
		Short:  "answer what mrtq accept --implementation asks, with mrtq's own library",
		Long: `Answer the requests of mrtq accept --implementation on stdin, with mrtq's own library.
Authors of drivers can compare (docs/drivers.md).`,
		Example: "  mrtq driver",
		Args:    env.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return library.Serve(cmd.Context(), os.Stdin, env.Out, openOwn)
		},
	}
}

func openOwn(_ context.Context, servers string, auth []string) (library.Library, error) {
	address, err := zkconn.ParseAddress(servers)
	if err != nil {
		return nil, err
	}
	cfg := zkconn.Config{Address: address}
	if cfg.Auth, err = zkconn.ParseAuth(strings.Join(auth, "\n")); err != nil {
		return nil, err
	}
	return goqueue.New(goqueue.Options{Session: cfg}), nil
}

func (c *acceptCmd) inDialects() []newqueue.Dialect {
	if c.dialect == bothDialects {
		return newqueue.Dialects
	}
	return []newqueue.Dialect{newqueue.Dialect(c.dialect)}
}
