package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrtq/harness"
)

// One run measures everything. The table and the file have all of it.
func TestMeasure(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	var printed bytes.Buffer
	err := run(t.Context(), []string{"--backends", string(harness.TestBackend()), "--records", "40", "--jobs", "21", "--rounds", "1", "--out", out}, &printed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var results []result
	if err := json.Unmarshal(text, &results); err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	r := results[0]
	if r.Records != 40 || r.Source < 40 || r.Target < 5*40 {
		t.Errorf("%d records, %d znodes that become %d", r.Records, r.Source, r.Target)
	}
	if len(r.Samples) != len(order) {
		t.Errorf("%d things were measured, want %d", len(r.Samples), len(order))
	}
	for _, what := range order {
		if len(r.Samples[what]) != 1 {
			t.Errorf("%s: %d samples, want 1", what, len(r.Samples[what]))
		}
		for _, s := range r.Samples[what] {
			command := strings.HasPrefix(what, "mrtq")
			if s.Seconds <= 0 || command != (s.CPU > 0) {
				t.Errorf("%s: %+v", what, s)
			}
		}
		if !strings.Contains(printed.String(), what) {
			t.Errorf("the table lacks %s", what)
		}
	}
}

// A ratio is the median of the rounds' own ratios. If one side counts records and the
// other counts jobs, it compares the times for one of each.
func TestRatios(t *testing.T) {
	seconds := func(values ...float64) []sample {
		var s []sample
		for _, v := range values {
			s = append(s, sample{Seconds: v})
		}
		return s
	}
	r := result{Records: 100, Jobs: 10, Samples: map[string][]sample{
		migrate: seconds(4, 2, 10), load: seconds(1, 1, 2), readSource: seconds(1, 0.5, 1), plan: seconds(1, 1, 1), byTheBook: seconds(40, 10, 10),
	}}
	want := map[string]float64{
		"speed of migrate ÷ speed of a bare read of the source and then a bare load": 0.5, // of 0.5, 0.75 and 0.3
		"records a second of migrate ÷ jobs a second of the documented way":          50,  // of 100, 50 and 10
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
	if rate := r.rate(migrate); rate != 25 {
		t.Errorf("got %v records a second, want 25", rate)
	}
}

func TestRefusals(t *testing.T) {
	for _, args := range [][]string{
		{"--records", "0"}, {"--jobs", "0"}, {"--rounds", "0"}, {"--backends", "nothing"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
