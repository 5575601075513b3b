package main

import (
	"bufio"
	"time"

	"mrtq/migrate"
)

// recordPrinter prints records as they come, without keeping all of them in memory.
type recordPrinter struct {
	record func(migrate.Record) error
	end    func() error
}

func (c *inspectCmd) printer(a *app) recordPrinter {
	switch c.output {
	case "ndjson":
		w := bufio.NewWriter(a.stdout)
		return recordPrinter{func(r migrate.Record) error { return encodeJSON(w, inspect(r), "") }, w.Flush}
	case "json":
		list := newJSONList(a.stdout)
		return recordPrinter{func(r migrate.Record) error { return list.add(inspect(r)) }, list.end}
	}
	t := recordTable{a: a}
	return recordPrinter{t.add, t.end}
}

// recordTable prints a table of records in parts. The columns of a part are as wide
// as its rows need, so all its rows must be known before it is printed.
type recordTable struct {
	a    *app
	rows [][]any
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
	t.a.table("", []string{"RECORD", "STATUS", "TIME", "FORMAT", "WHAT"}, t.rows)
	t.rows = t.rows[:0]
	return nil
}

func recordRow(r migrate.Record) []any {
	if r.Err != nil {
		return []any{r.Path, statusBad, "", "", r.Err.Error()}
	}
	h := r.Legacy.Header
	at := ""
	if !h.Time.IsZero() {
		at = h.Time.Format(time.RFC3339Nano)
	}
	return []any{r.Path, h.Status.String(), at, string(r.Legacy.Format), summary(r)}
}
