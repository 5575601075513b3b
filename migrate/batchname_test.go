package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// If a batchID can't be a znode's name, a plan in dialect mrt-zk has a problem, because no
// service would find the batch. In dialect design it has a warning. Every other batchID is
// a name as it is, and the batch is found by it.
func TestBatchIDAsAName(t *testing.T) {
	for _, c := range []struct {
		id  string
		bad bool
	}{
		{"bid-7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62", false},
		{"a batch of May", false},
		{"Überführung 漢字", false},
		{"100%", false},
		{"a%2Fb", false},
		{"a/b", true},
		{".", true},
		{"..", true},
		{"bell \a", true},
		{"clef \U0001d11e", true},
		{"cut \xed\xa0\xbd", true},
	} {
		path := "/ingest/mrtQ-05000000000001"
		src := source(t, queue(t, map[string][]byte{
			path:                          record(t, legacy.Pending, legacy.Payload{"batchID": c.id, "jobID": "one"}),
			"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": c.id, "jobID": "two"}),
		}))
		for _, d := range newqueue.Dialects {
			t.Run(fmt.Sprintf("%q %s", c.id, d), func(t *testing.T) {
				opt := options(permissive())
				opt.Dialect = d
				plan := makePlan(t, src, znode.NewTree(), opt)
				warned := strings.Contains(fmt.Sprint(plan.Warnings), "can't be a znode's name")
				if warned != (c.bad && d == newqueue.Design) {
					t.Errorf("warnings: %v", plan.Warnings)
				}
				if c.bad && d == newqueue.MrtZK {
					if len(plan.Problems) != 1 || plan.Problems[0].Kind != BadBatchID || plan.Problems[0].Path != path || plan.Problems[0].Next == "" {
						t.Errorf("problems: %v", plan.Problems)
					}
					return
				}
				target := serve(t, znode.NewTree())
				mustMigrate(t, target, src, opt)
				tree := treeOf(t, target)
				mustVerify(t, src, tree)
				if names := tree.Children("/batch-uuids"); len(names) != 1 || !c.bad && names[0] != c.id {
					t.Errorf("it is found by %q", names)
				}
			})
		}
	}
}

// In dialect mrt-zk, a run's own batches have names that the services accept (R06). The only
// faults of such a batch are what its records lack. No legacy batch may have such a name.
func TestNamesOfARunsOwnBatches(t *testing.T) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001":           record(t, legacy.Pending, ingestRecord(legacy.Payload{"batchID": nil})),
		"/mrt.inventory.full/mrtQ-000000000001": record(t, legacy.Completed, legacy.Payload{"manifestURL": "http://store/m/ark"}),
	}))
	for d, want := range map[newqueue.Dialect][]string{
		newqueue.Design: {"run0000000000-inventory", "run0000000000-unbatched"},
		newqueue.MrtZK:  {"bid-run0000000000-inventory", "bid-run0000000000-unbatched"},
	} {
		opt := options(permissive())
		opt.Dialect = d
		target := serve(t, znode.NewTree())
		mustMigrate(t, target, src, opt)
		tree := treeOf(t, target)
		mustVerify(t, src, tree)
		if names := tree.Children("/batch-uuids"); !slices.Equal(names, want) {
			t.Errorf("%s: batches are found by %q, want %q", d, names, want)
		}
		if d == newqueue.MrtZK {
			for _, v := range services.Check(tree) {
				if v.Demand.ID == "R06" || v.Demand.ID == "R07" {
					t.Errorf("the services would not take the name: %s", v)
				}
			}
		}
		for _, name := range want {
			taken := source(t, queue(t, map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, ingestRecord(legacy.Payload{"batchID": name}))}))
			p := makePlan(t, taken, znode.NewTree(), opt)
			if !slices.ContainsFunc(p.Problems, func(x Problem) bool { return x.Kind == BatchExists }) {
				t.Errorf("%s: a legacy batch may be called %s: %v", d, name, p.Problems)
			}
		}
	}
}
