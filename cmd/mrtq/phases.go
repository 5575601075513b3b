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
	collectSeldom()
	follow, finish := a.Follow(what)
	return migrate.WithProgress(ctx, func(p migrate.Phase, done, total int) {
		spareMemory(total)
		follow(p, done, total)
	}), finish
}

var seldom, spare sync.Once

// collectSeldom lets garbage grow to four times what is in use, before it is collected: that is a fifth of the processor time of a
// migration.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		seldom.Do(func() { debug.SetGCPercent(400) })
	}
}

// spareMemory makes the command collect garbage more often rather than take much more than 600 bytes a record beside what any command needs.
// So a million records fit into 750 MB.
func spareMemory(records int) {
	if records > 0 && os.Getenv("GOMEMLIMIT") == "" {
		spare.Do(func() { debug.SetMemoryLimit(aCommand + int64(records)*aRecord) })
	}
}

const (
	aCommand = 64 << 20
	aRecord  = 600
)
