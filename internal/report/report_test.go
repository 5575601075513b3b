package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/internal/goldenfile"
)

// golden compares with a file in testdata, which -update rewrites.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", name), string(got), *update)
}

// TestData: everything that the page gets to show, for a small night.
func TestData(t *testing.T) {
	d := sample(20)
	d.Records[3].Outcome, d.Records[3].Reason = NotMigrated, "it came after the plan"
	v := newView(d)
	lists := unpacked(t, write(t, d))
	v.Records, v.Batches, v.Wrong, v.Notes, v.Findings.List = list{}, list{}, nil, nil, list{}
	for i := range v.Machines {
		v.Machines[i].SVG = "" // statedraw's tests have it
	}
	text, err := json.MarshalIndent(map[string]any{"view": v, "lists": lists}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "data.json", append(text, '\n'))
}

// TestPacked: the page unpacks the same values for each record that the data
// has.
func TestPacked(t *testing.T) {
	d := sample(500)
	lists := unpacked(t, write(t, d))
	var names []string
	for _, l := range lists {
		names = append(names, l.ID)
	}
	if want := []string{"records", "batches", "warnings", "findings"}; !slices.Equal(names, want) {
		t.Fatalf("lists %v, want %v", names, want)
	}
	cell := func(c listColumn, i int) string {
		switch {
		case c.Numbers != nil && c.Numbers[i] == nil:
			return ""
		case c.Numbers != nil:
			return fmt.Sprint(*c.Numbers[i])
		case c.Which != nil:
			return c.Words[c.Which[i]]
		}
		return strings.Split(c.Lines, "\n")[i]
	}
	millis := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return fmt.Sprint(t.UnixMilli())
	}
	for i, r := range d.Records {
		want := map[string]string{"record": r.Path, "outcome": string(r.Outcome), "job": r.Job, "id": r.Job[strings.LastIndexByte(r.Job, '/')+1:], "state": r.State, "batch": r.Batch, "queue": r.Queue,
			"status": r.Status, "priority": fmt.Sprint(r.Priority), "reason": r.Reason, "format": r.Format, "time": millis(r.Time), "planned": r.Planned, "forced": r.Forced, "run": r.Run, "at": millis(r.At)}
		for _, c := range lists[0].Columns {
			if got := cell(c, i); got != want[c.Name] {
				t.Fatalf("record %d: %s is %q, want %q", i, c.Name, got, want[c.Name])
			}
			delete(want, c.Name)
		}
		if len(want) > 0 {
			t.Fatalf("no columns for %v", want)
		}
	}
}

func TestVerdict(t *testing.T) {
	night := func(change func(d *Data)) *Data { d := sample(100); change(d); return d }
	plan := func(change func(d *Data)) *Data {
		d := planned()
		d.Plan.Risks, d.Plan.Locks = nil, nil
		change(d)
		return d
	}
	for _, c := range []struct {
		name       string
		d          *Data
		word, tone string
	}{
		{"all is well", sample(100), "Verified", toneGood},
		{"everything is wrong", wronged(), "Damaged", toneBad},
		{"running", night(func(d *Data) { d.Runs[0].State = RunRunning }), "Unfinished", toneBad},
		{"rolling back", night(func(d *Data) { d.Runs[0].State = RunRollingBack }), "Unfinished", toneBad},
		{"rolled back", night(func(d *Data) { d.Runs[0].State = RunRolledBack }), "Rolled back", toneWarn},
		{"differs", night(func(d *Data) { d.Verification.Differences = []Problem{{Path: "/x"}} }), "Differs", toneBad},
		{"an error of the check", night(func(d *Data) { d.Check.Findings[0].Severity = "error" }), "Faulty", toneBad},
		{"a row that failed", night(func(d *Data) { d.Coverage.Rows[0].Result = CoverageFailed }), "Unproved", toneBad},
		{"another plan", night(func(d *Data) { d.Plan.Carried = "" }), "Not this plan", toneWarn},
		{"without source", night(func(d *Data) { d.Verification = nil }), "Not compared", toneWarn},
		{"quarantine not looked at", night(func(d *Data) { d.Verification.Quarantined, d.Verification.QuarantineChecked = 3, false }), "Verified", toneWarn},
		{"nothing there", night(func(d *Data) { d.Runs, d.Plan = nil, nil }), "Not begun", toneInfo},
		{"ready", plan(func(*Data) {}), "Ready", toneGood},
		{"blocked", plan(func(d *Data) { d.Plan.Problems = []Problem{{}} }), "Stopped", toneBad},
		{"nothing to do", plan(func(d *Data) { d.Plan.Empty = true }), "Nothing to do", toneGood},
		{"risky", planned(), "Ready, with risk", toneWarn},
		{"locks", plan(func(d *Data) { d.Plan.Locks = []LegacyLock{{}} }), "Ready, with care", toneWarn},
	} {
		v := c.d.verdict()
		if v.Word != c.word || v.Tone != c.tone || !strings.HasSuffix(v.Sentence, ".") {
			t.Errorf("%s: %+v, want %s, %s", c.name, v, c.word, c.tone)
		}
	}
}

