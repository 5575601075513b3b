package screen

import (
	"bytes"
	"testing"

	"mrtq/migrate"
)

// A list that is written element by element is the same as one written as a whole.
func TestJSONList(t *testing.T) {
	for _, list := range [][]any{{}, {"a"}, {map[string]any{"x": []any{1, "two\nlines \u202e", map[string]any{}}, "y": nil}, 7, []any{}, "<&>"}} {
		var want, got bytes.Buffer
		if err := writeJSON(&want, list); err != nil {
			t.Fatal(err)
		}
		l := newJSONList(&got)
		for _, v := range list {
			if err := l.add(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got\n%s\nwant\n%s", &got, &want)
		}
	}
}

// A plan that is written record by record is the same as one written as a whole.
func TestWritePlan(t *testing.T) {
	for _, p := range []*migrate.Plan{
		{},
		{Run: "run0000000000", Records: migrate.RecordsOf(migrate.Entry{Path: "/a\u202e", Action: migrate.ActCreate}, migrate.Entry{Path: "/b", Reason: "<>"})},
	} {
		var want, got bytes.Buffer
		if err := writeJSON(&want, p); err != nil {
			t.Fatal(err)
		}
		if err := writePlan(&got, p); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got\n%s\nwant\n%s", &got, &want)
		}
	}
}
