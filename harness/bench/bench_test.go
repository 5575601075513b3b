package main

import (
	"context"
	"os"
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
