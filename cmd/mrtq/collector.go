package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// A plan, a migration, a verification or a rollback keeps some two to three hundred
// bytes of each record, and the rest of its heap is soon garbage. Go lets a heap grow
// to twice what is in use before it collects garbage. That is too often for a small
// queue, whose heap is a few MB: a quarter of the processor's time went into it. It is
// too seldom for a large one, whose memory counts. The rows have no pointers, so a
// collection looks at little, however many they are.

const (
	// heapFree is how large a heap may grow before garbage is collected, in bytes,
	// however little of it is in use.
	heapFree = 64 << 20
	// heapGrowth is by how many percent a larger heap may grow.
	heapGrowth = 20
	// goHeap is what Go's heap may grow to at 100 percent, however little is in use,
	// in bytes.
	goHeap = 4 << 20
)

// heapPercent is by how many percent a heap may grow of which so many bytes are in use.
func heapPercent(live uint64) int { return int(max(heapGrowth, heapFree*100/max(live, goHeap))) }

// collectOften has garbage collected as heapPercent says, until the returned function
// is called. Who sets GOGC has decided otherwise.
func collectOften() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	was := debug.SetGCPercent(heapGrowth)
	done := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() { followHeap(done) })
	return func() {
		close(done)
		following.Wait()
		debug.SetGCPercent(was)
	}
}

// howOften the heap is looked at. Garbage grows by some MB meanwhile.
const howOften = 20 * time.Millisecond

// followHeap sets by how much the heap may grow, after each collection.
func followHeap(done <-chan struct{}) {
	tick := time.NewTicker(howOften)
	defer tick.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for was := heapGrowth; ; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		metrics.Read(live)
		if percent := heapPercent(live[0].Value.Uint64()); percent != was {
			debug.SetGCPercent(percent)
			was = percent
		}
	}
}
