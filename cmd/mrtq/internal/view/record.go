package view

import (
	"bufio"
	"encoding/hex"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/legacy"
	"mrtq/migrate/migration"
)

// BadStatus selects the records that can't be decoded.
const BadStatus = "bad"

// Record is a record as -o json and ndjson print it (docs/commands.md, "Output").
type Record struct {
	Path     string         `json:"path"`
	Queue    string         `json:"queue,omitempty"`
	Key      *recordKey     `json:"key,omitempty"`
	Status   string         `json:"status,omitempty"`
	Time     *string        `json:"time,omitempty"` // "" if it has none; absent for a bad record
	TimeUnit *string        `json:"time_unit,omitempty"`
	Format   string         `json:"format,omitempty"`
	Payload  legacy.Payload `json:"payload,omitzero"`
	SHA256   string         `json:"sha256,omitempty"`
	Error    *recordError   `json:"error,omitempty"`
}

type recordKey struct {
	Priority     int    `json:"priority"`
	HighPriority bool   `json:"high_priority"`
	Worker       string `json:"worker"`
	Sequence     int32  `json:"sequence"`
}

type recordError struct {
	Kind    legacy.Kind `json:"kind"`
	Offset  *int        `json:"offset"` // in the znode's data; null if there is none
	Message string      `json:"message"`
}

// RecordOf returns a record as JSON. It has an error instead of its content if it can't be decoded.
func RecordOf(r migration.Record) Record {
	if r.Err != nil {
		e := &recordError{Kind: r.Err.Kind, Message: r.Err.Error()}
		if r.Err.Offset >= 0 {
			e.Offset = &r.Err.Offset
		}
		return Record{Path: r.Path, Error: e}
	}
	l := r.Legacy
	at, unit := "", string(l.Header.Unit)
	if !l.Header.Time.IsZero() {
		at = l.Header.Time.Format(time.RFC3339Nano)
	}
	return Record{
		Path: r.Path, Queue: string(r.Queue),
		Key:    &recordKey{l.Key.Priority, l.Key.HighPriority, l.Key.Worker, l.Key.Sequence},
		Status: l.Header.Status.String(), Time: &at, TimeUnit: &unit,
		Format: string(l.Format), Payload: l.Payload, SHA256: hex.EncodeToString(l.SHA256[:]),
	}
}

func summary(r migration.Record) string {
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

// RecordPrinter prints records as they come, without keeping all of them in memory, but for json.
// End prints what is left; it is called once, after the last record.
type RecordPrinter struct {
	Add func(migration.Record) error
	End func() error
}

// NewRecordPrinter prints to a screen in the format of -o: table, json or ndjson.
func NewRecordPrinter(s *screen.Screen, output string) RecordPrinter {
	switch output {
	case "ndjson":
		w := bufio.NewWriter(s.Out)
		return RecordPrinter{func(r migration.Record) error { return screen.WriteJSONLine(w, RecordOf(r)) }, w.Flush}
	case "json":
		list := []Record{}
		return RecordPrinter{func(r migration.Record) error { list = append(list, RecordOf(r)); return nil }, func() error { return screen.WriteJSON(s.Out, list) }}
	}
	t := recordTable{s: s}
	return RecordPrinter{t.add, t.end}
}

// recordTable prints a table of records in parts. The columns of a part are as wide
// as its rows need, so all its rows must be known before it is printed.
type recordTable struct {
	s    *screen.Screen
	rows []screen.Row
}

const rowsAtOnce = 5000

func (t *recordTable) add(r migration.Record) error {
	t.rows = append(t.rows, RecordRow(r))
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

// RecordRow returns a row of the table of records.
func RecordRow(r migration.Record) screen.Row {
	if r.Err != nil {
		return screen.Row{r.Path, BadStatus, "", "", r.Err.Error()}
	}
	h := r.Legacy.Header
	at := ""
	if !h.Time.IsZero() {
		at = h.Time.Format(time.RFC3339Nano)
	}
	return screen.Row{r.Path, h.Status.String(), at, string(r.Legacy.Format), summary(r)}
}
