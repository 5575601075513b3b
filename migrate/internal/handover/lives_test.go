package handover_test

import (
	"testing"

	"pgregory.net/rapid"

	"mrtq/migrate/internal/handover"
)

// life is a record that was migrated, its job, and everybody who works on them.
type life struct {
	there, changed, consumed, recordDone bool // the record; changed since it was migrated
	job, begun, locked, jobDone          bool
	migrated                             bool // the ledger knows the job
	handedOver, kept                     bool
	held, heldSince                      bool // heldSince: all the time
	done                                 int  // how often the work was done
	deleted                              bool // an administrator deleted the last copy
}

// TestLives: legacy workers, new workers and administrators act between releases and rollbacks. Whatever the order, the work is
// never done twice, and never by nobody.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &life{there: true, job: true, migrated: true, held: true, heldSince: true}
		t.Repeat(l.actions())
		for range 12 { // everybody goes on until nothing is left to do
			for _, name := range []string{"release", "a legacy worker takes it", "a legacy worker finishes it", "a worker takes the job", "a worker finishes the job"} {
				l.actions()[name](t)
			}
		}
		if l.done == 0 && !l.deleted {
			t.Fatalf("nobody did the work: %+v", l)
		}
	})
}

func (l *life) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			legacy, job := l.there && !l.consumed && !l.recordDone, l.job && !l.locked && !l.jobDone && !l.held
			if l.done > 1 || legacy && job {
				t.Fatalf("it was done %d times, and both queues have it: %t: %+v", l.done, legacy && job, l)
			}
		},
		"a legacy worker takes it": func(*rapid.T) {
			if l.there && !l.consumed && !l.recordDone {
				l.consumed, l.changed = true, true
			}
		},
		"a legacy worker finishes it": func(*rapid.T) {
			if l.there && l.consumed {
				l.consumed, l.recordDone, l.done = false, true, l.done+1
			}
		},
		"a legacy worker gives it up": func(*rapid.T) {
			if l.there && l.consumed {
				l.consumed = false // pending, in other bytes
			}
		},
		"the legacy queue is cleaned up": func(*rapid.T) { l.there = l.there && !l.recordDone },
		"a worker takes the job": func(*rapid.T) {
			if l.job && !l.held && !l.locked && !l.jobDone {
				l.locked, l.begun = true, true
			}
		},
		"a worker finishes the job": func(*rapid.T) {
			if l.locked {
				l.locked, l.jobDone, l.done = false, true, l.done+1
			}
		},
		"a worker gives the job up":   func(*rapid.T) { l.locked = false },
		"the new queue is cleaned up": func(*rapid.T) { l.job = l.job && !l.jobDone },
		"an administrator deletes the record": func(*rapid.T) {
			if l.there && !l.consumed && !l.recordDone {
				l.there, l.deleted = false, !l.job
			}
		},
		"an administrator deletes the job": func(*rapid.T) {
			if l.job && !l.locked && !l.jobDone {
				l.job, l.deleted = false, !l.there
			}
		},
		"release": func(*rapid.T) {
			d := handover.Decision{}
			if l.migrated {
				d = handover.DecideRelease(l.facts(), l.truth())
				l.carryOut(d)
			}
			if d.Act != handover.Ask && d.Act != handover.Wait && !l.consumed {
				l.held, l.heldSince = false, false
			}
		},
		"rollback": func(*rapid.T) {
			if l.migrated {
				l.held = true
				l.carryOut(handover.DecideBack(l.facts(), l.truth(), false))
			}
		},
	}
}

func (l *life) facts() handover.Facts {
	f := handover.Facts{Record: handover.AsMigrated, Job: handover.Begun, Held: l.heldSince, HandedOver: l.handedOver, Kept: l.kept, Worked: l.consumed, Locked: l.locked}
	switch {
	case !l.there:
		f.Record = handover.Absent
	case l.changed:
		f.Record = handover.Changed
	}
	switch {
	case !l.job:
		f.Job = handover.Gone
	case !l.begun:
		f.Job = handover.NotBegun
	}
	return f
}

// truth is the answer of somebody who knows what happened.
func (l *life) truth() handover.Answer {
	if l.consumed || l.recordDone || l.done > 0 && !l.begun || l.there && !l.begun {
		return handover.IsLegacy
	}
	return handover.IsNew
}

func (l *life) carryOut(d handover.Decision) {
	switch d.Act {
	case handover.HandOver:
		l.there, l.handedOver, l.kept = false, true, true
	case handover.Mark:
		l.handedOver = true
	case handover.Withdraw:
		l.job, l.migrated = false, false
	case handover.GiveBack:
		l.job, l.migrated, l.there = false, false, true
	}
}
