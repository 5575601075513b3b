package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

var packed = regexp.MustCompile(`(?s)(<script type="application/gzip;base64" id="packed">)(.*?)(</script>)`)

// unpacked returns the long lists of a page, as its script unpacks them.
func unpacked(t testing.TB, html string) (lists []list) {
	t.Helper()
	found := packed.FindStringSubmatch(html)
	if found == nil {
		t.Fatal("the page has no lists")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(found[2])))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&lists); err != nil {
		t.Fatal(err)
	}
	return lists
}

// TestPage: everything that pages of small migrations show, and the lists that their scripts
// draw. The style sheet and the script are left out.
func TestPage(t *testing.T) {
	aside := regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|sha256-.*?=`)
	for name, d := range map[string]*Data{"verified": sample(20), "wrong": wronged(), "planned": risky(), "nothing": {Made: sampleTime, Target: sampleTarget, Status: &migrate.Status{}}} {
		d.Records = d.Records[:min(len(d.Records), 20)]
		html := write(t, d)
		lists, err := json.MarshalIndent(unpacked(t, html), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		shown := aside.ReplaceAllString(packed.ReplaceAllString(html, "$1$3"), "$1$2$3$4")
		goldenfile.Compare(t, filepath.Join("testdata", name+".html"), shown, *update)
		goldenfile.Compare(t, filepath.Join("testdata", name+".json"), string(lists)+"\n", *update)
	}
}

// TestRecords: the page has each record with all its values.
func TestRecords(t *testing.T) {
	d := sample(500)
	lists := unpacked(t, write(t, d))
	var names []string
	for _, l := range lists {
		names = append(names, l.ID)
	}
	if want := []string{"records", "late", "warnings", "findings"}; !slices.Equal(names, want) {
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

// TestNumbers: the numbers of a page add up to the number of its records: the numbers at the
// top, each row and each column of the table by queue, what was left out with what was not,
// and each chart.
func TestNumbers(t *testing.T) {
	for name, d := range map[string]*Data{"verified": sample(500), "planned": planned(), "wrong": wronged()} {
		v := newView(d)
		sum := func(numbers []int) (n int) {
			for _, x := range numbers {
				n += x
			}
			return n
		}
		all := len(d.Records)
		if v.Cross.Total.All != all || sum(v.Cross.Total.N) != all || v.Tiles[0].N != number(all) || len(v.Tiles) != 1+len(v.Cross.Outcomes) {
			t.Errorf("%s: of %d records, the table has %+v, and the tiles are %v", name, all, v.Cross.Total, v.Tiles)
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
			if r.Job != "" || r.Outcome == migrate.WillBeCreated {
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
		if len(v.Charts) != 4 {
			t.Errorf("%s: %d charts", name, len(v.Charts))
		}
		for _, c := range v.Charts {
			n := c.Unknown
			for _, b := range c.Bars {
				n += b.N
			}
			if n != in {
				t.Errorf("%s: the chart %q has %d records, want %d", name, c.Title, n, in)
			}
		}
	}
}

func TestAges(t *testing.T) {
	day := 24 * time.Hour
	var records []*migrate.RecordStatus
	for _, age := range []time.Duration{time.Hour - 1, -time.Hour, time.Hour, 6 * day, 400 * day, 30 * 365 * day} {
		records = append(records, &migrate.RecordStatus{Time: sampleTime.Add(-age)})
	}
	c := ages("ages", append(records, &migrate.RecordStatus{}), sampleTime)
	var got []string
	for _, b := range c.Bars {
		got = append(got, fmt.Sprintf("%s %d %.0f%%", b.Label, b.N, b.Width))
	}
	want := []string{"under an hour 2 100%", "under a day 1 50%", "under a week 1 50%", "under 3 years 1 50%", "older 1 50%"}
	if !slices.Equal(got, want) || c.Unknown != 1 {
		t.Errorf("%q, %d not known, want %q", got, c.Unknown, want)
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
