package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/acceptcmd"
	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/connect"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
)

// app is what commands share: where they print, and the flags that all of them have.
type app struct {
	*screen.Screen
	advice  advice.Adviser // knows the command that runs
	conn    connect.Connection
	log     *slog.Logger
	verbose bool
	began   bool // the command line was understood
}

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := exit.OnSignal()
	defer stop()

	a := &app{Screen: screen.New(stdout, stderr)}
	a.Silence(a.conn.Silence.Elapsed)
	cmd := a.root()
	refuseUnknown(cmd)
	cmd.SetArgs(args)
	cmd.SetOut(a.Out)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if err != nil && !a.began { // cobra's own errors are about the command line
		err = exit.With(exit.Usage, suggest(ran, err))
	}
	err = interruption(ctx, ran.Name(), ofCommand(ran.Name(), err))
	if a.Out.Err != nil {
		err = lostOutput(a.Concluded(), a.Out.Err)
	}
	if output := ran.Flag("output"); err != nil && output != nil && output.Value.String() == "json" && !a.Out.Wrote {
		a.JSON(refusal{err.Error(), adviceOf(err).Lines()})
	}
	a.End(err, adviceOf(err))
	return exit.Code(err)
}

// refusal is what a command with -o json prints if it ended before it had a result to print.
type refusal struct {
	Error string   `json:"error"`
	Next  []string `json:"next,omitempty"`
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mrtq",
		Short: "migrate a ZooKeeper queue from its legacy layout to the new one",
		Long: `mrtq migrates Merritt's work queue in ZooKeeper from the legacy layout to the new
one: preview, migrate, verify, and roll back if needed.`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableSuggestions:         true, // suggest makes one line of them
		SuggestionsMinimumDistance: 2,
		PersistentPreRunE:          a.prepare,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			if near := help.NearFlag(cmd, unknown.GetSpecifiedName()); near != "" {
				return exit.With(exit.Usage, fmt.Errorf("%w; did you mean --%s?", err, near))
			}
		}
		return exit.With(exit.Usage, fmt.Errorf("%w; see %s --help", settings.Refusal(err), cmd.CommandPath()))
	})
	f := root.PersistentFlags()
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log what happens to stderr")
	a.conn.Flags(f)
	help.AddGroup(root, "Cutover", a.rehearseCmd(), a.planCmd(), a.migrateCmd(), a.verifyCmd(), a.releaseCmd(), a.followCmd(), a.rollbackCmd(), a.completeCmd(), a.holdCmd())
	help.AddGroup(root, "Inspect", a.statusCmd(), a.showCmd(), a.reportCmd(), a.inspectCmd(), a.checkCmd())
	help.AddGroup(root, "Servers and tests", a.dumpCmd(), a.restoreCmd(), a.zkCmd(),
		acceptcmd.Command(acceptcmd.Env{Screen: a.Screen, Conn: &a.conn, Verbose: &a.verbose, Advice: &a.advice, CheckFiles: a.checkFiles, Args: args("[FOLDER]")}))
	help.AddGroup(root, "Help topics", topics()...)
	root.AddCommand(acceptcmd.Driver(acceptcmd.Env{Screen: a.Screen, Args: args()}), a.versionCmd())
	settings.RefuseEmpty(root)
	settings.Complete(root)
	root.SetHelpFunc(help.Print)
	return root
}

func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "addresses", Short: "what a SOURCE and a TARGET are", Long: `A SOURCE is a legacy queue, and a TARGET a new one. Each is an address in ZooKeeper,
as its own connect string, or a dump:

  host:port[,host:port…][/chroot]
  file:tree.ndjson[.gz]

plan, migrate, rehearse, inspect and dump take a SOURCE. A run's record names it for the
others; verify can take one, too. A release needs both queues in one ensemble, or in one dump.`},
		{Use: "settings", Short: "variables that set flags", Long: `Variables set --max-rate, and the flags of the connection and of the legacy queue nodes:
--max-response is MRTQ_MAX_RESPONSE. A flag overrides its variable. Each command prints the settings
that it takes from variables. Every other setting must be a flag. Credentials are in
the file of --auth-file, or in the variable ` + settings.AuthVariable + `.`},
		{Use: "exit-codes", Short: "what the exit codes mean", Long: `Exit codes:

  0    done
  1    not the result that you want: a plan is not ready, a verification found
       differences, a release or a rollback has not ended, somebody must decide
  2    usage error
  3    runtime error: no server, no permission, a damaged file
  130  interrupted

Data goes to stdout, everything else to stderr.`},
	}
}

