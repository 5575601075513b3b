package report

import (
	"fmt"
	"slices"
	"time"
)

// rate is how fast one run made its jobs.
type rate struct {
	Run      string
	Chart    columns
	Jobs     int
	Mean     string
	Peak     string
	Took     string
	Bin      string // the time that one column covers
	NotKnown string // why there is no chart; "" if there is one
	From, To string
}

// binWidths are the times that one column can cover, the shortest first.
var binWidths = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour,
}

// mostBins is how many columns a chart has at most, unless no width is large
// enough.
const mostBins = 80

// rates makes one chart for each run, because runs may be days apart.
func rates(d *Data) []rate {
	times := map[string][]time.Time{}
	for i := range d.Records {
		if r := &d.Records[i]; !r.At.IsZero() {
			times[r.Run] = append(times[r.Run], r.At)
		}
	}
	var out []rate
	for _, run := range d.Runs {
		at := times[run.ID]
		switch {
		case run.Copied:
			out = append(out, rate{Run: run.ID, NotKnown: "The target is a copy that was restored from a dump, so its times are not the run's."})
		case len(at) == 0 && run.Jobs+run.Access > 0:
			out = append(out, rate{Run: run.ID, NotKnown: "The target does not show when its znodes were created."})
		case len(at) > 0:
			out = append(out, rateOf(run.ID, at))
		}
	}
	return out
}

func rateOf(run string, at []time.Time) rate {
	from, to := slices.MinFunc(at, time.Time.Compare), slices.MaxFunc(at, time.Time.Compare)
	took := to.Sub(from)
	width := binWidths[len(binWidths)-1]
	for _, w := range binWidths {
		if took/w < mostBins {
			width = w
			break
		}
	}
	// If a server's clock was set during the run, the times can be centuries
	// apart. Then the last column counts the rest.
	counts := make([]int, min(int(took/width)+1, 10*mostBins))
	for _, t := range at {
		counts[min(int(t.Sub(from)/width), len(counts)-1)]++
	}
	perSecond := func(n int) float64 { return float64(n) / width.Seconds() }
	r := rate{Run: run, Jobs: len(at), Bin: duration(width), Took: duration(took), From: clock(from)}
	peak := slices.Max(counts)
	r.Peak = perSec(perSecond(peak))
	if len(counts) == 1 {
		r.NotKnown = fmt.Sprintf("All %s made at one moment, %s UTC, so there is no rate.", count(len(at), "job was", "jobs were"), clock(from))
		return r
	}
	r.Mean = perSec(float64(len(at)) / took.Seconds())
	c := columns{Title: run, Most: r.Peak}
	c.draw(counts, func(i int) string {
		return fmt.Sprintf("%s: %s jobs a second", clock(from.Add(time.Duration(i)*width)), perSec(perSecond(counts[i])))
	})
	c.Width = 100 / float64(len(counts))
	for i := range c.Columns {
		c.Columns[i].X *= c.Width
	}
	for _, part := range []float64{0, 25, 50, 75, 100} {
		c.Ticks = append(c.Ticks, tick{part, "+" + duration(time.Duration(part/100*float64(len(counts))*float64(width)))})
	}
	c.Label = fmt.Sprintf("Jobs a second through %s: %s made in %s, at most %s a second", run, count(len(at), "job", "jobs"), r.Took, r.Peak)
	r.Chart = c
	return r
}

func perSec(v float64) string {
	if v >= 100 {
		return number(int(v + 0.5))
	}
	return fmt.Sprintf("%.3g", v)
}

// duration is a duration for people: 1.2 s, 3 m 20 s.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}

// clock is a time of day to the millisecond.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// moment is a time for people, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}