// Whatever the page is made from, what to do next follows from its verdict.
func TestNextFollowsVerdict(t *testing.T) {
	want := map[string]string{
		"At work": "STATUS", "Damaged": "STATUS", "Unfinished": "STATUS", "Differs": "VERIFY", "Faulty": "mend what mrtq check found, and check again before anything is released: CHECK",
		"Unproved":    "find out why mrtq accept failed, before anything is released",
		"Rolled back": "STATUS", "Not this plan": "find out which plan run0000000000 was begun with, before anything is released",
		"Not compared": "STATUS", "Verified": "VERIFY", "Not begun": "STATUS",
		"Stopped": "decide or mend what is listed, then make a new plan: PLAN", "Nothing to do": "",
		"Ready, with risk": "look at the risks, then carry it out: MIGRATE", "Ready, with care": "look at what is listed, then carry it out: MIGRATE", "Ready": "carry it out: MIGRATE",
	}
	type part struct {
		name   string
		change func(d *Data)
	}
	nothing := part{"-", func(*Data) {}}
	parts := [][]part{
		{nothing, {"at work", func(d *Data) { d.AtWork = true }}},
		{nothing, {"damage", func(d *Data) { d.Damage = []Problem{{}} }}},
		{{"no run", func(d *Data) { d.Runs = nil }}, {"running", func(d *Data) { d.Runs[0].State = RunRunning }}, {"done", func(*Data) {}},
			{"rolling back", func(d *Data) { d.Runs[0].State = RunRollingBack }}, {"rolled back", func(d *Data) { d.Runs[0].State = RunRolledBack }},
			{"done, and a later one is running", func(d *Data) { d.Only, d.Latest = d.Runs[0].ID, Run{ID: "run0000000001", State: RunRunning} }}},
		{{"not compared", func(d *Data) { d.Verification = nil }}, {"verified", func(*Data) {}},
			{"differs", func(d *Data) { d.Verification.Differences = []Problem{{}} }},
			{"quarantine not checked", func(d *Data) { d.Verification.Quarantined, d.Verification.QuarantineChecked = 3, false }}},
		{nothing, {"faulty", func(d *Data) { d.Check.Findings[0].Severity = "error" }}},
		{nothing, {"unproved", func(d *Data) { d.Coverage.Rows[0].Result = CoverageFailed }}},
		{{"no plan", func(d *Data) { d.Plan = nil }}, {"carried", func(*Data) {}}, {"another plan", func(d *Data) { d.Plan.Carried = "" }},
			{"pending", func(d *Data) { d.Plan.Carried, d.Plan.Pending, d.Plan.Locks = "", true, nil }},
			{"pending, with locks", func(d *Data) { d.Plan.Carried, d.Plan.Pending = "", true }},
			{"pending, with problems", func(d *Data) { d.Plan.Carried, d.Plan.Pending, d.Plan.Problems = "", true, []Problem{{}} }},
			{"pending, with risk", func(d *Data) {
				d.Plan.Carried, d.Plan.Pending, d.Plan.Risks = "", true, []Risk{{Twice: 1, Chosen: true}}
			}},
			{"empty", func(d *Data) { d.Plan.Carried, d.Plan.Empty = "", true }}},
	}
	seen := map[string]bool{}
	var try func(chosen []part)
	try = func(chosen []part) {
		if len(chosen) < len(parts) {
			for _, p := range parts[len(chosen)] {
				try(append(chosen[:len(chosen):len(chosen)], p))
			}
			return
		}
		d, name := sample(20), ""
		d.Next = Next{Status: "STATUS", Verify: "VERIFY", Plan: "PLAN", Migrate: "MIGRATE", Check: "CHECK"}
		for _, p := range chosen {
			p.change(d)
			name += p.name + "; "
		}
		v := d.verdict()
		seen[v.Word] = true
		if next, ok := want[v.Word]; !ok || v.Next != next {
			t.Errorf("%s: %q, then %q, want %q", name, v.Word, v.Next, next)
		}
	}
	try(nil)
	for word := range want {
		if !seen[word] {
			t.Errorf("no combination has the verdict %q", word)
		}
	}
}

