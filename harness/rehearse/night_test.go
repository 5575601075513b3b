package rehearse_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/harness/minizk"
	"mrtq/harness/rehearse"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// A limit slows the questions down, and not the answers: in a bubble, a server takes no time.
func TestRoundTripWithoutTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := minizk.Start(minizk.Options{Private: true, RealTime: true})
		must(t, err)
		defer s.Close()
		r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"private:0"}}, Dial: s.Dial, Limit: zkconn.NewLimit(1)})
		must(t, err)
		defer r.Close()
		began := time.Now()
		took, err := rehearse.RoundTrip(t.Context(), r)
		must(t, err)
		if waited := time.Since(began); took != 0 || waited < 10*time.Second {
			t.Errorf("a round trip of %v, measured in %v at one question a second", took, waited)
		}
	})
}

// Each record is a job, skipped or quarantined; and each that no worker takes is named once, with why.
func TestIdle(t *testing.T) {
	var bad, failed, consumed string
	copied := queue(t, 200, func(tree *znode.Tree) {
		consumed = consume(t, tree)
		failed = again(t, tree, consumed, legacy.Failed)
		bad = "/ingest/mrtQ-01000000009998"
		must(t, tree.Put(znode.Node{Path: bad, Data: []byte("?")}))
	})
	opt := options(newqueue.Design)
	opt.Plan.Choices.Undecodable, opt.Plan.Choices.Completed, opt.Plan.Choices.Failed = "quarantine", "skip", "held"
	r, err := rehearse.Run(t.Context(), copied, opt)
	must(t, err)
	if len(r.Problems) > 0 || r.Skipped == 0 || r.Quarantined != 1 || r.Records != r.Jobs+r.Skipped+r.Quarantined {
		t.Fatalf("%d records, %d jobs, %d skipped, %d quarantined, %v", r.Records, r.Jobs, r.Skipped, r.Quarantined, r.Problems)
	}
	counts, whys := map[string]int{}, map[string][]string{}
	for _, i := range r.Night.Idle {
		counts[i.State] += len(i.Records)
		for _, record := range i.Records {
			whys[record] = append(whys[record], i.State+": "+i.Why)
		}
	}
	if counts["skipped"] != r.Skipped || counts["quarantined"] != r.Quarantined {
		t.Errorf("%v", counts)
	}
	for record, want := range map[string]string{
		consumed: "held: its legacy status is consumed, and --consumed is held",
		failed:   "held: its legacy status is failed, and --failed is held",
		bad:      "quarantined: it can't be decoded, and --undecodable is quarantine",
	} {
		if got := whys[record]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, expected %q", record, got, want)
		}
	}
}

// A consumed record is left to the legacy queue, unless somebody decides otherwise. The rehearsal names it as left
// out, and expects no work for it, on the way back neither.
func TestConsumedIsLeft(t *testing.T) {
	for _, d := range newqueue.Dialects {
		var consumed string
		copied := queue(t, 60, func(tree *znode.Tree) { consumed = consume(t, tree) })
		opt := options(d)
		opt.Plan.Choices.Consumed, opt.Mishaps = migrate.DefaultChoices().Consumed, 0
		r, err := rehearse.Run(t.Context(), copied, opt)
		must(t, err)
		want := rehearse.Idle{State: "skipped", Why: "its legacy status is consumed, and --consumed is leave", Records: []string{consumed}}
		i := slices.IndexFunc(r.Night.Idle, func(i rehearse.Idle) bool { return i.Why == want.Why })
		if !r.OK() || r.Records != r.Jobs+r.Skipped || r.Back.Kept == 0 || i < 0 || !reflect.DeepEqual(r.Night.Idle[i], want) {
			t.Errorf("%s: %+v", d, r)
		}
	}
}
