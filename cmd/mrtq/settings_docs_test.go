package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/settings"
)

// documented is a flag that a settings file can set, and the commands that have it.
type documented struct {
	flag     *pflag.Flag
	commands []string // empty if all commands have it
	says     []saying
}

// saying is what commands say of a flag, and its default in them.
type saying struct {
	usage, value string
	commands     []string
}

// add adds what one command says of the flag.
func (d *documented) add(f *pflag.Flag, command string) {
	d.commands = append(d.commands, command)
	_, usage := pflag.UnquoteUsage(f)
	i := slices.IndexFunc(d.says, func(s saying) bool { return s.usage == usage && s.value == f.DefValue })
	if i < 0 {
		i, d.says = len(d.says), append(d.says, saying{usage: usage, value: f.DefValue})
	}
	d.says[i].commands = append(d.says[i].commands, command)
}

// lines are what the commands say of the flag, with the default where it is not that of the first.
func (d *documented) lines() (lines []string) {
	if d.commands == nil {
		_, usage := pflag.UnquoteUsage(d.flag)
		return []string{usage + " (all commands)"}
	}
	for _, s := range d.says {
		line := fmt.Sprintf("%s (%s)", s.usage, strings.Join(s.commands, ", "))
		if s.value != d.flag.DefValue {
			line += fmt.Sprintf("; default %q", s.value)
		}
		lines = append(lines, line)
	}
	return lines
}

// settable lists the flags that a settings file can set: first those of all commands, then
// the others by name.
func settable(root *cobra.Command) []documented {
	byName := map[string]*documented{}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { byName[f.Name] = &documented{flag: f} })
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			d := byName[f.Name]
			if d == nil {
				d = &documented{flag: f}
				byName[f.Name] = d
			}
			if root.PersistentFlags().Lookup(f.Name) == nil {
				d.add(f, c.Name())
			}
		})
	}
	known := settings.FlagNames(root)
	var all []documented
	for name, d := range byName {
		if known[name] && !slices.Contains(settings.FlagOnly, name) {
			all = append(all, *d)
		}
	}
	slices.SortFunc(all, func(a, b documented) int {
		if (a.commands == nil) != (b.commands == nil) {
			return map[bool]int{true: -1, false: 1}[a.commands == nil]
		}
		return strings.Compare(a.flag.Name, b.flag.Name)
	})
	return all
}

// schemaOf says in JSON Schema what values a flag takes. If several commands have a flag with
// this name, it has the type of one of them.
func schemaOf(d documented) map[string]any {
	var usages []string
	for _, says := range d.says {
		if !slices.Contains(usages, says.usage) {
			usages = append(usages, says.usage)
		}
	}
	if _, usage := pflag.UnquoteUsage(d.flag); d.commands == nil {
		usages = []string{usage}
	}
	s := map[string]any{"description": strings.Join(usages, ". Or: ")}
	switch kind := d.flag.Value.Type(); {
	case kind == "bool":
		s["type"] = "boolean"
	case kind == "int":
		s["type"] = "integer"
	case kind == "duration":
		s["type"], s["pattern"] = "string", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	case kind == "stringSlice" || kind == "stringArray":
		s["type"], s["items"] = []string{"string", "array"}, map[string]any{"type": "string"}
	case strings.Contains(kind, "|"):
		// The flag takes different values in different commands.
		if d.flag.Name != "output" && d.flag.Name != "backend" && d.flag.Name != "dialect" {
			s["enum"] = strings.Split(kind, "|")
		} else {
			s["type"] = "string"
		}
	default:
		s["type"] = "string"
	}
	return s
}

// docs/mrtq.schema.json has all settings, and nothing else. -update writes it.
func TestSettingsSchema(t *testing.T) {
	properties := map[string]any{}
	for _, d := range settable(newRoot()) {
		properties[d.flag.Name] = schemaOf(d)
	}
	b, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mrtq.yaml, the settings of mrtq",
		"type": "object", "additionalProperties": false, "properties": properties,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../docs/mrtq.schema.json", string(b)+"\n")
}

// docs/mrtq.yaml has each setting with its default. -update writes it.
func TestSettingsExample(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# yaml-language-server: $schema=mrtq.schema.json
#
# Settings of mrtq, an example: mrtq reads mrtq.yaml in the working folder, or the
# file that --config or $MRTQ_CONFIG names. A line FLAG: VALUE means --FLAG VALUE.
# Flags and MRTQ_* variables count more than the file. Each command prints the
# settings that it takes from the file.
#
# A setting that could lose a job or run it twice is accepted only on the command line,
# and refused here: --` + strings.Join(settings.FlagOnly, ", --") + `.
#
# Each line below has the default, or "" if there is none: mrtq refuses an empty value. To
# set another value, remove the #.
`)
	for _, d := range settable(newRoot()) {
		value := d.flag.DefValue
		switch {
		case strings.HasPrefix(value, "["):
			value = "[" + strings.ReplaceAll(strings.Trim(value, "[]"), ",", ", ") + "]"
		case value == "":
			value = `""`
		}
		fmt.Fprintf(&b, "\n# %s\n#%s: %s\n", strings.Join(d.lines(), "\n# "), d.flag.Name, value)
	}
	golden(t, "../../docs/mrtq.yaml", b.String())
}

// A command with many of the flags accepts docs/mrtq.yaml with all its lines that have a default.
func TestSettingsExampleIsAccepted(t *testing.T) {
	example, err := os.ReadFile("../../docs/mrtq.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(path, regexp.MustCompile(`(?m)^#([a-z-]+: [^"])`).ReplaceAll(example, []byte("$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range newRoot().Commands() {
		root := newRoot()
		cmd, _, err := root.Find([]string{command.Name()})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InheritedFlags()
		// A value for one command may be wrong for another one.
		if _, err := settings.Apply(cmd, path, func(string, ...any) {}); err != nil && !strings.Contains(err.Error(), "expected one of") {
			t.Errorf("%s: %v", command.Name(), err)
		}
	}
}
