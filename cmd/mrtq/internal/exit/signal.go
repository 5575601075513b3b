package exit

import (
	"context"
	"os/signal"
	"syscall"
)

// OnSignal returns a context that a signal ends, and a function that gives the signals back. The
// first Ctrl-C or SIGTERM asks for a clean stop; the second one ends the process at once. When a
// terminal is closed, the kernel and the shell each send a SIGHUP, so the second one changes nothing.
// A process that was started with nohup is not told.
func OnSignal() (context.Context, context.CancelFunc) {
	ctx, closed := context.Background(), func() {}
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, closed = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, func() { stop(); closed() }
}
