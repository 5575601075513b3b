package report

import (
	"io"
	"time"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness/rehearse"
)

// Rehearsal is everything that a page about a rehearsal can show.
type Rehearsal struct {
	Made   time.Time
	Source string // without credentials
	*rehearse.Report
}

// rehearsalContent has the values that rehearsal.html shows.
type rehearsalContent struct {
	*rehearse.Report
	Wrong           []list // what differs from the plan, or the plan's problems
	Rows, NightRows []screen.Row
	Scale           string
	Cleanup         list
}

// WriteRehearsal writes the page about a rehearsal: its verdict, and the estimate of the cutover. Text of
// others is made harmless as by [Write].
func WriteRehearsal(w io.Writer, r *Rehearsal) error {
	tone, _, text := view.RehearsalVerdict(r.Report)
	word := map[string]string{"ok": "Passed", "differs": "Failed", "blocked": "Stopped"}[r.Verdict]
	f := newFrame("mrtq rehearse", "steps", r.Made, Verdict{Word: word, Tone: toneNames[tone], Sentence: text})
	f.Title = word + ": rehearsal of " + r.Source
	f.Facts = []fact{{"Source", r.Source}, {"Dialect", string(r.Dialect)}, {"Rehearsed on", r.Backend}}
	f.Tiles = []tile{{N: r.Records, Label: "records", Link: "steps"}, {N: r.Jobs, Label: "jobs and access requests", Link: "steps"}}
	c := &rehearsalContent{Report: r.Report, Rows: view.RehearsalRows(r.Report)}
	for label, l := range map[string]list{"problems of the plan": problemList(r.Problems), "unexpected outcomes": differenceRows(r.Differences)} {
		if l.N() > 0 { // never both
			c.Wrong = append(c.Wrong, l)
			f.Tiles = append(f.Tiles, tile{l.N(), label, "bad", "wrong"})
		}
	}
	if n := r.Night; n != nil {
		c.NightRows, c.Scale = view.NightRows(n), view.NightScale(n)
		c.Cleanup = pathList("cleanup", "batch that the cleanup removes within the hour", "batches that the cleanup removes within the hour", n.Cleanup)
		c.Cleanup.Columns[0].Label = "Batch"
	}
	shown := c.Wrong
	if c.Cleanup.N() > 0 {
		shown = append(shown, c.Cleanup)
	}
	return execute(w, rehearsalPage, f, c, shown)
}

func differenceRows(all []rehearse.Difference) list {
	columns := []column{{Name: "path", Label: "Path", Shown: true}, {Name: "kind", Label: "Kind", Shown: true, Facet: true}, {Name: "message", Label: "What", Shown: true}}
	return newList("unexpected", "outcome differs from the plan", "outcomes differ from the plan", columns, all, func(d *rehearse.Difference) []any {
		return []any{d.Path, string(d.Kind), d.Message}
	})
}
