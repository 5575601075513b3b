package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/settings"
)

// A shell completes the values of each flag that has a fixed set of them.
func TestCompletionOfValues(t *testing.T) {
	want := map[string]string{ // lists, and values beside which others are possible
		"accept --backend": "embedded jvm docker",
		"hold --only":      "ingest accessSmall accessLarge",
		"release --only":   "ingest accessSmall accessLarge",
		"inspect --status": "bad pending consumed deleted failed completed held",
		"inspect --queue":  "ingest inventory accessSmall accessLarge",
	}
	for _, c := range newRoot().Commands() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if values := settings.Choices(f); values != nil {
				want[c.Name()+" --"+f.Name] = strings.Join(values, " ")
			}
		})
	}
	if got := want["plan --failed"]; !strings.Contains(got, " held") {
		t.Fatalf("plan --failed takes %q", got)
	}
	for line, values := range want {
		var offers bytes.Buffer
		run(slices.Concat([]string{"__complete"}, strings.Fields(line), []string{""}), &offers, io.Discard)
		if got := strings.Fields(offers.String()); strings.Join(got, " ") != values+" :4" { // 4: no names of files
			t.Errorf("mrtq %s offers %q, want %q", line, got, values)
		}
	}
}
