package states

import (
	"strings"
	"testing"
)

var dialects = []string{design, mrtZK}

func rows(text string) map[string][]string {
	m := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		m[f[0]] = f[1:]
	}
	return m
}

// What the documents say of a job's transitions in dialect design, typed in by
// hand: last_successful_status, retry_count, batch entry. harness/accept
// (documents.go) compares the transitions themselves with the documents.
const documentedEffects = `
J1 null 0 created
J2 same same moves
J3 same same stays
J4 same same stays
J5 same same stays
J6 oldstate same stays
J7 oldstate same stays
J8 oldstate same stays
J9 same same moves
J10 oldstate same stays
J11 same same moves
J12 oldstate same stays
J13 same same moves
J14 oldstate same moves
J15 same same moves
J16 same +1 moves
J17 same +1 moves
J18 same +1 moves
J19 same +1 moves
J20 – – stays
J21 – – removed
J22 – – removed
`

func TestJobEffectsAreTheDocuments(t *testing.T) {
	want := rows(documentedEffects)
	for _, tr := range Of(Job, design) {
		got := []string{strings.ReplaceAll(string(tr.LastSuccess), " ", ""), string(tr.Retry), string(tr.BatchEntry)}
		if strings.Join(got, " ") != strings.Join(want[tr.ID], " ") {
			t.Errorf("%s: table has %v, documents %v", tr.ID, got, want[tr.ID])
		}
	}
}

// docs/new-layout.md, "Two dialects": in mrt-zk last_successful_status is the
// state that the job leaves, unless the new one is Failed or Deleted; it is null
// at creation. A failure and a resume write the last step of the work, because
// the library's Failed would not say where to resume.
func TestMrtZKLastSuccess(t *testing.T) {
	for _, tr := range Of(Job, mrtZK) {
		want := LSSLeft
		switch {
		case tr.From == Created:
			want = LSSNull
		case tr.To == Failed, tr.From == Failed && tr.To != Deleted:
			want = LSSBefore
		case tr.Nodes == NodesGo:
			want = LSSNone
		case tr.To == Deleted:
			want = LSSSame
		}
		if tr.LastSuccess != want {
			t.Errorf("%s: last_successful_status %s, want %s", tr.ID, tr.LastSuccess, want)
		}
	}
}

func TestTablesHoldTogether(t *testing.T) {
	for _, d := range dialects {
		for _, e := range Entities {
			ids, pairs, reached := map[string]bool{}, map[Pair]bool{}, map[string]bool{Created: true}
			table := Of(e, d)
			for range table { // the longest path has no more steps
				for _, tr := range table {
					if reached[tr.From] {
						reached[tr.To] = true
					}
				}
			}
			for _, tr := range table {
				if ids[tr.ID] || pairs[Pair{tr.From, tr.To}] {
					t.Errorf("%s %s: twice", d, tr)
				}
				ids[tr.ID], pairs[Pair{tr.From, tr.To}] = true, true
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
			legal := 0
			for p := range pairs {
				if p.From != Created && p.To != Removed {
					legal++
				}
			}
			if n := len(Illegal(e, d)); n+legal != len(states)*len(states) {
				t.Errorf("%s %s: %d legal and %d illegal pairs of %d states", d, e, legal, n, len(states))
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
		table := Of(Job, d)
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
	if n := Of(Job, design).From(Deleted); len(n) != 0 {
		t.Errorf("deleted leads to %v", n)
	}
	if _, ok := Of(Access, design).Find(Completed, Pending); ok {
		t.Error("a completed request can't be pending again")
	}
}

// What the documents and the client library demand besides the state, by hand.
const documentedGuards = `
design J16 OnceStepped
design J17 OnceStepped
design J18 OnceStepped
design J19 OnceStepped
mrt-zk J20 OnceReported
both B2 WithoutJobs
both B3 WithoutJobs
both B4 WithoutJobs
both B5 OnceEmptied
both B6 NoneFailed
both B7 SomeFailed
both B9 NoneFailed
both B10 SomeFailed
both B13 OnceFinished
both B14 OnceFinished
`

func TestGuards(t *testing.T) {
	named := map[string]Guard{
		"OnceStepped": OnceStepped, "OnceReported": OnceReported, "WithoutJobs": WithoutJobs, "OnceEmptied": OnceEmptied,
		"NoneFailed": NoneFailed, "SomeFailed": SomeFailed, "OnceFinished": OnceFinished,
	}
	for _, d := range dialects {
		want := map[string]Guard{}
		for line := range strings.Lines(strings.TrimSpace(documentedGuards)) {
			if f := strings.Fields(line); f[0] == d || f[0] == "both" {
				want[f[1]] = named[f[2]]
			}
		}
		for _, e := range Entities {
			for _, tr := range Of(e, d) {
				if tr.Guard != want[tr.ID] {
					t.Errorf("%s %s: guard %q, want %q", d, tr, tr.Guard, want[tr.ID])
				}
			}
		}
	}
}
