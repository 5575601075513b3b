// Package pace limits the load on a server: how many requests are under way at
// once, and how many operations are sent a second. The number of requests adapts
// to how fast the server answers. An operator can cap the operations.
package pace

import "time"

// Bounds are how many requests may be under way: at the beginning, at least and
// at most.
type Bounds struct{ Least, First, Most int }

// These bounds are far below the 1000 requests of all clients that a server's
// queue holds (globalOutstandingLimit).
var (
	// Reads are the bounds for requests that read one znode.
	Reads = Bounds{Least: 4, First: 16, Most: 128}
	// ReadsTogether are the bounds for requests that read many znodes.
	ReadsTogether = Bounds{Least: 1, First: 2, Most: 4}
	// Writes are the bounds for transactions.
	Writes = Bounds{Least: 1, First: 4, Most: 16}
)

// Pace is how many requests are under way at once. It compares the time that answers take
// with the time that they take when nothing waits at the server. While both are about the
// same, the pace grows. When answers take several times as long, it shrinks. A server works
// on a few requests at a time. More of them only wait there, and make other clients wait.
//
// A quiet round measures the time that answers take when nothing waits. There is one at the
// beginning, and one from time to time. In a quiet round the fewest requests are under way,
// and answers to earlier requests don't count. So the pace also adapts to a server that has
// become slower for good.
type Pace struct {
	Under  int // how many requests are under way
	bounds Bounds
	best   time.Duration // the time of an answer when nothing waited; 0: not measured yet
	rounds int           // since the last quiet round
	resume int           // the pace after this quiet round; 0: this round is not quiet
}

// everyQuiet is how many rounds there are from one quiet round to the next. Quiet rounds are
// so rare that they cost no speed.
const everyQuiet = 64

// Start returns the pace at the beginning.
func (b Bounds) Start() Pace { return Pace{Under: b.Least, bounds: b, resume: b.First} }

// After returns the pace after a round. took is the average time of the round's answers.
func (p Pace) After(took time.Duration) Pace {
	if p.resume > 0 {
		p.Under, p.best, p.rounds, p.resume = p.resume, took, 0, 0
		return p
	}
	if took < p.best {
		p.best = took
	} else {
		p.best += p.best / 256 // so that an answer that was quick by chance doesn't count for long
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

// Round are the requests since the pace last changed.
type Round struct {
	Pace
	quiet   int // how many quiet rounds have begun
	answers int
	took    time.Duration // the sum over all answers
}

// Sent marks requests that are sent now. Give the mark to [Round.Answered] with their
// answers.
func (r *Round) Sent() int { return r.quiet }

// Answered adds n answers, each of which took this time. sent is the mark that [Round.Sent]
// returned for their requests. A round ends, and the pace changes, when it has as many
// answers as requests may be under way at once. Answers to requests from before a quiet
// round don't count.
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
