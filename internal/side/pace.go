package side

import "time"

// pace is how many requests are under way at once: more while the server answers
// as fast as it ever did, fewer when its answers take several times as long. What
// is under way beyond what a server works at only waits there, and makes all
// others wait.
type pace struct {
	under int           // requests
	best  time.Duration // of an answer, as it was lately; 0: none came yet
}

// The bounds of a pace. A server's queue holds 1000 requests of all its clients
// (globalOutstandingLimit).
const (
	leastUnder = 4
	firstUnder = 16
	mostUnder  = 128
)

// after is the pace after a round of requests whose answers took so long on
// average.
func (p pace) after(took time.Duration) pace {
	switch {
	case p.best == 0 || took < p.best:
		p.best = took
	default:
		p.best += p.best / 64 // a server that has become slower for good is so
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
