package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
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
	for name, d := range map[string]*Data{"verified": sample(20), "wrong": wronged(), "planned": risky(), "stopped": stopped(), "nothing": {Made: sampleTime, Target: sampleTarget, Status: &migrate.Status{}, Next: noStep}} {
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
