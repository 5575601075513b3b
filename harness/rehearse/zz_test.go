package rehearse_test

import (
	"testing"
	"time"

	"mrtq/harness/rehearse"
	"mrtq/newqueue"
)

func TestZZ(t *testing.T) {
	for _, d := range newqueue.Dialects {
		began := time.Now()
		r, err := rehearse.Run(t.Context(), queue(t, 20000, nil), options(d))
		must(t, err)
		for _, s := range r.Steps {
			t.Logf("%s %.1f", s.Name, s.Seconds)
		}
		t.Logf("%s %v: %s, %d differences", d, time.Since(began), r.Verdict, len(r.Differences))
	}
}
