package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
)

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
	known := knownFlags(root)
	for _, c := range root.Commands() {
		if c.Short == "" || c.Long == "" || c.Example == "" && c.Runnable() {
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

func knownFlags(root *cobra.Command) map[string]bool {
	known := map[string]bool{"help": true, "version": true} // cobra's own
	for _, c := range append(root.Commands(), root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	return known
}

var flagPattern = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z-]*)`)

func flagsIn(texts ...string) (names []string) {
	for _, m := range flagPattern.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		names = append(names, m[1])
	}
	return names
}

// Help fits a terminal of 80 columns, and lists each command in a group.
func TestHelpFits(t *testing.T) {
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		for line := range strings.Lines(help.Text(c)) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 && len(strings.Fields(line)) > 1 {
				t.Errorf("%s: %q", c.Name(), line)
			}
		}
	}
	_, rest, _ := strings.Cut(help.Text(root), "\nOther:\n")
	rest, _, _ = strings.Cut(rest, "\n\n")
	for line := range strings.Lines(rest) {
		if name := strings.Fields(line)[0]; !slices.Contains([]string{"help", "completion", "version"}, name) {
			t.Errorf("%s is in none of the groups", name)
		}
	}
}

// docs/commands has a page for each command, which is its help. -update writes the pages again.
func TestCommandPages(t *testing.T) {
	const folder = "../../docs/commands"
	root := newRoot()
	want := map[string]string{"mrtq.md": fmt.Sprintf("# mrtq\n\n```text\n%s```\n", help.Text(root))}
	for _, c := range root.Commands() {
		if c.Runnable() && !slices.Contains([]string{"help", "completion", "version"}, c.Name()) {
			want[c.Name()+".md"] = fmt.Sprintf("# mrtq %s: %s\n\n```text\n%s```\n", c.Name(), c.Short, help.Text(c))
		}
	}
	if *update {
		must(t, os.RemoveAll(folder))
		must(t, os.Mkdir(folder, 0o755))
		for name, page := range want {
			must(t, os.WriteFile(filepath.Join(folder, name), []byte(page), 0o644))
		}
	}
	found := value(os.ReadDir(folder))(t)
	if len(found) != len(want) {
		t.Errorf("%d pages of %d commands", len(found), len(want))
	}
	for _, file := range found {
		if page := value(os.ReadFile(filepath.Join(folder, file.Name())))(t); string(page) != want[file.Name()] {
			t.Errorf("%s is not the command's help; run this test with -update", file.Name())
		}
	}
}

// mrtq accepts the command lines of all examples.
func TestExamples(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if !c.Runnable() {
			continue // a help topic
		}
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
			if c.Name() == "zk" {
				continue // its arguments are a command
			}
			if c.Name() == "show" {
				args = args[:1] // the second is a record or a job
			}
			for _, arg := range args {
				if _, err := parsePlace("SOURCE", arg); err != nil {
					t.Errorf("%q: %v", line, err)
				}
			}
		}
	}
}

// A mistyped command or flag is answered by the one that is meant, wherever it stands.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"migrat":                 `unknown command "migrat"; did you mean migrate?`,
		"-v migrat":              `unknown command "migrat"; did you mean migrate?`,
		"--timeout 3s rolback x": `unknown command "rolback"; did you mean rollback?`,
		"sing":                   `unknown command "sing" for "mrtq"; see mrtq --help`,
		"completion bash x":      `unknown command "x" for "mrtq completion bash"; see mrtq --help`,
		"plan --faild held x":    "unknown flag: --faild; did you mean --failed?",
		"plan --sing x":          "unknown flag: --sing; see mrtq plan --help",
		"plan -x x":              "unknown shorthand flag: 'x' in -x; see mrtq plan --help",
	} {
		if code, says := runInProcess(strings.Fields(line)...); code != exit.Usage || says != "mrtq: "+want+"\n" {
			t.Errorf("mrtq %s: exit code %d, %s want %s", line, code, says, want)
		}
	}
}

// The exit codes are those that the help names.
func TestExitCodes(t *testing.T) {
	topic, _, err := newRoot().Find([]string{"exit-codes"})
	must(t, err)
	for _, code := range []int{exit.Done, exit.Failed, exit.Usage, exit.Environment, exit.Interrupted} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^ +%d +\w`, code)).MatchString(topic.Long) {
			t.Errorf("the help doesn't explain %d", code)
		}
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
