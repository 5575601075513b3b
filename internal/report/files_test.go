package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadFindings(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"findings":[]}`, ""},
		{`{"findings":[{"path":"/a","rule":"r1","severity":"warning","expected":"x","found":"y","mend":"z"},{"path":"/b","rule":"r2","severity":"error","new":{"a":1}}],"tree":"zk1"}`,
			`/b r2 error "" "" ""; /a r1 warning "x" "y" "z"`},
		{`{"findings":[{"rule":"r","severity":"WARN","found":12,"mend":{"op":"delete"}},{"path":"/c"},{"path":"/d","severity":"odd"},{"path":"/e","severity":"info"}]}`,
			`/c  error "" "" ""; /d  odd "" "" "";  r warning "" "12" "{\"op\":\"delete\"}"; /e  information "" "" ""`},
	} {
		got, err := ReadFindings(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		var texts []string
		for _, f := range got.Findings {
			texts = append(texts, fmt.Sprintf("%s %s %s %q %q %q", f.Path, f.Rule, f.Severity, f.Expected, f.Found, f.Mend))
		}
		if text := strings.Join(texts, "; "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.in, text, c.want)
		}
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"findings":{}}`, `{"findings":[{}]}`, `{"findings":[]} x`, strings.Repeat("[", 20000)} {
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
