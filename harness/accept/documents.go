package accept

import (
	"slices"
	"strings"

	"mrtq/newqueue"
)

// transitions has the transitions of the published design and of the deployed library
// (docs/transitions.md; docs/new-layout.md, "Two dialects"). Each line has an id, the
// two states and who makes the step. The code under test has tables of its own, and
// neither is generated from the other. A dialect at the end of a line means that
// only this dialect has the step.
//
// In the library a worker makes B3 when it acquires the batch, in one go with the lock.
// The library has no step out of Completed and Deleted (states.yml): a completed
// item is removed without becoming Deleted. The published design doesn't have B14 and A8,
// because nothing there marks a batch or a request as deleted without removing
// it. The library's admin tool does.
const transitions = `
job
J1   create       pending          batch-worker
J2   pending      failed           worker
J3   pending      held             worker
J4   pending      estimating       worker
J5   held         pending          admin
J6   estimating   provisioning     worker
J6f  estimating   failed           worker        mrt-zk
J7   provisioning downloading      worker
J7f  provisioning failed           worker        mrt-zk
J8   downloading  processing       worker
J9   downloading  failed           worker
J10  processing   recording        worker        design
J10s processing   storing          worker        mrt-zk
J10  storing      recording        worker        mrt-zk
J11  processing   failed           worker
J11s storing      failed           worker        mrt-zk
J12  recording    notify           worker
J13  recording    failed           worker
J14  notify       completed        worker
J15  notify       failed           worker
J16p failed       pending          admin         mrt-zk
J16e failed       estimating       admin         mrt-zk
J16v failed       provisioning     admin         mrt-zk
J16  failed       downloading      admin
J17  failed       processing       admin
J17s failed       storing          admin         mrt-zk
J18  failed       recording        admin
J19  failed       notify           admin
J20  completed    deleted          automatic     design
J21  failed       deleted          admin
J22  held         deleted          admin
J23  deleted      removed          automatic     mrt-zk
batch
B1   create           pending          API
B2   pending          held             worker        design
B2   pending          held             admin         mrt-zk
B3   pending          processing       worker        design
B3   pending          processing       acquiring-worker mrt-zk
B4   held             pending          admin
B5   processing       reporting        event
B5f  processing       failed           admin         mrt-zk
B6   reporting        completed        worker
B7   reporting        failed           worker
B8   failed           update-reporting admin
B9   update-reporting completed        worker
B10  update-reporting failed           worker
B11  failed           deleted          admin
B12  held             deleted          admin
B13  completed        deleted          automatic     design
B13  completed        removed          automatic     mrt-zk
B14  deleted          removed          automatic
access
A1   create       pending          API
A2   pending      processing       worker
A3   processing   completed        worker
A4   processing   failed           worker
A5   failed       processing       admin
A6   failed       deleted          admin
A7   completed    deleted          automatic     design
A7   completed    removed          automatic     mrt-zk
A8   deleted      removed          automatic
`

// entities has all entities, in the order of the published design.
var entities = []newqueue.Entity{newqueue.EntityJob, newqueue.EntityBatch, newqueue.EntityAccess}

// created and removed are used in place of a state for an item that does not exist yet, or
// not any more.
const (
	created = "create"
	removed = "removed"
)

// A transition is a documented step.
type transition struct {
	id string
	Step
	who string
}

// documented returns the steps of an entity in a dialect, in the order of the
// documents.
func documented(e newqueue.Entity, d newqueue.Dialect) []transition {
	var all []transition
	var table newqueue.Entity
	for line := range strings.Lines(transitions) {
		f := strings.Fields(line)
		switch {
		case len(f) == 1:
			table = newqueue.Entity(f[0])
		case len(f) > 1 && table == e && (len(f) == 4 || f[4] == string(d)):
			all = append(all, transition{f[0], Step{e, f[1], f[2]}, f[3]})
		}
	}
	return all
}

// leaving returns the steps that leave a state.
func leaving(table []transition, from string) []transition {
	return slices.DeleteFunc(slices.Clone(table), func(t transition) bool { return t.From != from })
}

// statesOf returns the states that a table names.
func statesOf(table []transition) []string {
	var states []string
	for _, t := range table {
		for _, s := range []string{t.From, t.To} {
			if s != created && s != removed && !slices.Contains(states, s) {
				states = append(states, s)
			}
		}
	}
	return states
}
