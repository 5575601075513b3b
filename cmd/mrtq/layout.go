package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/internal/layout"
	"mrtq/migrate/layouts"
)

type layoutCmd struct{ dialect string }

func (a *app) layoutCmd() *cobra.Command {
	c := &layoutCmd{}
	cmd := &cobra.Command{
		Use:   "layout NAME",
		Short: "print the map of a layout as a page",
		Long: `Print the map of a layout as a Markdown page: its znodes, what they hold, who writes
them, and which znodes must agree. NAME is merritt, merritt-legacy, zuul, or a file
with your own map.`,
		Example: `  mrtq layout merritt --dialect mrt-zk
  mrtq layout zuul`,
		ValidArgs: layouts.Names,
		Args:      args("NAME"),
		RunE:      func(_ *cobra.Command, args []string) error { return c.run(a, args[0]) },
	}
	cmd.Flags().StringVar(&c.dialect, "dialect", "", "`dialect` of the layout, if it has several: design or mrt-zk")
	return cmd
}

func (c *layoutCmd) run(a *app, name string) error {
	l, err := namedLayout(name, layouts.Options{Dialect: c.dialect})
	if err != nil {
		return err
	}
	return l.WriteMarkdown(a.Out)
}

// namedLayout is the map with this name, or the map in the file with this name.
func namedLayout(name string, opt layouts.Options) (*layout.Map, error) {
	if opt.Dialect != "" && name != "merritt" && !isMapFile(name) {
		return nil, exit.Usagef("--dialect %s: the layout %s has no dialects", opt.Dialect, name)
	}
	if !isMapFile(name) {
		l, err := layouts.Named(name, opt)
		if errors.Is(err, layouts.ErrUnknown) {
			return l, exit.Usagef("%w, and files with your own map, whose names have a dot or a slash", err)
		}
		if err != nil {
			return l, exit.Usagef("%w", err)
		}
		return l, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, files.Unread("map "+name, err)
	}
	m, err := layout.Load(name, text, opt.Dialect)
	if err != nil {
		return nil, exit.Usagef("%w; correct the map, or give one of %s", err, strings.Join(layouts.Names, ", "))
	}
	return m, nil
}

// isMapFile reports whether a name is that of a file, and not of a built-in map.
func isMapFile(name string) bool {
	return strings.ContainsAny(name, "/.")
}
