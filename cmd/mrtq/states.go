package main

import (
	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/newqueue"
)

type statesCmd struct{ output, dialect string }

func (a *app) statesCmd() *cobra.Command {
	c := &statesCmd{}
	cmd := &cobra.Command{
		Use:   "states [flags]",
		Short: "show the state machines of the new queue",
		Long: `Print every transition of batches, jobs and access requests, and what it changes, as
a table or as a Mermaid diagram, which GitHub draws.`,
		Example: `  mrtq states
  mrtq states --dialect mrt-zk -o mermaid`,
		Args: args(),
		RunE: func(*cobra.Command, []string) error {
			c.run(a)
			return nil
		},
	}
	f := cmd.Flags()
	settings.Choice(f, &c.output, "output", "o", "what to print", "table", "mermaid")
	settings.Choice(f, &c.dialect, "dialect", "", "dialect of the layout", string(newqueue.Design), string(newqueue.MrtZK))
	return cmd
}

func (c *statesCmd) run(a *app) {
	d := newqueue.Dialect(c.dialect)
	if c.output == "mermaid" {
		a.Printf("%s", view.StatesMermaid(d))
		return
	}
	view.States(a.Screen, d)
}
