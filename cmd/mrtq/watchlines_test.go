package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mrtq/migrate"
	"mrtq/migrate/live"
)

func picture(v live.View, width int) string {
	var b strings.Builder
	for _, l := range watchLines(v, width) {
		b.WriteString(l.plain(width) + "\n")
	}
	return b.String()
}

// What a view looks like at the usual widths, hostile names and all.
func TestWatchPictures(t *testing.T) {
	for name, width := range map[string]int{"watch80.txt": 80, "watch120.txt": 120} {
		got := picture(full(), width)
		golden(t, filepath.Join("testdata", name), got)
	}
}

// However narrow or low the terminal is, nothing is wider or higher, nothing is
// lost for a terminal to act on, and nothing panics.
func TestWatchLinesFit(t *testing.T) {
	views := map[string]live.View{"full": full(), "empty": {}, "nothing there": {Connected: true}, "no queue": {Connected: true, There: true}}
	lost := full()
	lost.Connected, lost.Trouble, lost.Troubled = false, "an answer with \x1b[2J in it", 12
	views["lost"] = lost
	long := full()
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
			for height := 1; height < len(lines)+2; height++ {
				fitting := clipped(lines, height)
				if len(fitting) > height || len(lines) > height && !strings.Contains(fitting[height-1].text, "make the terminal taller") {
					t.Errorf("%s: %d lines of %d: %v", name, len(fitting), height, fitting[len(fitting)-1])
				}
			}
		}
	}
}

// What colour says, the words say too: without it, each line that has one is
// still told from the others.
func TestColourIsNeverAlone(t *testing.T) {
	v := full()
	v.Connected, v.Trouble = false, "no answer yet"
	for _, l := range watchLines(v, 80) {
		plain := l.plain(80)
		switch {
		case len(l.style) == 0 || l.style[0] == text.Bold && len(l.style) == 1: // a heading
		case strings.Contains(plain, "NOT CONNECTED"), strings.Contains(plain, "Trying again"), strings.HasPrefix(plain, "NOTE: "), strings.HasPrefix(plain, "NO QUEUE: "):
		case l.style[0] == warning[0]: // a note's second line
		default:
			t.Errorf("%q is told by its colour alone", plain)
		}
	}
}

// How far a run is, in one line.
func TestRunText(t *testing.T) {
	ended := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, r := range map[string]live.RunView{
		"run0000000000: its record can't be used":                               {Run: "run0000000000", Damage: "x"},
		"run0000000000 running: 0 records":                                      {State: migrate.RunRunning},
		"run0000000000 running: 1 of 3 records (33%)":                           {State: migrate.RunRunning, Records: 1, Total: 3},
		"run0000000000 running: 1 of 3 records (33%), 0.5/s, 4s left":           {State: migrate.RunRunning, Records: 1, Total: 3, RecordRate: number(0.5), Left: number(4)},
		"run0000000000 running: 1 of 3 records (33%), 0/s":                      {State: migrate.RunRunning, Records: 1, Total: 3, RecordRate: number(0)},
		"run0000000000 done: 3 of 3 records (100%), ended 2026-11-21T12:00:00Z": {State: migrate.RunDone, Records: 3, Total: 3, Finished: ended},
		"run0000000000 done: 1 record, ended 2026-11-21T12:00:00Z":              {State: migrate.RunDone, Records: 1, Finished: ended, RecordRate: number(0)},
		"run0000000000 rolling-back: 7 transactions, 2.0/s":                     {State: migrate.RunRollingBack, Records: 3, Transactions: 7, TransactionRate: number(2), Finished: ended},
	} {
		r.Run = "run0000000000"
		if got := runText(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Spans of time are short, and never wrong by more than their last unit.
func TestAgo(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0s", 59.9: "59s", 60: "1m00s", 3599: "59m59s", 3600: "1h00m", 86399: "23h59m", 86400: "1d00h", 900000: "10d10h"} {
		if got := ago(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}
