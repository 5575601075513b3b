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
	// ReadsTogether are the bounds for requests that read many znodes.
	ReadsTogether = Bounds{Least: 1, First: 2, Most: 4}
	// Writes are the bounds for transactions.
	Writes = Bounds{Least: 1, First: 4, Most: 16}
)

// Pace is how many requests are under way at once: more while the server answers
// about as fast as it does when nothing waits there, fewer when its answers take
// several times as long. What is under way beyond what a server works at only waits
// there, and makes all others wait.
//
// How fast it answers when nothing waits is measured at the beginning and from time
// to time, in a quiet round: as few requests as there may be are under way, once
// those before it are answered. A server that has become slower for good is then
// worked as hard as before.
type Pace struct {
	Under  int // requests
	bounds Bounds
	best   time.Duration // of an answer, when nothing waited; 0: none came yet
	rounds int           // since the last quiet one
	resume int           // what comes after this quiet round; 0: it is no quiet one
}

// everyQuiet is how many rounds are between quiet ones: enough that these cost no
// speed.
const everyQuiet = 64

// Start is the pace at the beginning.
func (b Bounds) Start() Pace { return Pace{Under: b.Least, bounds: b, resume: b.First} }

// After is the pace after a round of requests with this average time of an
// answer.
func (p Pace) After(took time.Duration) Pace {
	if p.resume > 0 {
		p.Under, p.best, p.rounds, p.resume = p.resume, took, 0, 0
		return p
	}
	if took < p.best {
		p.best = took
	} else {
		p.best += p.best / 256 // one that was quick by chance is no measure for long
	}
	switch {
	case took <= 2*p.best:
		p.Under += max(p.Under/4, 1)
	case took > 4*p.best:
		p.Under -= max(p.Under/4, 1)
	}
	p.Under = min(max(p.Under, p.bounds.Least), p.bounds.Most)
	if p.rounds++; p.rounds >= everyQuiet {
		p.Under, p.resume = p.bounds.Least, p.Under
	}
	return p
}

// Round is the requests since the pace last changed.
type Round struct {
	Pace
	quiet   int // how many quiet rounds have begun
	answers int
	took    time.Duration // together
}

// Sent says of requests that are sent now which answers these will be, see
// [Round.Answered].
func (r *Round) Sent() int { return r.quiet }

// Answered adds answers that took so long, each, to requests that were sent so. When
// as many have come as are under way at once, the round is over and the pace
// changes. What was sent before a quiet round tells nothing of it.
func (r *Round) Answered(n int, took time.Duration, sent int) {
	if sent != r.quiet {
		return
	}
	r.took += took * time.Duration(n)
	if r.answers += n; r.answers >= r.Under {
		r.Pace = r.After(r.took / time.Duration(r.answers))
		r.answers, r.took = 0, 0
		if r.resume > 0 {
			r.quiet++
		}
	}
}
