package watching

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mrtq/internal/goldenfile"
	"mrtq/migrate"
	"mrtq/migrate/live"
	"mrtq/newqueue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func viewText(v live.View, width int) string {
	var b strings.Builder
	for _, l := range watchLines(v, width) {
		b.WriteString(l.plain(width) + "\n")
	}
	return b.String()
}

// A view at the usual widths, with hostile names.
func TestWatchViews(t *testing.T) {
	for name, width := range map[string]int{"watch80.txt": 80, "watch120.txt": 120} {
		got := viewText(fullView(), width)
		goldenfile.Compare(t, filepath.Join("testdata", name), got, *update)
	}
}

// A server that keeps silent is told from one that can't be reached.
func TestNotConnected(t *testing.T) {
	v := night()
	v.Connected, v.Troubled = false, 12
	for trouble, want := range map[string]string{
		"no answer from the server": "NO ANSWER from the server for 12s\nTrying again. The rest was read at 2026-11-21T23:01:12Z.\n",
		"connection refused":        "NOT CONNECTED for 12s: connection refused\nTrying again. The rest was read at 2026-11-21T23:01:12Z.\n",
	} {
		if v.Trouble = trouble; !strings.Contains(viewText(v, 80), want) {
			t.Errorf("%s", viewText(v, 80))
		}
	}
}

// night is a busy queue during a migration, with everything that watch can show.
func night() live.View {
	at := time.Date(2026, 11, 21, 23, 1, 12, 0, time.UTC)
	v := live.View{
		Target: "zk1.example.org:2181,zk2.example.org:2181,zk3.example.org:2181/merritt/new", Time: at, AsOf: at, Connected: true,
		Batches: []live.Queue{{Name: "batches", Count: 41, In: number(130), Out: number(0), Oldest: &live.OldestView{ID: "bid0000000000", Seconds: 19, Here: 19}}},
		Access:  []live.Queue{{Name: "small", In: number(0), Out: number(0)}, {Name: "large", Count: 2, In: number(0), Out: number(3), Oldest: &live.OldestView{ID: "qid0000000004", Seconds: 3, Here: 3}}},
		Holds:   []live.HoldView{{Name: "accessLarge", Seconds: 19}, {Name: "accessSmall", Seconds: 19}, {Name: "ingest", Seconds: 19}},
		Migration: &live.RunView{Run: "run0000000000", State: migrate.Running, Source: "zk1.example.org:2181,zk2.example.org:2181,zk3.example.org:2181", Dialect: "mrt-zk",
			Started: at.Add(-19 * time.Second), Records: 12000, Total: 20000, RecordRate: number(650)},
		Migrators: 1, Leader: "ops1 pid 4711 since 2026-11-21T23:00:52Z",
		Locks: live.LocksView{Count: map[live.LockKind]int{live.LockJob: 20, live.LockStorage: 2}, Oldest: 400},
	}
	for i, state := range newqueue.MrtZK.JobStates() {
		q := live.Queue{Name: string(state), In: number(0), Out: number(0)}
		if i%3 == 0 {
			q.Count, q.In, q.Oldest = 11400+i, number(36000), &live.OldestView{ID: "jid0000000013", Seconds: 19, Here: 19}
		}
		v.Jobs = append(v.Jobs, q)
	}
	for i, node := range []string{"/ingest", "/mrt.inventory.full", "/accessSmall.1", "/accessLarge.1", "/mrt.lock"} {
		v.Source = append(v.Source, live.Queue{Name: node, Count: 12000 * i, In: number(float64(i)), Out: number(3)})
	}
	v.Locks.List = append(v.Locks.List, live.LockView{Kind: live.LockStorage, Path: "/locks/storage/" + strings.Repeat("ark_99999_fk4abc123_", 5), Seconds: 400},
		live.LockView{Kind: live.LockStorage, Path: "/locks/storage/ark_99999_fk4abc124", Seconds: 300})
	for i := range 20 {
		v.Locks.List = append(v.Locks.List, live.LockView{Kind: live.LockJob, Path: fmt.Sprintf("/jobs/jid%010d/lock", i), Seconds: float64(30 - i), Session: "0x1a2007f6b3f0001"})
	}
	return v
}

