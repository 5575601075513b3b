package zkconn

import (
	"sync"
	"time"
)

// SilenceTimer knows for how long servers have kept silent although somebody waits for an answer.
// Sessions can share one. The zero value is ready.
type SilenceTimer struct {
	mu      sync.Mutex
	waiting int       // callers that wait for an answer, or for a connection to ask on
	since   time.Time // when the silence began; zero if the last answer that was waited for came
	idle    time.Time // when the last caller ceased to wait
}

// Elapsed is for how long callers have waited and nothing came, over all attempts to connect
// again; 0 if nobody waits.
func (p *SilenceTimer) Elapsed() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == 0 || p.since.IsZero() {
		return 0
	}
	return time.Since(p.since)
}

// begin notes that a caller waits. Call the function that it returns when it no longer does, with
// whether an answer came. If none came, the silence goes on with the caller's next attempt.
func (p *SilenceTimer) begin() (end func(answered bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch now := time.Now(); {
	case p.since.IsZero():
		p.since = now
	case p.waiting == 0:
		p.since = p.since.Add(now.Sub(p.idle)) // meanwhile nobody waited
	}
	p.waiting++
	return func(answered bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting--; p.waiting > 0 {
			return
		}
		p.idle = time.Now()
		if answered {
			p.since = time.Time{}
		}
	}
}

func (p *SilenceTimer) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since = (time.Time{}); p.waiting > 0 {
		p.since = time.Now()
	}
}
