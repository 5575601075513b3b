// Package pace is how hard a server is worked: how many requests are under way at
// once, which adapts to how fast it answers, and how many a second, which an
// operator may cap.
package pace

import "time"

// Bounds are how many requests may be under way: at the beginning, and ever.
type Bounds struct{ Least, First, Most int }

// A server's queue holds 1000 requests of all its clients
// (globalOutstandingLimit).
var (
	// Reads are of requests that read one znode.
	Reads = Bounds{Least: 4, First: 16, Most: 128}
	// Writes are of transactions.
	Writes = Bounds{Least: 1, First: 4, Most: 16}
)

// Pace is how many requests are under way at once: more while the server answers
// as fast as it ever did, fewer when its answers take several times as long. What
// is under way beyond what a server works at only waits there, and makes all
// others wait.
type Pace struct {
	Under  int // requests
	bounds Bounds
	best   time.Duration // of an answer, as it was lately; 0: none came yet
}

// Start is the pace at the beginning.
func (b Bounds) Start() Pace { return Pace{Under: b.First, bounds: b} }

// After is the pace after a round of requests whose answers took so long on
// average.
func (p Pace) After(took time.Duration) Pace {
	switch {
	case p.best == 0 || took < p.best:
		p.best = took
	default:
		p.best += p.best / 64 // a server that has become slower for good is so
	}
	switch {
	case took <= 2*p.best:
		p.Under += max(p.Under/4, 1)
	case took > 4*p.best:
		p.Under -= max(p.Under/4, 1)
	}
	p.Under = min(max(p.Under, p.bounds.Least), p.bounds.Most)
	return p
}

// Round is the requests since the pace last changed.
type Round struct {
	Pace
	answers int
	took    time.Duration // together
}

// Answered adds answers that took so long, each. When as many have come as are
// under way at once, the round is over and the pace changes.
func (r *Round) Answered(n int, took time.Duration) {
	r.took += took * time.Duration(n)
	if r.answers += n; r.answers >= r.Under {
		r.Pace = r.After(r.took / time.Duration(r.answers))
		r.answers, r.took = 0, 0
	}
}
