package planpage

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/internal/goldenfile"
	"mrtq/migrate/migration"
)

var update = flag.Bool("update", false, "rewrite golden files")

func write(t testing.TB, d *Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPage: everything that pages of small plans show, without the style sheet.
func TestPage(t *testing.T) {
	style := regexp.MustCompile(`(?s)(<style>).*?(</style>)|sha256-.*?=`)
	for name, d := range map[string]*Data{"planned": sample(60), "stopped": stopped(), "nothing": {Plan: &migration.Plan{Target: sampleTarget, Choices: migration.DefaultChoices()}}} {
		goldenfile.Compare(t, filepath.Join("testdata", name+".html"), style.ReplaceAllString(write(t, d), "$1$2"), *update)
	}
}

// TestLostComesFirst: what loses work has a tile of its own, in red, before all other effects, and the verdict counts it.
func TestLostComesFirst(t *testing.T) {
	d := sample(60)
	lost := migration.Finding{Kind: "lost-if-unsized", Effect: migration.EffectLost, What: "its priority is 95", Items: d.Findings[0].Items[:1]}
	d.Findings = append([]migration.Finding{lost}, d.Findings...)
	v := newContent(d)
	first := slices.IndexFunc(v.Tiles, func(t tile) bool { return t.Link == "risks" })
	if got, want := v.Tiles[first], (tile{1, "might be lost", "bad", "risks"}); got != want || !strings.Contains(v.Sentence, "1 job might be lost") {
		t.Errorf("%+v, expected %+v, and %q", got, want, v.Sentence)
	}
}

// TestFigures: a page of 100,000 records takes less than 5 s to make, and its
// file is smaller than 30 MB. The test measures processor time, because the
// machine may be busy.
func TestFigures(t *testing.T) {
	d := sample(100_000)
	began, before := time.Now(), processor(t)
	size := len(write(t, d))
	took := processor(t) - before
	if took > 5*time.Second || size > 30<<20 {
		t.Errorf("%v and %d bytes", took, size)
	}
	t.Logf("100,000 records: %.2f s of the processor, %.2f s by the clock, %.1f MB", took.Seconds(), time.Since(began).Seconds(), float64(size)/1e6)
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

// TestWriteFails: Write reports a full disk.
func TestWriteFails(t *testing.T) {
	if err := Write(full{}, sample(3)); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
