package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
)

// newRoot is the root command as run makes it, without outputs.
func newRoot() *cobra.Command {
	a := &app{Screen: screen.New(io.Discard, io.Discard)}
	return a.root()
}

// Every command has a complete help, which names only flags that exist.
func TestHelp(t *testing.T) {
	root := newRoot()
	if len(root.Commands()) < 8 {
		t.Fatalf("%d commands", len(root.Commands()))
	}
	known := map[string]bool{"help": true, "version": true} // cobra's own
	for _, c := range append(root.Commands(), root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	for _, c := range root.Commands() {
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: Short %q, Long %q, Example %q: none may be empty", c.Name(), c.Short, c.Long, c.Example)
		}
		if strings.HasSuffix(c.Short, ".") || strings.ToLower(c.Short[:1]) != c.Short[:1] {
			t.Errorf("%s: Short %q: want no capital and no full stop", c.Name(), c.Short)
		}
		texts := []string{c.Short, c.Long, c.Example}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			texts = append(texts, f.Usage)
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage %q: want some, without a full stop", c.Name(), f.Name, f.Usage)
			}
		})
		for _, name := range flagsIn(texts...) {
			if !known[name] {
				t.Errorf("%s: its help names --%s, which no command has", c.Name(), name)
			}
		}
	}
	for _, name := range flagsIn(root.Long) {
		if !known[name] {
			t.Errorf("the help names --%s, which no command has", name)
		}
	}
}

var flagPattern = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z-]*)`)

func flagsIn(texts ...string) (names []string) {
	for _, m := range flagPattern.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		names = append(names, m[1])
	}
	return names
}

// mrtq accepts the command lines of all examples.
func TestExamples(t *testing.T) {
	for _, c := range newRoot().Commands() {
		for _, line := range strings.Split(c.Example, "\n") {
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "mrtq" || words[1] != c.Name() {
				t.Errorf("%s: example %q: want mrtq %s …", c.Name(), line, c.Name())
				continue
			}
			found, rest, err := newRoot().Find(words[1:])
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			args := found.Flags().Args()
			if err := found.ValidateArgs(args); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if c.Name() == "zk" || c.Name() == "man" {
				continue // its arguments are a command, or a folder
			}
			if c.Name() == "show" {
				args = args[:2] // the third is a record or a job
			}
			for _, arg := range args {
				if _, err := parsePlace("SOURCE", arg); err != nil {
					t.Errorf("%q: %v", line, err)
				}
			}
		}
	}
}

// The exit codes are those that the help names.
func TestExitCodes(t *testing.T) {
	const want = "Exit codes: 0 done, 1 the check failed, 2 wrong usage, 3 the environment failed, 130 interrupted."
	if !strings.Contains(strings.Join(strings.Fields(newRoot().Long), " "), want) {
		t.Errorf("the help doesn't say %q", want)
	}
	if got := []int{exit.Done, exit.Failed, exit.Usage, exit.Environment, exit.Interrupted}; !slices.Equal(got, []int{0, 1, 2, 3, 130}) {
		t.Errorf("the codes are %v", got)
	}
}

// No flag holds credentials, because every process on the machine can read flags.
func TestNoSecretFlags(t *testing.T) {
	secret := regexp.MustCompile(`pass|secret|credential|token|^auth$`)
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if secret.MatchString(f.Name) {
				t.Errorf("%s --%s", c.Name(), f.Name)
			}
		})
	}
}
