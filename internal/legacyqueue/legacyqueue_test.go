package legacyqueue

import (
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Every record decodes, every format and status occurs, and the same seed gives
// the same queue.
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
	if err != nil || znode.Diff(tree, again, "/") != nil {
		t.Errorf("the same options gave another queue (%v)", err)
	}
}

// A consumer looks at the records that it may take, in the order of the numbers in their names. It
// never looks at a name without a number.
func TestConsumer(t *testing.T) {
	names := []string{"mrtQ-05000000000009", "mrtQ-05010000000003", "mrtQ-05110000000001", "mrtQ-02110000000008", "mrtQ-0201-2147483648", "mrtQ-7", "lock"}
	for _, c := range []struct {
		consumer Consumer
		want     []string
	}{
		{Consumer{Worker: "1"}, []string{"mrtQ-02110000000008", "mrtQ-05010000000003", "mrtQ-05110000000001"}},
		{Consumer{Worker: "1", HighPriority: true}, []string{"mrtQ-02110000000008", "mrtQ-05110000000001"}},
		{Consumer{Worker: "0"}, []string{"mrtQ-05000000000009"}},
		{Consumer{}, []string{"mrtQ-05000000000009"}},
	} {
		if got := c.consumer.Candidates(names); !slices.Equal(got, c.want) {
			t.Errorf("%+v looks at %v, want %v", c.consumer, got, c.want)
		}
	}
}
