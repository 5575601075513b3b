package newqueue_test

import "context"

// stop is a context that a test ends.
type stop struct {
	ctx    context.Context
	cancel context.CancelFunc
}

func newStop() stop {
	ctx, cancel := context.WithCancel(context.Background())
	return stop{ctx, cancel}
}