// A busy migration on terminals of usual sizes: the view takes fewer lines if it does not fit,
// and loses nothing important.
func TestWatchScreens(t *testing.T) {
	for name, size := range map[string][2]int{"watch80x24.txt": {80, 24}, "watch120x40.txt": {120, 40}, "watch120x24.txt": {120, 24}} {
		var b strings.Builder
		lines := clipped(watchLines(night(), size[0]), size[1])
		for _, l := range lines {
			b.WriteString(l.plain(size[0]) + "\n")
		}
		goldenfile.Compare(t, filepath.Join("testdata", name), b.String(), *update)
		got := strings.Join(strings.Fields(strings.ToLower(b.String())), " ")
		for _, q := range night().Source {
			if !strings.Contains(got, strings.ToLower(q.Name)+" "+fmt.Sprint(q.Count)) {
				t.Errorf("%s: %s with %d is lost", name, q.Name, q.Count)
			}
		}
		for _, q := range night().Jobs {
			if !strings.Contains(got, q.Name) {
				t.Errorf("%s: %s is lost", name, q.Name)
			}
		}
		for _, words := range []string{"locks 22, the oldest for 6m40s: 20 job, 2 storage", "650/s", "ingest for 19s", "more lines"} {
			if !strings.Contains(got, words) {
				t.Errorf("%s: %q is lost", name, words)
			}
		}
	}
}

// A name that is longer than its column is shown in full.
func TestWatchKeepsLongNames(t *testing.T) {
	v := night()
	long := "/" + strings.Repeat("a-long-name/", 8) + "end"
	v.Source[0].Name, v.Jobs[0].Name = long, "a-state-that-no-table-has"
	for _, width := range []int{80, 120} {
		got := strings.Join(strings.Fields(viewText(v, width)), "")
		for _, name := range []string{long, v.Jobs[0].Name, v.Target, v.Locks.List[0].Path} {
			if !strings.Contains(got, name) {
				t.Errorf("%d columns: %s is cut:\n%s", width, name, viewText(v, width))
			}
		}
	}
}

// A view fits a terminal of any size, has no control characters, and never panics.
func TestWatchLinesFit(t *testing.T) {
	views := map[string]live.View{"full": fullView(), "empty": {}, "nothing there": {Connected: true}, "no queue": {Connected: true}}
	lost := fullView()
	lost.Connected, lost.Trouble, lost.Troubled = false, "an answer with \x1b[2J in it", 12
	views["lost"] = lost
	long := fullView()
	long.Target = strings.Repeat("zk1:2181,", 100)
	long.Jobs[0].Name = strings.Repeat("生命", 100)
	long.Notes = []string{strings.Repeat("word ", 100)}
	views["long"] = long
	for name, v := range views {
		for width := 1; width <= 200; width += 1 + width/10 {
			lines := watchLines(v, width)
			for _, l := range lines {
				if got := text.StringWidthWithoutEscSequences(l.plain(width)); got > width {
					t.Errorf("%s: %d columns of %d: %q", name, got, width, l.plain(width))
				}
				for _, r := range l.text {
					if r < ' ' || r == '\u202e' {
						t.Errorf("%s: %q", name, l.text)
						break
					}
				}
			}
			for height := 1; height < len(lines)+2; height += 1 + height/10 {
				fitting := clipped(watchLines(v, width), height)
				if len(fitting) > height {
					t.Errorf("%s: %d lines of %d: %v", name, len(fitting), height, fitting[len(fitting)-1])
				}
				if len(lines) <= height && !slices.EqualFunc(lines, fitting, func(a, b line) bool { return a.text == b.text }) {
					t.Errorf("%s: %d lines fit into %d, and others are shown", name, len(lines), height)
				}
			}
		}
	}
}

