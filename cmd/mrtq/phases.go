package main

import (
	"context"
	"os"
	"runtime/debug"
	"sync"

	"mrtq/migrate"
)

// Phases makes the meter follow a call of package migrate with this context, until finish is
// called. Each command that reads a queue learns here how large it is.
func (a *app) Phases(ctx context.Context, what string) (_ context.Context, finish func()) {
	follow, finish := a.Follow(what)
	return migrate.WithPhases(ctx, func(p migrate.Phase, done, total int) {
		if total > largeQueue {
			spareMemory()
		}
		follow(p, done, total)
	}), finish
}

// largeQueue is from how many records on a command spares memory.
const largeQueue = 50_000

// spareMemory makes the command spend a tenth more processor time on collecting garbage, and take a
// quarter less memory.
var spareMemory = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
})
