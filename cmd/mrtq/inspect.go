package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/legacy"
	"mrtq/migrate"
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
  mrtq inspect snapshot:/var/lib/zookeeper --status held
  mrtq inspect file:queue.ndjson.gz --queue inventory -o ndjson`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return during("inspect", c.run(cmd.Context(), a, args[0]))
		},
	}
	c.flags(cmd.Flags())
	a.conn.rateFlag(cmd.Flags())
	outputFlag(cmd.Flags(), &c.output, "json", "ndjson")
	cmd.Flags().StringSliceVar(&c.status, "status", nil, "only records with this `status`, or \"bad\"; can be repeated")
	cmd.Flags().StringSliceVar(&c.queue, "queue", nil, "only records of this `queue`: ingest, inventory, accessSmall, accessLarge, or a node; can be repeated")
	return cmd
}

func (c *inspectCmd) run(ctx context.Context, a *app, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	for _, s := range c.status {
		if _, err := legacy.ParseStatus(s); err != nil && s != statusBad {
			return exit.Usagef("--status: %w, or %q", err, statusBad)
		}
	}
	queues, err := c.queues()
	if err != nil {
		return err
	}
	nodes := queueNodes(queues)
	for _, q := range c.queue {
		if !slices.Contains(migrate.QueueKinds, migrate.QueueKind(q)) && !slices.Contains(nodes, q) {
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
		a.Say("%s is not there; the source has %s", path, someOf(src.There))
	}
	t := screen.Good
	if counted.bad > 0 {
		t = screen.Attention
	}
	a.Conclude(t, "Inspect: %s: %d decoded, %d not.", screen.Count(counted.records, "record", "records"), counted.records-counted.bad, counted.bad)
	if counted.unreadable > 0 {
		a.Say("no permission to read %s: give other credentials with --auth-file or $%s; if this is a dump, make it again with them", screen.Count(counted.unreadable, "record", "records"), settings.AuthVariable)
	}
	return nil
}

// tally counts the records that were printed.
type tally struct{ records, bad, unreadable int }

func (t *tally) add(r migrate.Record) {
	t.records++
	if r.Err != nil {
		t.bad++
		if r.Err.Kind == migrate.Unreadable {
			t.unreadable++
		}
	}
}

// printAll prints the chosen records as they are read.
func (c *inspectCmd) printAll(ctx context.Context, a *app, src *migrate.Source) (tally, error) {
	ctx, finish := a.Phases(ctx, "reading the source")
	defer finish()
	print := recordPrinterFor(a.Screen, c.output)
	var counted tally
	for r, err := range src.Records(ctx) {
		if err != nil {
			return counted, err
		}
		if !c.wants(r) {
			continue
		}
		counted.add(r)
		if err := print.add(r); err != nil {
			return counted, err
		}
	}
	return counted, print.end()
}

// queueNodes are the znodes whose children are records.
func queueNodes(q migrate.Queues) []string {
	var nodes []string
	for _, kind := range migrate.QueueKinds {
		nodes = append(nodes, q.Nodes[kind]...)
	}
	return nodes
}

// statusBad selects the records that can't be decoded.
const statusBad = "bad"

func (c *inspectCmd) wants(r migrate.Record) bool {
	status := statusBad
	if r.Err == nil {
		status = r.Legacy.Header.Status.String()
	}
	if len(c.status) > 0 && !slices.Contains(c.status, status) {
		return false
	}
	return len(c.queue) == 0 || slices.Contains(c.queue, string(r.Queue)) || slices.Contains(c.queue, r.Path[:strings.LastIndexByte(r.Path, '/')])
}

// inspected is a record as -o json and ndjson print it (docs/commands.md, "Output").
type inspected struct {
	Path     string          `json:"path"`
	Queue    string          `json:"queue,omitempty"`
	Key      *inspectedKey   `json:"key,omitempty"`
	Status   string          `json:"status,omitempty"`
	Time     *string         `json:"time,omitempty"` // "" if it has none; absent for a bad record
	TimeUnit *string         `json:"time_unit,omitempty"`
	Format   string          `json:"format,omitempty"`
	Payload  legacy.Payload  `json:"payload,omitempty"`
	SHA256   string          `json:"sha256,omitempty"`
	Error    *inspectedError `json:"error,omitempty"`
}

type inspectedKey struct {
	Priority     int    `json:"priority"`
	HighPriority bool   `json:"high_priority"`
	Worker       string `json:"worker"`
	Sequence     int32  `json:"sequence"`
}

type inspectedError struct {
	Kind    legacy.Kind `json:"kind"`
	Offset  *int        `json:"offset"` // in the znode's data; null if there is none
	Message string      `json:"message"`
}

func inspect(r migrate.Record) inspected {
	if r.Err != nil {
		e := &inspectedError{Kind: r.Err.Kind, Message: r.Err.Error()}
		if r.Err.Offset >= 0 {
			e.Offset = &r.Err.Offset
		}
		return inspected{Path: r.Path, Error: e}
	}
	l := r.Legacy
	at, unit := "", string(l.Header.Unit)
	if !l.Header.Time.IsZero() {
		at = l.Header.Time.Format(time.RFC3339Nano)
	}
	return inspected{
		Path: r.Path, Queue: string(r.Queue),
		Key:    &inspectedKey{l.Key.Priority, l.Key.HighPriority, l.Key.Worker, l.Key.Sequence},
		Status: l.Header.Status.String(), Time: &at, TimeUnit: &unit,
		Format: string(l.Format), Payload: l.Payload, SHA256: hex.EncodeToString(l.SHA256[:]),
	}
}

// summary is text from a record's payload, by which an operator recognises the record.
func summary(r migrate.Record) string {
	var parts []string
	for _, name := range []string{"jobID", "objectID", "title", "manifestURL", "token"} {
		if s, ok := r.Legacy.Payload.Text(name); ok {
			parts = append(parts, s)
		}
	}
	const most = 100
	s := []rune(strings.Join(parts, " · "))
	if len(s) > most {
		s = append(s[:most], '…')
	}
	return string(s)
}

// recordPrinter prints records as they come, without keeping all of them in memory.
type recordPrinter struct {
	add func(migrate.Record) error
	end func() error
}

func recordPrinterFor(s *screen.Screen, output string) recordPrinter {
	switch output {
	case "ndjson":
		w := bufio.NewWriter(s.Out)
		return recordPrinter{func(r migrate.Record) error { return screen.WriteJSONLine(w, inspect(r)) }, w.Flush}
	case "json":
		list := screen.NewJSONList(s.Out)
		return recordPrinter{func(r migrate.Record) error { return list.Add(inspect(r)) }, list.End}
	}
	t := recordTable{s: s}
	return recordPrinter{t.add, t.end}
}

// recordTable prints a table of records in parts. The columns of a part are as wide
// as its rows need, so all its rows must be known before it is printed.
type recordTable struct {
	s    *screen.Screen
	rows []screen.Row
}

// rowsAtOnce is how many rows a part has.
const rowsAtOnce = 5000

func (t *recordTable) add(r migrate.Record) error {
	t.rows = append(t.rows, recordRow(r))
	if len(t.rows) == rowsAtOnce {
		return t.end()
	}
	return nil
}

func (t *recordTable) end() error {
	t.s.Table("", []string{"RECORD", "STATUS", "TIME", "FORMAT", "WHAT"}, t.rows)
	t.rows = t.rows[:0]
	return nil
}

func recordRow(r migrate.Record) screen.Row {
	if r.Err != nil {
		return screen.Row{r.Path, statusBad, "", "", r.Err.Error()}
	}
	h := r.Legacy.Header
	at := ""
	if !h.Time.IsZero() {
		at = h.Time.Format(time.RFC3339Nano)
	}
	return screen.Row{r.Path, h.Status.String(), at, string(r.Legacy.Format), summary(r)}
}