func TestAges(t *testing.T) {
	now := sampleTime
	at := func(d time.Duration) *Record { return &Record{Time: now.Add(-d)} }
	day := 24 * time.Hour
	c := ageChart([]*Record{at(time.Hour - 1), at(-time.Hour), at(time.Hour), at(6 * day), at(400 * day), at(30 * 365 * day), {}}, now)
	got := map[string]int{}
	for _, b := range c.Bars {
		got[b.Label] = b.N
	}
	want := map[string]int{"under an hour": 2, "under a day": 1, "under a week": 1, "under 30 days": 0, "under 90 days": 0, "under a year": 0, "under 3 years": 1, "older": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) || c.Unknown != 1 {
		t.Errorf("%v, %d not known, want %v", got, c.Unknown, want)
	}
}

func TestRate(t *testing.T) {
	times := func(step time.Duration, n int) (at []time.Time) {
		for i := range n {
			at = append(at, sampleTime.Add(time.Duration(i)*step))
		}
		return at
	}
	for _, c := range []struct {
		name             string
		at               []time.Time
		bin, peak, known string
		columns          int
	}{
		{"an even minute", times(10*time.Millisecond, 6000), "1 s", "100", "", 60},
		{"a day", times(time.Minute, 1440), "30 m 0 s", "0.0167", "", 48},
		{"a moment", times(0, 50), "", "", "All 50 jobs were made at one moment, 22:00:00.000 UTC, so there is no rate.", 0},
		{"clocks that are centuries apart", append(times(time.Second, 3), time.Unix(0, 0), time.Date(2290, 1, 1, 0, 0, 0, 0, time.UTC)), "365 d", "", "", 0},
	} {
		r := rateOf("run0000000000", c.at)
		if r.NotKnown != c.known || c.known == "" && r.Bin != c.bin || c.peak != "" && r.Peak != c.peak || c.columns > 0 && len(r.Chart.Columns) != c.columns {
			t.Errorf("%s: bin %s, peak %s, %d columns, %q", c.name, r.Bin, r.Peak, len(r.Chart.Columns), r.NotKnown)
		}
		for _, col := range r.Chart.Columns {
			if col.X < 0 || col.X > 100 || col.H < 0 || col.H > 100 {
				t.Errorf("%s: column %+v", c.name, col)
			}
		}
	}
}

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

// TestFigures: a page of 100,000 records is made in less than 5 s, and is a
// file of less than 30 MB. The test measures processor time, because the
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
