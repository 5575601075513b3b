package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// A plan, a migration, a verification or a rollback keeps 200 to 300 bytes for each record.
// The rest of its heap is soon garbage. By default, Go collects garbage when the heap is
// twice as large as what is in use. For a small queue with a heap of a few MB, that is too
// often: collecting took a quarter of the processor's time. For a large queue it is too
// seldom: the garbage takes too much memory. A collection is quick even with many rows,
// because rows have no pointers.

const (
	// heapFree is how many bytes a heap may grow to before garbage is collected, even if
	// little of it is in use.
	heapFree = 64 << 20
	// heapGrowth is by how many percent a larger heap may grow.
	heapGrowth = 20
	// goHeap is how many bytes Go lets a heap grow to at 100 percent, even if little of
	// it is in use.
	goHeap = 4 << 20
)

// heapPercent returns by how many percent a heap may grow if live bytes are in use.
func heapPercent(live uint64) int { return int(max(heapGrowth, heapFree*100/max(live, goHeap))) }

// collectOften lets the heap grow as heapPercent says, until the caller calls stop. If the
// user set GOGC, it changes nothing.
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

// howOften is the time between two measurements of the heap. Meanwhile the garbage grows by
// a few MB.
const howOften = 20 * time.Millisecond

// followHeap adjusts the heap's allowed growth to what is in use, until done is closed.
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
