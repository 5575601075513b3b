package main

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mrtq/harness"
)

// mrtq is built once for all tests.
var mrtq command

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mrtq-bench-")
	if err == nil {
		mrtq, err = build(context.Background(), dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// built returns the command, in a folder of the test's own.
func built(t *testing.T) command { return command{mrtq: mrtq.mrtq, dir: t.TempDir()} }

// One run measures everything. The tables have all of it.
func TestMeasure(t *testing.T) {
	r, err := measure(t.Context(), harness.Embedded, built(t), options{records: 40, rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.records != 40 || r.znodes < 5*40 {
		t.Errorf("%d records that become %d", r.records, r.znodes)
	}
	var printed strings.Builder
	r.print(&printed)
	for _, what := range r.order {
		for _, s := range r.samples[what] {
			if command := strings.HasPrefix(what, "mrtq"); s.seconds <= 0 || command != (s.cpu > 0) {
				t.Errorf("%s: %+v", what, s)
			}
		}
		if len(r.samples[what]) != 1 || !strings.Contains(printed.String(), "| "+what+" |") {
			t.Errorf("%s: %d samples, in\n%s", what, len(r.samples[what]), &printed)
		}
	}
	for _, of := range ratios {
		if !strings.Contains(printed.String(), "| "+of.what+" |") {
			t.Errorf("no %q in\n%s", of.what, &printed)
		}
	}
}

// A ratio is the median of the rounds' own ratios.
func TestRatios(t *testing.T) {
	seconds := func(values ...float64) []sample {
		var s []sample
		for _, v := range values {
			s = append(s, sample{seconds: v})
		}
		return s
	}
	r := result{samples: map[string][]sample{
		migrate: seconds(4, 2, 10), load: seconds(1, 1, 2), readSource: seconds(1, 0.5, 1), plan: seconds(1, 1, 1),
	}}
	want := map[string]float64{
		"speed of migrate ÷ speed of a bare read of the source and then a bare load": 0.5, // of 0.5, 0.75 and 0.3
		"speed of plan ÷ speed of migrate":                                           4,   // of 4, 2 and 10
	}
	for what, value := range want {
		i := slices.IndexFunc(ratios, func(of ratio) bool { return of.what == what })
		if i < 0 {
			t.Errorf("there is no ratio %q", what)
		} else if got := r.value(ratios[i]); math.Abs(got-value) > 1e-9 {
			t.Errorf("%s: got %v, want %v", what, got, value)
		}
	}
}
