package follow_test

import (
	"os"
	"strings"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate/internal/follow"
	"mrtq/migrate/internal/standing"
	"mrtq/newqueue"
)

// pageRows are the rows of the table of docs/life.md that begins with a head.
func pageRows(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/life.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n"+head+"\n")
	if !ok {
		t.Fatalf("the page has no table %q", head)
	}
	for _, line := range strings.Split(table, "\n")[1:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// moves is a record that moves.
var moves = follow.Facts{Is: standing.NotMigrated, Decoded: true, Status: legacy.Pending, Released: true}

// TestDecide: each row of the page is what is decided. What makes a row apply also counts if what makes every later row apply is there, too.
func TestDecide(t *testing.T) {
	set := map[string][]func(*follow.Facts){
		"can't be read": {func(f *follow.Facts) { f.Unreadable = true }},
		"migrated, and not handed over": {func(f *follow.Facts) { f.Is = standing.AsMigrated }, func(f *follow.Facts) { f.Is = standing.Changed },
			func(f *follow.Facts) { f.Is = standing.Renamed }},
		"handed over, and there again":            {func(f *follow.Facts) { f.Is = standing.ThereAgain }},
		"completed or deleted":                    {func(f *follow.Facts) { f.Status = legacy.Completed }, func(f *follow.Facts) { f.Status = legacy.Deleted }},
		"a job or a record before it has its key": {func(f *follow.Facts) { f.Twin = "/jobs/jid0000000001" }},
		"consumed":                      {func(f *follow.Facts) { f.Status = legacy.Consumed }},
		"a consumed record has its key": {func(f *follow.Facts) { f.Consumed = "/ingest/mrtQ-05000000000001" }},
		"its queue is not released":     {func(f *follow.Facts) { f.Released = false }},
		"can't be migrated":             {func(f *follow.Facts) { f.Problem = "it is too large" }, func(f *follow.Facts) { f.Problem, f.Decoded, f.Status = "it can't be decoded", false, 0 }},
		"any other":                     {func(*follow.Facts) {}, func(f *follow.Facts) { f.Status = legacy.Held }, func(f *follow.Facts) { f.Status = legacy.Failed }},
	}
	rows := pageRows(t, "| a record | follow | until |")
	if len(rows) != len(set) {
		t.Fatalf("%d rows, expected %d", len(rows), len(set))
	}
	later := []func(*follow.Facts){}
	for i := len(rows) - 1; i >= 0; i-- {
		name, want, until := rows[i][0], rows[i][1], rows[i][2]
		for _, apply := range set[name] {
			for _, others := range append([][]func(*follow.Facts){nil}, later) {
				f := moves
				for _, other := range others {
					other(&f)
				}
				apply(&f)
				fate, why := follow.Decide(f)
				if string(fate) != want || (why != "") != (until != "") {
					t.Errorf("%s: %+v: %s %q, the page says %s", name, f, fate, why, want)
				}
			}
		}
		if name != "any other" {
			later = append([]func(*follow.Facts){set[name][0]}, later...)
		}
	}
}

// TestPlace: each row of the page is where a job goes.
func TestPlace(t *testing.T) {
	open := follow.Batch{Used: true, ID: "bid0000000001", Of: "B", State: newqueue.BatchProcessing, Unfinished: 2, Witness: "/batches/bid0000000001/states/batch-processing/jid0000000001"}
	with := func(change func(*follow.Batch)) []follow.Batch {
		b := open
		change(&b)
		return []follow.Batch{b}
	}
	var others []follow.Batch
	for _, state := range []newqueue.BatchState{"", newqueue.BatchPending, newqueue.BatchHeld, newqueue.BatchReporting, newqueue.BatchUpdateReporting, newqueue.BatchCompleted, newqueue.BatchFailed, newqueue.BatchDeleted} {
		others = append(others, with(func(b *follow.Batch) { b.State = state })...)
	}
	set := map[string][]follow.Batch{
		"nobody has used the name": {{}},
		"processing, not locked, with an unfinished job that two looks saw": {open},
		"the same, but only one look saw its unfinished job":                with(func(b *follow.Batch) { b.Witness = "" }),
		"without an unfinished job":                                         with(func(b *follow.Batch) { b.Unfinished, b.Witness = 0, "" }),
		"locked":                                                            with(func(b *follow.Batch) { b.Locked = true }),
		"in another state":                                                  others,
		"it was removed":                                                    {{Used: true}, {Used: true, Of: "B"}},
		"it has other records":                                              with(func(b *follow.Batch) { b.Of = "B-2" }),
	}
	rows := pageRows(t, "| the batch of the name | the job goes into |")
	if len(rows) != len(set) {
		t.Fatalf("%d rows, expected %d", len(rows), len(set))
	}
	for _, row := range rows {
		for _, b := range set[row[0]] {
			if got := b.Place("B"); string(got) != row[1] {
				t.Errorf("%s: %+v: %s, the page says %s", row[0], b, got, row[1])
			}
		}
		if len(set[row[0]]) == 0 {
			t.Errorf("no batch for the row %q", row[0])
		}
	}
	for n, want := range map[int]string{1: "B", 2: "B-2", 10: "B-10"} {
		if got := follow.Name("B", n); got != want {
			t.Errorf("%d: %s, expected %s", n, got, want)
		}
	}
}
