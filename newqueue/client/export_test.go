package client

import "time"

// WithRecheck sets how long a wait lasts at most before it looks again.
func WithRecheck(d time.Duration) Option { return func(q *Queue) { q.recheck = d } }
