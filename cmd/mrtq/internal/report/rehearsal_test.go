package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"

	"mrtq/harness/rehearse"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// rehearsed is a rehearsal of which everything was as foretold.
func rehearsed() *Rehearsal {
	return &Rehearsal{Made: sampleTime, Source: sampleSource, Report: &rehearse.Report{
		Verdict: "ok", Seconds: 92,
		Backend: "embedded", Dialect: newqueue.MrtZK, Records: 12_345, Jobs: 12_001, Skipped: 340, Quarantined: 4, Problems: []migrate.Problem{}, Differences: []rehearse.Difference{},
		Steps:   []rehearse.Step{{Name: "plan", Seconds: 0.34, Packets: 20}, {Name: "migrate", Seconds: 3.2, Packets: 420}, {Name: "work", Seconds: 31, Packets: 17}},
		Workers: rehearse.Worked{Done: 9800, Mails: 300, Removed: 290, Trouble: rehearse.Disturbed{Failed: 9, Killed: 8, Lost: 7}, Checked: 5},
		Back:    &rehearse.Back{Before: 2940, GivenBack: 9000, Kept: 3001, ByLegacy: 6860, Failed: 12},
		Night: &rehearse.Night{RoundTrip: 0.0021, Here: 0.0001, Steps: []rehearse.Step{{Name: "plan", Seconds: 0.4}, {Name: "migrate", Seconds: 4}}, Freeze: 4.4, Mails: 300,
			Cleanup: []string{"bid-1", "bid-2"},
			Idle: []rehearse.Idle{{State: "held", Why: "its legacy status is consumed, and --consumed is held", Records: []string{"/ingest/mrtQ-5", "/ingest/mrtQ-6", "/ingest/mrtQ-7"}},
				{State: "quarantined", Why: "it can't be decoded, and --undecodable is quarantine", Records: []string{"/ingest/mrtQ-01", "/ingest/mrtQ-02", "/ingest/mrtQ-03", "/ingest/mrtQ-04"}}},
			Fails: []rehearse.Failing{{Why: "batchID is null: Initialize would fail it", Records: []string{"/ingest/mrtQ-1", "/ingest/mrtQ-2", "/ingest/mrtQ-3", "/ingest/mrtQ-4"}}}},
		Plan: samplePlan(20),
	}}
}

// asNotForetold is a rehearsal that found something.
func asNotForetold() *Rehearsal {
	r := rehearsed()
	for i := range 30 {
		r.Differences = append(r.Differences, rehearse.Difference{Kind: []rehearse.Kind{rehearse.Twice, rehearse.Order, rehearse.Layout}[i%3], Path: fmt.Sprintf("/ingest/mrtQ-0500000000%02d", i),
			Message: "a worker began it before mrtQ-01, and a legacy worker would have begun it afterwards"})
	}
	r.Verdict = "differs"
	return r
}

// notRehearsed is a rehearsal of a plan that can't be carried out.
func notRehearsed() *Rehearsal {
	p := stopped().Plan
	return &Rehearsal{Made: sampleTime, Source: sampleSource, Report: &rehearse.Report{Verdict: "blocked", Seconds: 1, Backend: "embedded", Dialect: newqueue.MrtZK, Records: 20, Problems: p.Problems,
		Steps: []rehearse.Step{{Name: "plan", Seconds: 0.1, Packets: 3}}, Plan: p}}
}

// hostileRehearsal has a nasty text in every text that it can have.
func hostileRehearsal() *Rehearsal {
	at := 0
	next := func() string { at++; return nasty[at%len(nasty)] + nasty[(at*5+1)%len(nasty)] }
	r := asNotForetold()
	for _, v := range []any{&r.Source, &r.Backend, &r.Differences, &r.Night.Cleanup, &r.Night.Fails, &r.Night.Idle} {
		poison(reflect.ValueOf(v).Elem(), next)
	}
	return r
}

func writeRehearsal(t *testing.T, r *Rehearsal) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteRehearsal(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRehearsalPage: everything that pages about rehearsals show, and the lists that their scripts
// draw.
func TestRehearsalPage(t *testing.T) {
	for name, r := range map[string]*Rehearsal{"foretold": rehearsed(), "differing": asNotForetold(), "notrehearsed": notRehearsed()} {
		comparePage(t, name, writeRehearsal(t, r))
	}
	if err := WriteRehearsal(full{}, rehearsed()); err == nil {
		t.Error("a full disk is not reported")
	}
}

// TestHostileRehearsal: names in a page about a rehearsal are text, and never markup.
func TestHostileRehearsal(t *testing.T) {
	checkHarmless(t, writeRehearsal(t, hostileRehearsal()), writeRehearsal(t, asNotForetold()))
}

func rehearsalInBrowser(t *testing.T, ctx context.Context) {
	for name, r := range map[string]*Rehearsal{"foretold": rehearsed(), "differing": asNotForetold(), "notrehearsed": notRehearsed(), "hostile": hostileRehearsal()} {
		for _, width := range []int64{390, 1280} {
			b := openPage(t, ctx, func(w io.Writer) error { return WriteRehearsal(w, r) }, width, 844)
			b.js(`document.querySelectorAll('details').forEach(d => d.open = true)`)
			if width == 390 { // wide, a row is one line, and its details have all
				want(b, cut, "")
			}
			want(b, `typeof globalThis.owned`, "undefined")
			want(b, `[...document.querySelectorAll('nav a, .skip, .tiles a')].every(a => document.querySelector(a.getAttribute('href')))`, true)
			if name == "differing" {
				want(b, `document.querySelector('h1 .word').textContent`, "Failed")
				want(b, `document.querySelector('[data-list=unexpected] output').textContent`, "30 outcomes differ from the plan")
			}
			b.quiet()
		}
	}
}
