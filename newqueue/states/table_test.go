package states

import (
	"strings"
	"testing"
)

var dialects = []string{design, mrtZK}

func TestTablesHoldTogether(t *testing.T) {
	for _, d := range dialects {
		for _, e := range Entities {
			ids, pairs, reached := map[string]bool{}, map[[2]string]bool{}, map[string]bool{Created: true}
			table := Transitions(e, d)
			for range table { // the longest path has no more steps
				for _, tr := range table {
					if reached[tr.From] {
						reached[tr.To] = true
					}
				}
			}
			for _, tr := range table {
				if ids[tr.ID] || pairs[[2]string{tr.From, tr.To}] {
					t.Errorf("%s %s: twice", d, tr)
				}
				ids[tr.ID], pairs[[2]string{tr.From, tr.To}] = true, true
				if (e == Job) != (tr.Retry != "") {
					t.Errorf("%s %s: every job has these columns, and nothing else has them", d, tr)
				}
			}
			states := States(e, d)
			for _, s := range states {
				if !reached[s] {
					t.Errorf("%s %s: no transition leads to %s", d, e, s)
				}
			}
			for s := range reached {
				if s != Created && s != Removed && !strings.Contains(" "+strings.Join(states, " ")+" ", " "+s+" ") {
					t.Errorf("%s %s: %s is not a state", d, e, s)
				}
			}
		}
	}
}

func TestFromFindSuccess(t *testing.T) {
	chain := map[string]string{
		design: "pending estimating provisioning downloading processing recording notify completed",
		mrtZK:  "pending estimating provisioning downloading processing storing recording notify completed",
	}
	for d, want := range chain {
		table := Transitions(Job, d)
		got := Pending
		for s := Pending; table.Success(s) != ""; {
			if next := table.Success(s); table.Before(next) != s {
				t.Errorf("%s: %q comes before %s, want %s", d, table.Before(next), next, s)
			}
			s = table.Success(s)
			got += " " + s
		}
		if got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if n := Transitions(Job, design).From(Deleted); len(n) != 0 {
		t.Errorf("deleted leads to %v", n)
	}
	if _, ok := Transitions(Access, design).Find(Completed, Pending); ok {
		t.Error("a completed request can't be pending again")
	}
}