// suggest adds to cobra's error of an unknown command which one may be meant, or where they are listed.
func suggest(parent *cobra.Command, err error) error {
	var typed string
	if _, other := fmt.Sscanf(err.Error(), "unknown command %q", &typed); other != nil {
		return err
	}
	if parent.Name() == "help" {
		parent = parent.Root()
	}
	if near := parent.SuggestionsFor(typed); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", typed, near[0])
	}
	return fmt.Errorf("%w; see mrtq --help", err)
}

// refuseUnknown makes cobra's own commands refuse what they don't know. Without it they print a help, and end with 0.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		return cmp.Or(err, cobra.NoArgs(found, rest))
	}
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE = root.RunE
}

func (a *app) prepare(cmd *cobra.Command, args []string) error {
	a.began = true
	a.Name(cmd.Name())
	if slices.Contains(writing, cmd.Name()) { // it ends its work although nobody reads its output
		signal.Ignore(syscall.SIGPIPE)
	}
	root := cmd.Root()
	typed := flagsOf(cmd.Flags(), func(f *pflag.Flag) bool { return f.Changed }) // the next command finds variables, too
	a.advice = advice.Adviser{Name: cmd.Name(), Args: args, Given: typed, Takes: func(command, flag string) bool {
		next, _, err := root.Find(strings.Fields(command))
		return err == nil && next.Flag(flag) != nil
	}}
	if err := settings.Apply(cmd, a.Say); err != nil {
		return err
	}
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelDebug
	}
	a.log = slog.New(slog.NewTextHandler(a.Log(), &slog.HandlerOptions{Level: level}))
	return a.conn.Prepare(a.log, func(news string) { a.Say("%s", news) })
}

func flagsOf(set *pflag.FlagSet, some func(*pflag.Flag) bool) (flags []advice.Flag) {
	set.VisitAll(func(f *pflag.Flag) {
		if !some(f) {
			return
		}
		list, isList := f.Value.(pflag.SliceValue)
		value := []string{f.Value.String()}
		switch {
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			value = nil
		case f.Name == "acl": // it may hold a digest, which is secret
			value = []string{advice.ACL}
		case isList && f.Value.Type() == "stringArray":
			value = list.GetSlice()
		case isList:
			value = []string{advice.List(list.GetSlice()...)}
		}
		flags = append(flags, advice.Flag{Name: f.Name, Values: value})
	})
	return flags
}

func (a *app) checkFiles(writes []files.Named, reads ...files.Named) error {
	return files.Check(writes, slices.Concat(reads, a.conn.Files()))
}

// args requires positional arguments with these names. A name in brackets may be missing.
func args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < len(names) && names[len(given)][0] != '[':
			return exit.Usagef("%s is missing; usage: mrtq %s", names[len(given)], cmd.Use)
		case len(given) > len(names):
			return exit.Usagef("%q is one argument too many; usage: mrtq %s", given[len(names)], cmd.Use)
		}
		if i := slices.Index(given, ""); i >= 0 {
			return exit.Usagef("%s: %w; usage: mrtq %s", strings.Trim(names[i], "[]"), settings.ErrEmpty, cmd.Use)
		}
		return nil
	}
}

// outputFlag adds -o. The first format is for people.
func outputFlag(f *pflag.FlagSet, p *string, formats ...string) {
	settings.Choice(f, p, "output", "o", "format", append([]string{"table"}, formats...)...)
}

func (a *app) printAs(output string, found any, people func()) {
	if output == "json" {
		a.JSON(found)
	} else {
		people()
	}
}
