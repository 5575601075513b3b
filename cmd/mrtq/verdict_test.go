package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mrtq/migrate"
)

// A command ends with its verdict or its error, and never with both.
func TestLastLine(t *testing.T) {
	failed := checkError(errors.New("plan: blocked"))
	for _, c := range []struct {
		name, verdict string
		err           error
		want          string
	}{
		{"done", "Plan: ready.", nil, "Plan: ready.\n"},
		{"the check failed", "Plan: not ready.", failed, "Plan: not ready.\n"},
		{"the check failed, without a verdict", "", failed, "mrtq: plan: blocked\n"},
		{"the environment failed after it", "Plan: ready.", errors.New("disk full"), "mrtq: disk full\n"},
		{"wrong usage", "", usageError("no such flag"), "mrtq: no such flag\n"},
		{"nothing to say", "", nil, ""},
		{"another client's text, which must not look like mrtq's own line", "Status: held by eve: x\nVerified.", nil, "Status: held by eve: x\\nVerified.\n"},
		{"an error of several lines", "", errors.New("line 1\nline 2"), "mrtq: line 1\nline 2\n"},
		{"text that acts on a terminal", "Plan: \x1b[2J.", nil, "Plan: \\u001b[2J.\n"},
	} {
		a := &app{stderr: &strings.Builder{}, verdict: verdict{good, c.verdict}}
		if got := a.lastLine(c.err, exitCode(c.err)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Warnings that say the same about different znodes are one class.
func TestClasses(t *testing.T) {
	got := classes([]migrate.Warning{
		{Path: "/a", Message: "object ark:/99999/fk4abc has an ingest record too, /ingest/mrtQ-05000000000001: both jobs will record it"},
		{Path: "/b", Message: `two batches are "x y": the batch is found as "z\"1"`},
		{Path: "/c", Message: "object ark:/99999/fk4xyz has an ingest record too, /ingest/mrtQ-05000000000002: both jobs will record it"},
		{Path: "/d", Message: `two batches are "other": the batch is found as ""`},
		{Path: "/e", Message: "its sequence number has wrapped"},
	})
	want := []class{
		{"object … has an ingest record too, …: both jobs will record it", []string{"/a", "/c"}},
		{"two batches are …: the batch is found as …", []string{"/b", "/d"}},
		{"its sequence number has wrapped", []string{"/e"}},
	}
	if !slices.EqualFunc(got, want, func(a *class, b class) bool { return a.message == b.message && slices.Equal(a.paths, b.paths) }) {
		for _, c := range got {
			t.Errorf("got %+v", *c)
		}
	}
}
