package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
	heapGrowth = 40
	// goHeap is what Go's heap may grow to at 100 percent, however little is in use,
	// in bytes.
	goHeap = 4 << 20
)

// heapPercent is by how many percent a heap may grow of which so many bytes are in use.
func heapPercent(live uint64) int { return int(max(heapGrowth, heapFree*100/max(live, goHeap))) }

// collectOften has garbage collected as heapPercent says. Who sets GOGC has decided
// otherwise.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		atCollection(&collection{percent: -1})
	}
}

// collection is garbage from the start, so each collection finds it.
type collection struct{ percent int }

// atCollection sets what the next collection waits for, and is called again by that.
func atCollection(c *collection) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := heapPercent(live[0].Value.Uint64()); percent != c.percent {
		debug.SetGCPercent(percent)
		c = &collection{percent: percent}
	}
	runtime.SetFinalizer(c, atCollection)
}
