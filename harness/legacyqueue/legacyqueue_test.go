package legacyqueue

import (
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Every record decodes, every format and status occurs, and a seed says all.
func TestMake(t *testing.T) {
	opt := Options{Records: 3000, Seed: 7, Consumed: true}
	tree, err := Make(opt)
	if err != nil {
		t.Fatal(err)
	}
	formats, statuses, records := map[legacy.Format]int{}, map[legacy.Status]int{}, 0
	for n := range tree.All("/") {
		if len(n.Data) == 0 {
			continue
		}
		r, err := legacy.Decode(znode.Name(n.Path), n.Data, legacy.Options{})
		if err != nil {
			t.Fatalf("%s: %v", n.Path, err)
		}
		records++
		formats[r.Format]++
		statuses[r.Header.Status]++
	}
	if records != opt.Records || len(formats) != 5 || len(statuses) != 6 {
		t.Errorf("%d records, formats %v, statuses %v", records, formats, statuses)
	}
	again, err := Make(opt)
	if err != nil || again.Hash("/") != tree.Hash("/") {
		t.Errorf("the same options gave another queue (%v)", err)
	}
}
