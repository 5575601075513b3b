package main

import (
	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

type statesCmd struct{ output, dialect string }

func (a *app) statesCmd() *cobra.Command {
	c := &statesCmd{}
	cmd := &cobra.Command{
		Use:   "states [flags]",
		Short: "show the state machines of the new queue",
		Long: `Print every transition of batches, jobs and access requests, and what it changes, as
a table, as a Mermaid diagram, or as a picture (SVG).`,
		Example: `  mrtq states
  mrtq states --dialect mrt-zk -o svg`,
		Args: args(),
		RunE: func(*cobra.Command, []string) error { return c.run(a) },
	}
	f := cmd.Flags()
	settings.Choice(f, &c.output, "output", "o", "what to print", statesTable, statesMermaid, statesSVG)
	settings.Choice(f, &c.dialect, "dialect", "", "dialect of the layout", string(newqueue.Design), string(newqueue.MrtZK))
	return cmd
}

func (c *statesCmd) run(a *app) error {
	if _, ok := screen.Terminal(a.Out.Writer); ok && c.output == statesTable {
		a.printStates(newqueue.Dialect(c.dialect))
		return nil
	}
	return exit.During("states", writeStates(a.Out, newqueue.Dialect(c.dialect), c.output))
}

// printStates prints the tables, fitted to the terminal.
func (a *app) printStates(d newqueue.Dialect) {
	for _, e := range states.Entities {
		header, texts := stateRows(e, d)
		rows := make([]screen.Row, len(texts))
		for i, row := range texts {
			for _, s := range row {
				rows[i] = append(rows[i], s)
			}
		}
		a.Table("", header, rows)
	}
}
