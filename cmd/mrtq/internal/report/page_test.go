package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"mrtq/internal/goldenfile"
	"mrtq/migrate"
)

func write(t testing.TB, d *Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var inPage = regexp.MustCompile(`(?s)(<script type="application/json" id="lists">)(.*?)(</script>)`)

// listsOf returns the long lists of a page, as its script reads them.
func listsOf(t testing.TB, html string) (lists []list) {
	t.Helper()
	found := inPage.FindStringSubmatch(html)
	if found == nil {
		t.Fatal("the page has no lists")
	}
	if err := json.Unmarshal([]byte(found[2]), &lists); err != nil {
		t.Fatal(err)
	}
	return lists
}

// TestPage: everything that pages of small migrations show, and the lists that their scripts
// draw. The style sheet and the script are left out.
func TestPage(t *testing.T) {
	for name, d := range map[string]*Data{"verified": sample(20), "wrong": wronged(), "planned": risky(), "stopped": stopped(), "nothing": {Made: sampleTime, Target: sampleTarget, Status: &migrate.Status{}, Next: func(migrate.Step) string { return "" }}} {
		d.Records = d.Records[:min(len(d.Records), 20)]
		comparePage(t, name, write(t, d))
	}
}

var aside = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|sha256-.*?=`)

// comparePage compares a page, and its lists, with their golden files.
func comparePage(t *testing.T, name, html string) {
	t.Helper()
	lists, err := json.MarshalIndent(listsOf(t, html), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	shown := aside.ReplaceAllString(inPage.ReplaceAllString(html, "$1$3"), "$1$2$3$4")
	goldenfile.Compare(t, filepath.Join("testdata", name+".html"), shown, *update)
	goldenfile.Compare(t, filepath.Join("testdata", name+".json"), string(lists)+"\n", *update)
}

// TestRecords: the page has each record with all its values.
func TestRecords(t *testing.T) {
	d := sample(500)
	lists := listsOf(t, write(t, d))
	var names []string
	for _, l := range lists {
		names = append(names, l.ID)
	}
	if want := []string{"records", "late"}; !slices.Equal(names, want) {
		t.Fatalf("lists %v, want %v", names, want)
	}
	if len(lists[0].Rows) != len(d.Records) {
		t.Fatalf("%d records, want %d", len(lists[0].Rows), len(d.Records))
	}
	for i, r := range d.Records {
		want := map[string]any{"path": r.Path, "outcome": string(r.Outcome), "job": r.Job, "state": r.State, "batch": r.Batch, "queue": string(r.Queue),
			"status": r.Status, "priority": float64(r.Priority()), "why": r.Reason, "format": r.Format, "time": float64(r.Time.UnixMilli()), "run": r.Run}
		if r.Time.IsZero() {
			want["time"] = nil
		}
		for k, c := range lists[0].Columns {
			if got := lists[0].Rows[i][k]; got != want[c.Name] {
				t.Fatalf("record %d: %s is %v, want %v", i, c.Name, got, want[c.Name])
			}
			delete(want, c.Name)
		}
		if len(want) > 0 {
			t.Fatalf("no columns for %v", want)
		}
	}
}

// TestNumbers: the numbers of a page add up to the number of its records: each row and each
// column of the table by queue, and what was left out with what was not.
func TestNumbers(t *testing.T) {
	for name, d := range map[string]*Data{"verified": sample(500), "planned": planned(), "wrong": wronged()} {
		v := newContent(d)
		sum := func(numbers []int) (n int) {
			for _, x := range numbers {
				n += x
			}
			return n
		}
		all := len(d.Records)
		if v.Cross.Total.All != all || sum(v.Cross.Total.N) != all {
			t.Errorf("%s: of %d records, the table has %+v", name, all, v.Cross.Total)
		}
		columns := make([]int, len(v.Cross.Outcomes))
		for _, row := range v.Cross.Rows {
			if sum(row.N) != row.All {
				t.Errorf("%s: the row %+v does not add up", name, row)
			}
			for i, n := range row.N {
				columns[i] += n
			}
		}
		if !slices.Equal(columns, v.Cross.Total.N) {
			t.Errorf("%s: the columns add up to %v, want %v", name, columns, v.Cross.Total.N)
		}
		in := 0
		for _, r := range d.Records {
			if withJob[r.Outcome] {
				in++
			}
		}
		left := 0
		for _, l := range v.LeftOut {
			left += l.N
		}
		if in+left != all {
			t.Errorf("%s: of %d records, %d are in and %d left out", name, all, in, left)
		}
	}
}

// TestFigures: a page of 100,000 records takes less than 5 s to make, and its
// file is smaller than 30 MB. The test measures processor time, because the
// machine may be busy.
func TestFigures(t *testing.T) {
	d := sample(100_000)
	began, before := time.Now(), processor(t)
	n := &counter{}
	if err := Write(n, d); err != nil {
		t.Fatal(err)
	}
	took := processor(t) - before
	if took > 5*time.Second || n.n > 30<<20 {
		t.Errorf("%v and %d bytes", took, n.n)
	}
	t.Logf("100,000 records: %.2f s of the processor, %.2f s by the clock, %.1f MB", took.Seconds(), time.Since(began).Seconds(), float64(n.n)/1e6)
}

// processor is the processor time of this process.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }

// TestWriteFails: Write reports a full disk.
func TestWriteFails(t *testing.T) {
	if err := Write(full{}, sample(3)); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
