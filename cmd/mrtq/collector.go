package main

import (
	"os"
	"runtime/debug"
)

// heapGrowth is the percentage by which the heap of a command that keeps rows may
// grow before a garbage collection. Go's default is 100: the heap may be twice as
// large as what is in use.
//
// A plan, a migration, a verification or a rollback keeps two to three hundred
// bytes for each record, and the rest of its heap is soon garbage. The rows have no
// pointers, so a collection is cheap, no matter how many rows there are. It is
// cheaper to collect often than to use twice the memory. GOGC overrides this.
const heapGrowth = 40

// collectOften sets the garbage collector to heapGrowth.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
