package newqueue

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What 03-transitions.md says, typed in by hand and apart from the tables:
// id, from, to, who.
const documented = `
J1 create pending batch-worker
J2 pending failed worker
J3 pending held worker
J4 pending estimating worker
J5 held pending admin
J6 estimating provisioning worker
J7 provisioning downloading worker
J8 downloading processing worker
J9 downloading failed worker
J10 processing recording worker
J11 processing failed worker
J12 recording notify worker
J13 recording failed worker
J14 notify completed worker
J15 notify failed worker
J16 failed downloading admin
J17 failed processing admin
J18 failed recording admin
J19 failed notify admin
J20 completed deleted automatic
J21 failed deleted admin
J22 held deleted admin
B1 create pending API
B2 pending held worker
B3 pending processing worker
B4 held pending admin
B5 processing reporting event
B6 reporting completed worker
B7 reporting failed worker
B8 failed update-reporting admin
B9 update-reporting completed worker
B10 update-reporting failed worker
B11 failed deleted admin
B12 held deleted admin
B13 completed deleted automatic
A1 create pending API
A2 pending processing worker
A3 processing completed worker
A4 processing failed worker
A5 failed processing admin
A6 failed deleted admin
A7 completed deleted automatic
`

// What 02-new-layout.md ("Two dialects of one layout") makes of it in mrt-zk:
// rows that go, and rows that come.
const mrtZKWithout = "J10"

const mrtZKMore = `
J6f estimating failed worker
J7f provisioning failed worker
J10s processing storing worker
J10 storing recording worker
J11s storing failed worker
J16p failed pending admin
J16e failed estimating admin
J16v failed provisioning admin
J17s failed storing admin
J23 deleted removed automatic
B5f processing failed admin
`

func rows(text string) map[string][]string {
	m := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		m[f[0]] = f[1:]
	}
	return m
}

func wanted(d Dialect) map[string][]string {
	m := rows(documented)
	if d == MrtZK {
		delete(m, mrtZKWithout)
		for id, r := range rows(mrtZKMore) {
			m[id] = r
		}
	}
	return m
}

func TestTablesAreTheDocuments(t *testing.T) {
	for _, d := range Dialects {
		want := wanted(d)
		for _, e := range Entities {
			for _, tr := range Transitions(e, d) {
				got := []string{tr.From, tr.To, strings.ReplaceAll(string(tr.Who), " ", "-")}
				if strings.Join(got, " ") != strings.Join(want[tr.ID], " ") {
					t.Errorf("%s %s: table has %v, documents %v", d, tr.ID, got, want[tr.ID])
				}
				delete(want, tr.ID) // a second row of the same id fails above
			}
		}
		for id := range want {
			t.Errorf("%s: %s is not in the tables", d, id)
		}
	}
}

// The columns that 03-transitions gives for jobs in dialect design, by hand:
// last_successful_status, retry_count, batch entry.
const documentedEffects = `
J1 null 0 +processing
J2 same same processing>failed
J3 same same stays
J4 same same stays
J5 same same stays
J6 left same stays
J7 left same stays
J8 left same stays
J9 same same processing>failed
J10 left same stays
J11 same same processing>failed
J12 left same stays
J13 same same processing>failed
J14 left same processing>completed
J15 same same processing>failed
J16 same +1 failed>processing
J17 same +1 failed>processing
J18 same +1 failed>processing
J19 same +1 failed>processing
J20 – – stays
J21 – – failedgoes
J22 – – processinggoes
`

func TestJobEffectsAreTheDocuments(t *testing.T) {
	want := rows(documentedEffects)
	for _, tr := range Transitions(EntityJob, Design) {
		batch := strings.ReplaceAll(strings.ReplaceAll(batchEntryText(tr), " → ", ">"), " ", "")
		got := []string{string(tr.LastSuccess), string(tr.Retry), batch}
		if strings.Join(got, " ") != strings.Join(want[tr.ID], " ") {
			t.Errorf("%s: table has %v, documents %v", tr.ID, got, want[tr.ID])
		}
	}
}

// 02-new-layout: in mrt-zk last_successful_status is the state just left,
// unless the new one is Failed or Deleted; null at creation.
func TestMrtZKLastSuccess(t *testing.T) {
	for _, tr := range Transitions(EntityJob, MrtZK) {
		want := LSSLeft
		switch {
		case tr.From == Created:
			want = LSSNull
		case tr.To == failed:
			want = LSSSame
		case tr.Nodes == NodesGo:
			want = LSSNone
		case tr.To == deleted:
			want = LSSSame
		}
		if tr.LastSuccess != want {
			t.Errorf("%s: last_successful_status %s, want %s", tr.ID, tr.LastSuccess, want)
		}
	}
}

func TestTablesHoldTogether(t *testing.T) {
	for _, d := range Dialects {
		for _, e := range Entities {
			ids, pairs, reached := map[string]bool{}, map[Pair]bool{}, map[string]bool{Created: true}
			table := Transitions(e, d)
			for range table { // as often as the longest way is long
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
				if (e == EntityJob) != (tr.Retry != "") {
					t.Errorf("%s %s: the columns of a job are for jobs, all of them", d, tr)
				}
			}
			states := States(e, d)
			for _, s := range states {
				if !reached[s] {
					t.Errorf("%s %s: no way leads to %s", d, e, s)
				}
			}
			for s := range reached {
				if s != Created && s != Removed && !strings.Contains(" "+strings.Join(states, " ")+" ", " "+s+" ") {
					t.Errorf("%s %s: %s is no state", d, e, s)
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

func TestNextFindSuccess(t *testing.T) {
	chain := map[Dialect]string{
		Design: "pending estimating provisioning downloading processing recording notify completed",
		MrtZK:  "pending estimating provisioning downloading processing storing recording notify completed",
	}
	for d, want := range chain {
		got := pending
		for s := JobPending; Success(s, d) != ""; {
			s = Success(s, d)
			got += " " + string(s)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if n := Next(EntityJob, Design, deleted); len(n) != 0 {
		t.Errorf("deleted leads to %v", n)
	}
	if _, ok := Find(EntityAccess, Design, completed, pending); ok {
		t.Error("a completed request can't be pending again")
	}
}

func TestWriteStates(t *testing.T) {
	for _, d := range Dialects {
		for _, f := range []StatesFormat{StatesTable, StatesMermaid, StatesSVG} {
			var b bytes.Buffer
			if err := WriteStates(&b, d, f); err != nil {
				t.Fatal(err)
			}
			golden(t, "states."+string(d)+"."+string(f), b.Bytes())
			for _, e := range Entities {
				for _, tr := range Transitions(e, d) {
					if !bytes.Contains(b.Bytes(), []byte(tr.ID)) {
						t.Errorf("%s %s: no %s", d, f, tr.ID)
					}
				}
			}
		}
	}
	if err := WriteStates(&bytes.Buffer{}, Design, "dot"); err == nil || err.Error() != `format "dot": not a value that the layout allows: want table, mermaid or svg` {
		t.Error(err)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is different; look, then run go test -update", path)
	}
}
