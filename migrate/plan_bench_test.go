package migrate

import (
	"syscall"
	"testing"
	"time"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// BenchmarkPlan plans 20,000 records for an empty target in each dialect. In
// mrt-zk this includes the check of what the deployed services demand.
func BenchmarkPlan(b *testing.B) {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 20000, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range newqueue.Dialects {
		b.Run(string(d), func(b *testing.B) {
			src := source(b, tree)
			opt := options(permissive())
			opt.Dialect = d
			before := used(b)
			for b.Loop() {
				makePlan(b, src, znode.NewTree(), opt)
			}
			b.ReportMetric(float64((used(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// used returns the processor time of this process. A busy machine changes it less than the
// time on the clock.
func used(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
