package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate/migration"
)

// A long table is printed in parts: each has a header, and every record is in one of them.
func TestRecordsInParts(t *testing.T) {
	for n, parts := range map[int]int{0: 0, 1: 1, rowsAtOnce: 1, rowsAtOnce + 1: 2} {
		var out bytes.Buffer
		p := NewRecordPrinter(screen.New(&out, &out), "table")
		for i := range n {
			if err := p.Add(migration.Record{Path: fmt.Sprintf("/ingest/%d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
		if headers, rows := strings.Count(out.String(), "RECORD"), strings.Count(out.String(), "/ingest/"); headers != parts || rows != n {
			t.Errorf("%d records: %d of them in %d parts", n, rows, headers)
		}
	}
}
