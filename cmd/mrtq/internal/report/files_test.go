package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout"
)

func TestReadFindings(t *testing.T) {
	const file = `{"findings":[{"path":"/a","rule":"r1","severity":"warning","expected":"x","found":"y","mend":"z"},{"path":"/b","rule":"r2","severity":"info"},
		{"path":"/c","rule":"r3","severity":"error","new":{"a":1}}],"tree":"zk1"}`
	got, err := ReadFindings(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []layout.Finding{{Path: "/c", Rule: "r3", Severity: layout.Error}, {Path: "/a", Rule: "r1", Severity: layout.Warning, Expected: "x", Found: "y", Mend: "z"}, {Path: "/b", Rule: "r2", Severity: layout.Info}}
	if !slices.Equal(got.Findings, want) || got.Count(layout.Error) != 1 {
		t.Errorf("%+v, want %+v", got.Findings, want)
	}
	if none, err := ReadFindings(strings.NewReader(`{"findings":[]}`)); err != nil || len(none.Findings) > 0 {
		t.Errorf("%+v, %v", none, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"findings":{}}`, `{"findings":[{}]}`, `{"findings":[{"path":"/a","rule":"r","severity":"odd"}]}`, `{"findings":[]} x`, strings.Repeat("[", 20000)} {
		if _, err := ReadFindings(strings.NewReader(bad)); !errors.Is(err, ErrFindings) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
}

func TestReadCoverage(t *testing.T) {
	c, err := ReadCoverage(strings.NewReader(`{"rows":[{"id":"J1","what":"w","dialect":"design","result":"passed"},{"id":"J1","what":"w","dialect":"mrt-zk","result":"failed"}]}`))
	if err != nil || c.Count(CoveragePassed) != 1 || c.In("mrt-zk").Count(CoverageFailed) != 1 || len(c.In("design").Rows) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{``, `{}`, `{"rows":[]}`, `{"rows":[{"id":"J1"}]}`, `[{"uri":"a.feature"}]`} {
		if _, err := ReadCoverage(strings.NewReader(bad)); !errors.Is(err, ErrCoverage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
