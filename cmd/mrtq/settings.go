package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

const defaultConfig = "mrtq.yaml"

// settings fills flags that were not given from the environment, then from the
// settings file.
func (a *app) settings(cmd *cobra.Command) error {
	file, err := a.readConfig(cmd)
	if err != nil {
		return err
	}
	var bad error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || bad != nil || f.Name == "help" || f.Name == "config" {
			return
		}
		name := "MRTQ_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := os.LookupEnv(name); ok {
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				bad = usageError("$%s: %w", name, err)
			}
			return
		}
		for _, value := range file[f.Name] {
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				bad = usageError("settings file, %s: %w", f.Name, err)
			}
		}
	})
	return bad
}

// readConfig reads the settings file: flag names and their values, or lists of
// them. A name that no command has is an error, because a misspelt safety
// setting would silently not be set.
func (a *app) readConfig(cmd *cobra.Command) (map[string][]string, error) {
	path := a.config
	if path == "" {
		path = defaultConfig
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && a.config == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	var raw map[string]any
	if err := yaml.Unmarshal(text, &raw); err != nil {
		return nil, usageError("settings file %s: %w", path, err)
	}
	known := map[string]bool{}
	for _, c := range append(cmd.Root().Commands(), cmd.Root()) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	out := map[string][]string{}
	for name, value := range raw {
		if !known[name] {
			return nil, usageError("settings file %s: no command has a flag --%s", path, name)
		}
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				out[name] = append(out[name], fmt.Sprint(item))
			}
		default:
			out[name] = []string{fmt.Sprint(v)}
		}
	}
	return out, nil
}

// choiceFlag is a flag with a fixed set of values.
type choiceFlag struct {
	value   *string
	choices []string
}

func (c *choiceFlag) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choiceFlag) Type() string { return strings.Join(c.choices, "|") }

func (c *choiceFlag) Set(s string) error {
	if !slices.Contains(c.choices, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.choices, ", "))
	}
	*c.value = s
	return nil
}

// choice adds a flag whose default is the first choice.
func choice(f *pflag.FlagSet, p *string, name, short, usage string, choices ...string) {
	*p = choices[0]
	f.VarP(&choiceFlag{p, choices}, name, short, usage)
}
