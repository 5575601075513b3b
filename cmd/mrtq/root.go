package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"mrtq/internal/zkconn"
)

// The exit codes (docs/commands.md, "Output").
const (
	exitDone  = 0
	exitCheck = 1 // the check failed: verify found differences, a plan can't be carried out
	exitUsage = 2 // wrong usage; no such file
	exitEnv   = 3 // the environment failed: no server, no permission

	exitInterrupted = 130 // by Ctrl-C or SIGTERM; a shell has the same for SIGINT
)

// coded is an error with its exit code.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

func usageError(format string, a ...any) error {
	return &coded{exitUsage, fmt.Errorf(format, a...)}
}

func checkError(err error) error { return &coded{exitCheck, err} }

// failed adds to err what was being done and where, unless err already names the
// place or is about the command line.
func failed(doing, where string, err error) error {
	var c *coded
	var conn *zkconn.ConnectError
	switch {
	case errors.As(err, &c) && c.code == exitUsage:
		return err
	case errors.As(err, &conn):
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s %s: %w", doing, where, err)
}

// app is what commands share: where they print, and the flags that all of them have.
type app struct {
	stdout  *output
	stderr  io.Writer
	verbose bool
	wide    bool // tables as wide as their content
	config  string
	// settingsFile is the settings file that was read, "" if there is none.
	settingsFile string
	// asOf is what readData said last.
	asOf string
	// verdict is the last line; see [app.conclude].
	verdict verdict
	running *meter // see [app.meter]
	// commands is mrtq with all its commands. typed are the flags that were given on the
	// command line of the command that runs.
	commands *cobra.Command
	typed    []flagWords
	// name is the command that runs, and args are its arguments.
	name string
	args []string

	conn connection
	log  *slog.Logger
}

// run runs mrtq with these arguments, and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	// The first Ctrl-C asks for a clean stop. The second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	a := &app{stdout: &output{Writer: stdout}, stderr: stderr}
	if m := a.meter(); m.width != nil {
		a.stdout.clear = m.clear
	}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetOut(a.stdout)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	err = withNextStep(interruption(ctx, ran.Name(), err))
	if a.stdout.err != nil {
		err = a.stdout.err // the result was lost, so the command failed
	}
	code := exitCode(err)
	io.WriteString(stderr, a.lastLine(err, code))
	return code
}

func exitCode(err error) int {
	var c *coded
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &c):
		return c.code
	}
	return exitEnv
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mrtq",
		Short: "migrate a ZooKeeper queue from its legacy layout to the new one",
		Long: `mrtq decodes the records of a legacy ZooKeeper queue, migrates them to the new
batch and job layout, verifies the result, and can roll it back.

A SOURCE or TARGET is host:port[,host:port…][/chroot], ZooKeeper's own connect
string, or file:tree.ndjson[.gz], a dump. A SOURCE can also be
snapshot:DIR[,LOGDIR][#/chroot], a server's data directory (its dataDir, and its
dataLogDir if it has one), which mrtq reads without the server. A setting comes from
its flag, else from a variable (--max-response is MRTQ_MAX_RESPONSE), else from
mrtq.yaml. mrtq shows the settings from variables and from the file. A
setting that could lose a job or run it twice (--consumed, --undecodable, --force and
the like) can only be a flag. Data goes to stdout, everything else to stderr. Exit
codes: 0 done, 1 the check failed, 2 wrong usage, 3 the environment failed,
130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.commands, a.typed, a.name, a.args = cmd.Root(), typedFlags(cmd), cmd.Name(), args
			if err := a.settings(cmd); err != nil {
				return err
			}
			if err := a.conn.setLimit(); err != nil {
				return err
			}
			a.conn.patient = cmd.Flags().Changed("timeout")
			level := slog.LevelWarn
			if a.verbose {
				level = slog.LevelDebug
			}
			a.log = slog.New(slog.NewTextHandler(a.meter(), &slog.HandlerOptions{Level: level}))
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = thisVersion().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(helpCmd())
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log what happens to stderr")
	f.BoolVar(&a.wide, "wide", false, "don't fit tables to the terminal's width; page them with less -S")
	f.StringVar(&a.config, "config", "", "settings `file` (default $"+variable("config")+", or "+defaultConfig+" if there is one)")
	a.conn.flags(f)
	root.AddCommand(
		a.inspectCmd(), a.checkCmd(), a.dumpCmd(), a.restoreCmd(),
		a.planCmd(), a.migrateCmd(), a.verifyCmd(), a.rollbackCmd(), a.statusCmd(), a.showCmd(), a.watchCmd(), a.rebuildCmd(),
		a.holdCmd(), a.releaseCmd(),
		a.reportCmd(),
		a.zkCmd(),
		a.acceptCmd(), a.statesCmd(), a.layoutCmd(),
		a.versionCmd(), a.manCmd(),
	)
	addCompletion(root)
	return root
}

// noSuchCommand refuses an argument of mrtq that is not a command.
func noSuchCommand(root *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	for _, name := range root.SuggestionsFor(given[0]) {
		return usageError("mrtq has no command %q: did you mean mrtq %s?", given[0], name)
	}
	return usageError("mrtq has no command %q; see mrtq --help", given[0])
}

// args requires positional arguments with these names.
func args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < len(names):
			return usageError("%s is missing; usage: mrtq %s", names[len(given)], cmd.Use)
		case len(given) > len(names):
			return usageError("%q is one argument too many; usage: mrtq %s", given[len(names)], cmd.Use)
		}
		return nil
	}
}
