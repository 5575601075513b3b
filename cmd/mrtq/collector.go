package main

import (
	"os"
	"runtime/debug"
)

// heapGrowth is by how many percent the heap of a command that keeps rows may grow
// before garbage is collected; Go's own is 100, twice what is in use.
//
// A plan, a migration, a verification or a rollback keeps some two to three hundred
// bytes of each record, and the rest of its heap is soon garbage. The rows have no pointers, so a collection looks
// at little, however many there are: it costs less to have it often than to have
// twice the memory. Who sets GOGC has decided otherwise.
const heapGrowth = 40

// collectOften has garbage collected as heapGrowth says.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
