// Package settings sets the flags that were not given on the command line: from variables
// (--max-response is MRTQ_MAX_RESPONSE), or else from mrtq.yaml. It refuses what it does not
// know, because a misspelt setting would silently have no effect, and what must be a flag
// ([FlagOnly]).
//
//	settings.go   variables and the file
//	flagonly.go   what only a flag may say
//	flags.go      flags with a fixed set of values
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/internal/openfile"
)

// DefaultFile is the settings file if none is named.
const DefaultFile = "mrtq.yaml"

// Apply sets the flags of a command that were not given, and says so for each. config is the
// value of --config. It returns the settings file that it read, "" if there is none. An
// error is about the settings, or says why the file can't be read.
func Apply(cmd *cobra.Command, config string, say func(format string, args ...any)) (read string, err error) {
	if err := CheckVariables(cmd.Root(), os.Environ()); err != nil {
		return "", err
	}
	file, read, err := readFile(cmd, config)
	if err != nil {
		return read, err
	}
	var bad error
	var fromVariables []string
	var fromFile []setting
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || bad != nil || f.Name == "help" || f.Name == "version" || f.Name == "config" {
			return
		}
		name := Variable(f.Name)
		if value, ok := os.LookupEnv(name); ok {
			if bad = refuseFlagOnly(f.Name, "$"+name); bad != nil {
				return
			}
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				bad = exit.Usagef("$%s: %w", name, Refusal(err))
				return
			}
			fromVariables = append(fromVariables, fmt.Sprintf("$%s: --%s %s", name, f.Name, publicValue(f.Name, value)))
			return
		}
		s, ok := file[f.Name]
		if !ok {
			return
		}
		if bad = refuseFlagOnly(f.Name, s.where+", "+f.Name); bad == nil {
			bad = s.apply(cmd.Flags(), f)
		}
		fromFile = append(fromFile, s)
	})
	if bad != nil {
		return read, bad
	}
	slices.SortFunc(fromFile, func(a, b setting) int { return cmp.Compare(a.line, b.line) })
	for _, s := range fromFile {
		say("%s: --%s %s", s.where, s.flag, publicValue(s.flag, strings.Join(s.values, ",")))
	}
	for _, s := range fromVariables {
		say("%s", s)
	}
	return read, nil
}

// publicValue is a flag's value as other people may see it. An ACL may hold a digest.
func publicValue(flag, value string) string {
	if flag == "acl" {
		return "ACL"
	}
	return value
}

// Variable is the environment variable of a flag.
func Variable(flag string) string {
	return "MRTQ_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// setting is a flag that a settings file sets.
type setting struct {
	flag   string
	where  string // file and line
	line   int
	list   bool
	values []string
}

func (s setting) apply(flags *pflag.FlagSet, f *pflag.Flag) error {
	if _, ok := f.Value.(pflag.SliceValue); s.list && !ok {
		return exit.Usagef("%s, %s: it takes one value, not a list", s.where, s.flag)
	}
	if s.list && len(s.values) == 0 {
		s.values = []string{""} // means none, as on the command line
	}
	for _, value := range s.values {
		if err := flags.Set(f.Name, value); err != nil {
			return exit.Usagef("%s, %s: %w", s.where, s.flag, Refusal(err))
		}
	}
	return nil
}

// readFile reads the settings file: flag names, each with a value or a list of values.
func readFile(cmd *cobra.Command, config string) (set map[string]setting, read string, err error) {
	path := cmp.Or(config, os.Getenv(Variable("config")))
	wanted := path != ""
	if !wanted {
		path = DefaultFile
	}
	text, err := openfile.ReadAll(path)
	if errors.Is(err, fs.ErrNotExist) && !wanted {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", files.Unread("settings file "+path, err)
	}
	set, err = parse(path, text, FlagNames(cmd.Root()))
	return set, path, err
}

// parse reads the text of a settings file.
func parse(path string, text []byte, known map[string]bool) (map[string]setting, error) {
	var values map[string]yaml.Node
	if err := yaml.Unmarshal(text, &values); err != nil {
		says := strings.NewReplacer("yaml: ", "", "unmarshal errors:\n  ", "", " into map[string]yaml.Node", "").Replace(err.Error())
		return nil, exit.Usagef("settings file %s, %s; expected lines of the form FLAG: VALUE", path, says)
	}
	if key := nullKey(text); key != nil {
		return nil, exit.Usagef("settings file %s, line %d: %q is not the name of a flag; expected lines of the form FLAG: VALUE", path, key.Line, key.Value)
	}
	settings := map[string]setting{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		s := setting{flag: name, where: fmt.Sprintf("settings file %s, line %d", path, value.Line), line: value.Line}
		if !known[name] {
			return nil, exit.Usagef("%s, %s: no command has a flag --%s", s.where, name, name)
		}
		items := []*yaml.Node{&value}
		if value.Kind == yaml.SequenceNode {
			s.list, items = true, value.Content
		}
		for _, item := range items {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				return nil, exit.Usagef("%s, %s: expected a value or a list of values", s.where, name)
			}
			s.values = append(s.values, item.Value)
		}
		settings[name] = s
	}
	return settings, nil
}

// nullKey returns a key that is null; nil if there is none. In a map of values, such a key is missing.
func nullKey(text []byte) *yaml.Node {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil || len(root.Content) == 0 {
		return nil
	}
	for i, key := range root.Content[0].Content {
		if i%2 == 0 && key.Tag == "!!null" {
			return key
		}
	}
	return nil
}

// FlagNames are the names that a settings file may hold.
func FlagNames(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
	}
	delete(names, "config") // it says where the file is
	delete(names, "help")
	delete(names, "version")
	return names
}
