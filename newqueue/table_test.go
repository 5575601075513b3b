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
J1 null 0 processingcreated
J2 same same processing>failed
J3 same same stays
J4 same same stays
J5 same same stays
J6 oldstate same stays
J7 oldstate same stays
J8 oldstate same stays
J9 same same processing>failed
J10 oldstate same stays
J11 same same processing>failed
J12 oldstate same stays
J13 same same processing>failed
J14 oldstate same processing>completed
J15 same same processing>failed
J16 same +1 failed>processing
J17 same +1 failed>processing
J18 same +1 failed>processing
J19 same +1 failed>processing
J20 – – stays
J21 – – failedremoved
J22 – – processingremoved
`

func TestJobEffectsAreTheDocuments(t *testing.T) {
	want := rows(documentedEffects)
	for _, tr := range Transitions(EntityJob, Design) {
		packed := strings.NewReplacer(" → ", ">", " ", "")
		got := []string{packed.Replace(string(tr.LastSuccess)), string(tr.Retry), packed.Replace(batchEntryText(tr))}
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
	for _, tr := range Transitions(EntityJob, MrtZK) {
		want := LSSLeft
		switch {
		case tr.From == Created:
			want = LSSNull
		case tr.To == failed, tr.From == failed && tr.To != deleted:
			want = LSSBefore
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
				if (e == EntityJob) != (tr.Retry != "") {
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
