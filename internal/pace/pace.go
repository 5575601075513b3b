// Package pace limits the load on a server: how many requests are under way at
// once, and how many operations are sent a second. The first adapts to how fast
// the server answers. An operator may cap the second.
package pace

import "time"

// Bounds are how many requests may be under way: at the beginning, at least and
// at most.
type Bounds struct{ Least, First, Most int }

// A server's queue holds 1000 requests of all its clients
// (globalOutstandingLimit).
var (
	// Reads are the bounds for requests that read one znode.
	Reads = Bounds{Least: 4, First: 16, Most: 128}
	// Writes are the bounds for transactions.
	Writes = Bounds{Least: 1, First: 4, Most: 16}
)

// Pace is how many requests are under way at once. It grows while the server
// answers as fast as ever, and shrinks when answers take several times as long.
// Requests beyond what the server can work on only wait there, and make all
// other clients wait.
type Pace struct {
	Under  int // requests
	bounds Bounds
	best   time.Duration // the recent time of an answer; 0 before the first
}

// Start is the pace at the beginning.
func (b Bounds) Start() Pace { return Pace{Under: b.First, bounds: b} }

// After is the pace after a round of requests with this average time of an
// answer.
func (p Pace) After(took time.Duration) Pace {
	switch {
	case p.best == 0 || took < p.best:
		p.best = took
	default:
		p.best += p.best / 64 // so a server that has become slower for good is read at full pace again
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
