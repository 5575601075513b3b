package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type inspectCmd struct {
	legacyFlags
	output string
	status []string
	queue  []string
}

func (a *app) inspectCmd() *cobra.Command {
	c := &inspectCmd{}
	cmd := &cobra.Command{
		Use:   "inspect SOURCE",
		Short: "decode legacy records",
		Long: `Decode every record of the legacy queues and print it, in path order. For a record
that can't be read or decoded, inspect prints the reason and continues. Nothing is
written.`,
		Example: `  mrtq inspect zk1:2181 --status failed
  mrtq inspect file:queue.ndjson.gz --status held
  mrtq inspect file:queue.ndjson.gz --queue inventory -o ndjson`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	c.flags(cmd.Flags())
	a.conn.RateFlag(cmd.Flags())
	outputFlag(cmd.Flags(), &c.output, "json", "ndjson")
	cmd.Flags().StringSliceVar(&c.status, "status", nil, "only records with this `status`, or \"bad\"; can be repeated")
	settings.Offer(cmd.Flags(), "status", statusNames()...)
	cmd.Flags().StringSliceVar(&c.queue, "queue", nil, "only records of this `queue`: ingest, inventory, accessSmall, accessLarge, or a node; can be repeated")
	settings.Offer(cmd.Flags(), "queue", help.Texts(migration.QueueKinds)...)
	return cmd
}

func statusNames() []string {
	names := []string{view.BadStatus}
	for s := legacy.Pending; s.Valid(); s++ {
		names = append(names, s.String())
	}
	return names
}

func (c *inspectCmd) run(ctx context.Context, a *app, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	for _, s := range c.status {
		if _, err := legacy.ParseStatus(s); err != nil && s != view.BadStatus {
			return exit.Usagef("--status: %w, or %q", err, view.BadStatus)
		}
	}
	queues, err := c.queues()
	if err != nil {
		return err
	}
	nodes := queueNodes(queues)
	for _, q := range c.queue {
		if !slices.Contains(migration.QueueKinds, migration.QueueKind(q)) && !slices.Contains(nodes, q) {
			return exit.Usagef("--queue %q: expected ingest, inventory, accessSmall, accessLarge, or one of %s", q, strings.Join(nodes, ", "))
		}
	}
	src, side, err := a.openSource(ctx, pair{source: p}, &c.legacyFlags)
	if err != nil {
		return err
	}
	defer side.Close()
	counted, err := c.printAll(ctx, a, src)
	if err != nil {
		return failed("source", source, err)
	}
	for _, path := range src.Missing {
		a.Say("%s is not there; the source has %s", path, view.Some(src.There))
	}
	t := screen.Good
	if counted.bad > 0 {
		t = screen.Attention
	}
	a.Conclude(t, "done", fmt.Sprintf("%s: %d decoded, %d not.", screen.Count(counted.records, "record", "records"), counted.records-counted.bad, counted.bad), advice.Next{})
	if counted.unreadable > 0 {
		a.Say("no permission to read %s: give other credentials with --auth-file or $%s; if this is a dump, make it again with them", screen.Count(counted.unreadable, "record", "records"), settings.AuthVariable)
	}
	return nil
}

type tally struct{ records, bad, unreadable int }

func (c *inspectCmd) printAll(ctx context.Context, a *app, src *migrate.Source) (tally, error) {
	ctx, finish := a.Phases(ctx, "reading the source")
	defer finish()
	print := view.NewRecordPrinter(a.Screen, c.output)
	var counted tally
	for f, err := range src.Fetch(ctx, src.Paths()) {
		if err != nil {
			return counted, err
		}
		r := f.Record
		if !f.There || !c.wants(r) {
			continue
		}
		counted.records++
		if r.Err != nil {
			counted.bad++
		}
		if r.Err != nil && r.Err.Kind == migration.Unreadable {
			counted.unreadable++
		}
		if err := print.Add(r); err != nil {
			return counted, err
		}
	}
	return counted, print.End()
}

func queueNodes(q migration.Queues) []string {
	var nodes []string
	for _, kind := range migration.QueueKinds {
		nodes = append(nodes, q.Nodes[kind]...)
	}
	return nodes
}

func (c *inspectCmd) wants(r migration.Record) bool {
	status := view.BadStatus
	if r.Err == nil {
		status = r.Legacy.Header.Status.String()
	}
	if len(c.status) > 0 && !slices.Contains(c.status, status) {
		return false
	}
	return len(c.queue) == 0 || slices.Contains(c.queue, string(r.Queue)) || slices.Contains(c.queue, r.Path[:strings.LastIndexByte(r.Path, '/')])
}
