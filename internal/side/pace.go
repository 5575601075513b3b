package side

import "time"

// pace is how many requests are under way at once. It grows while the server
// answers as fast as ever, and shrinks when answers take several times as long.
// Requests beyond what the server can work on only wait there, and make all
// other clients wait.
type pace struct {
	under int           // requests
	best  time.Duration // the recent time of an answer; 0 before the first
}

// The bounds of a pace. A server's queue holds 1000 requests of all its clients
// (globalOutstandingLimit).
const (
	leastUnder = 4
	firstUnder = 16
	mostUnder  = 128
)

// after is the pace after a round of requests with this average time of an
// answer.
func (p pace) after(took time.Duration) pace {
	switch {
	case p.best == 0 || took < p.best:
		p.best = took
	default:
		p.best += p.best / 64 // so a server that has become slower for good is read at full pace again
	}
	switch {
	case took <= 2*p.best:
		p.under += max(p.under/4, 1)
	case took > 4*p.best:
		p.under -= max(p.under/4, 1)
	}
	p.under = min(max(p.under, leastUnder), mostUnder)
	return p
}