// runText says in one line how far a run is.
func TestRunText(t *testing.T) {
	ended := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, r := range map[string]live.RunView{
		"run0000000000: its record can't be used":                                   {Run: "run0000000000", Damage: "x"},
		"run0000000000 running: 0 records":                                          {State: migrate.Running},
		"run0000000000 running: 1 of 3 records (33%)":                               {State: migrate.Running, Records: 1, Total: 3},
		"run0000000000 running: 1 of 3 records (33%), 0.5/s":                        {State: migrate.Running, Records: 1, Total: 3, RecordRate: number(0.5)},
		"run0000000000 running: 1 of 3 records (33%), 0/s":                          {State: migrate.Running, Records: 1, Total: 3, RecordRate: number(0)},
		"run0000000000 done: 3 of 3 records (100%), ended 2026-11-21T12:00:00Z":     {State: migrate.Done, Records: 3, Total: 3, Finished: ended},
		"run0000000000 done: 1 record, ended 2026-11-21T12:00:00Z":                  {State: migrate.Done, Records: 1, Finished: ended, RecordRate: number(0)},
		"run0000000000 unfinished: 2 of 3 records (66%)":                            {State: migrate.Running, Records: 2, Total: 3},
		"run0000000000 done, released: ingest: 3 of 3 records (100%)":               {State: migrate.Done, Records: 3, Total: 3, Released: []newqueue.QueueHold{newqueue.HoldIngest}},
		"run0000000000 released: 3 of 3 records (100%), ended 2026-11-21T12:00:00Z": {State: migrate.Done, Records: 3, Total: 3, Finished: ended, Released: newqueue.QueueHolds},
		"run0000000000 rolled back, ended 2026-11-21T12:00:00Z":                     {State: migrate.RolledBack, Records: 3, Total: 3, Finished: ended},
		"run0000000000 retiring: 7 transactions":                                    {State: migrate.Retiring, Records: 3, Transactions: 7},
		"run0000000000 rolling back: 7 transactions, 2.0/s":                         {State: migrate.RollingBack, Records: 3, Transactions: 7, TransactionRate: number(2), Finished: ended},
	} {
		r.Run = "run0000000000"
		if got := runText(r, !strings.Contains(want, "unfinished")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// watch names the records that status names, and after a rollback that kept jobs the retire that
// is left, unless a record could run twice: then status says to look at that first.
func TestWatchNamesRecords(t *testing.T) {
	ended := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	named := func(paths ...string) live.Named { return live.Named{Count: len(paths), First: paths} }
	const (
		over   = "MAY HAVE RUN TWICE: 2 records changed in the legacy queue since the migration, and the job is over: /ingest/a, /ingest/b\n"
		note   = "NOTE: for what to do about the legacy records: mrtq status zk1/new zk1\n"
		retire = "2 legacy records must not run again: next, before legacy workers start, mrtq retire"
	)
	for name, c := range map[string]struct {
		state    migrate.RunState
		records  live.RecordsView
		has, not []string
	}{
		"nothing":            {migrate.Done, live.RecordsView{}, nil, []string{"TWICE", "NOTE", "retire"}},
		"changed and over":   {migrate.Done, live.RecordsView{Over: named("/ingest/a", "/ingest/b")}, []string{over, note}, []string{"COULD RUN TWICE", "retire"}},
		"rolled back":        {migrate.RolledBack, live.RecordsView{}, nil, []string{"NOTE", "retire"}},
		"kept":               {migrate.RolledBack, live.RecordsView{Kept: 2}, []string{retire, note}, nil},
		"kept, one is taken": {migrate.RolledBack, live.RecordsView{Kept: 2, Twice: named("/ingest/a")}, []string{"COULD RUN TWICE", note}, []string{"retire"}},
	} {
		w := &Watch{Target: "zk1/new", Source: "zk1"}
		w.saw(live.View{AsOf: ended, Migration: &live.RunView{Run: "run0000000000", State: c.state, Finished: ended}})
		w.checked.records = &c.records
		got := viewText(w.view(ended), 120)
		for _, text := range c.has {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q is missing:\n%s", name, text, got)
			}
		}
		for _, text := range c.not {
			if strings.Contains(got, text) {
				t.Errorf("%s: %q is there:\n%s", name, text, got)
			}
		}
	}
}

// A time span is short. Its error is less than its smaller unit.
func TestAgo(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0s", 59.9: "59s", 60: "1m00s", 3599: "59m59s", 3600: "1h00m", 86399: "23h59m", 86400: "1d00h", 900000: "10d10h"} {
		if got := ago(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}
