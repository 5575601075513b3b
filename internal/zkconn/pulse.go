package zkconn

import (
	"sync"
	"time"
)

// Pulse knows for how long servers have kept silent although somebody waits for an answer.
// Sessions can share one. The zero value is ready; nil knows nothing.
type Pulse struct {
	mu      sync.Mutex
	waiting int       // callers that wait for an answer, or for a connection to ask on
	since   time.Time // when the silence began; zero if the last answer that was waited for came
}

// Silence is for how long callers have waited and nothing came, over all attempts to connect
// again; 0 if nobody waits.
func (p *Pulse) Silence() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == 0 || p.since.IsZero() {
		return 0
	}
	return time.Since(p.since)
}

// begin notes that a caller waits. Call the function that it returns when it no longer does, with
// whether an answer came. If none came, the silence goes on with the caller's next attempt.
func (p *Pulse) begin() (end func(answered bool)) {
	if p == nil {
		return func(bool) {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting++; p.since.IsZero() {
		p.since = time.Now()
	}
	return func(answered bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting--; p.waiting == 0 && answered {
			p.since = time.Time{}
		}
	}
}

// beat notes that bytes came from a server.
func (p *Pulse) beat() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since = (time.Time{}); p.waiting > 0 {
		p.since = time.Now()
	}
}
