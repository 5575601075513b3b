package migrate

import (
	"testing"

	"pgregory.net/rapid"

	"mrtq/newqueue"
)

// A job's own znode holds the canonical JSON of its provenance, for any values, and reads back
// as it was.
func TestProvenanceIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		p := Provenance{
			Run: text("run") + "r", Path: text("path") + "/", Sequence: rapid.Int32().Draw(t, "sequence"), Status: text("status"), Time: text("time"),
			TimeUnit: text("unit"), HighPriority: rapid.Bool().Draw(t, "high"), Worker: text("worker"), Format: text("format"), SHA256: text("sha") + "0", Consumed: text("consumed"),
		}
		want := newqueue.Object{
			"run": p.Run, "path": p.Path, "sequence": int64(p.Sequence), "status": p.Status, "time": p.Time,
			"time_unit": p.TimeUnit, "high_priority": p.HighPriority, "worker": p.Worker, "format": p.Format, "sha256": p.SHA256,
		}
		if p.Consumed != "" {
			want["consumed"] = p.Consumed
		}
		if got, want := string(p.encode()), string(encode(want)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if back, ok := parseProvenance(p.encode()); !ok || back != p {
			t.Errorf("%+v is read back as %+v, %t", p, back, ok)
		}
	})
}
