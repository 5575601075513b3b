package services

import (
	"cmp"
	"slices"
	"strings"

	"mrtq/newqueue"
)

// Item is one batch, job or access request: the JSON objects of its znodes, and what else
// their check needs to know.
type Item struct {
	Path string // of the batch, job or request
	// Objects are the JSON objects of the znodes below it, by their names; nil for a znode that holds none.
	Objects map[string]newqueue.Object
	// BatchID is, for a job, the batchID of its batch's submission.
	BatchID any

	pattern   string                       // of its path
	state     string                       // the status's exact name, "" if unreadable
	worker    Daemon                       // of a job, the daemon that acquires it next
	planned   bool                         // it is not in a tree yet, and only its objects are known
	bid       string                       // of a job
	locked    bool                         // a session has locked it
	lockedAt  int64                        // the transaction in which it did
	changed   int64                        // of a job, when its status was written, in ms
	hasStates bool                         // of a batch
	entries   map[newqueue.BatchFolder]int // of a batch, how many
	empty     []string                     // its znodes without data
	unpaired  []string                     // its znodes with half of a surrogate pair in their JSON
}

// CheckContent compares the JSON objects of one batch, job or request with
// every requirement on the objects alone. It ignores the requirements on their place in
// the tree, so it needs no tree.
func CheckContent(i Item) []Violation {
	i.planned = true
	i.classify()
	all := i.violations()
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Requirement.ID, b.Requirement.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.What, b.What))
	})
	return all
}

func (it *Item) value(node, key string) any { return it.Objects[node][key] }

func (it *Item) text(node, key string) string {
	s, _ := it.value(node, key).(string)
	return s
}

func (it *Item) classify() {
	for _, pattern := range []string{batches, jobs, requests} {
		if root, _, _ := strings.Cut(pattern, "{"); strings.HasPrefix(it.Path, root) {
			it.pattern = pattern
		}
	}
	it.state = it.text("status", "status")
	if it.isJob() {
		it.worker = Worker(stateOf(it.state), stateOf(it.value("status", "last_successful_status")))
	}
}

func (it *Item) violations() []Violation {
	var all []Violation
	for i := range Requirements {
		d := &Requirements[i]
		if !d.Of.has(it) {
			continue
		}
		check := d.faults
		if check == nil {
			check = keyFaults
		}
		for _, f := range check(d, it) {
			v := Violation{Requirement: d, Path: it.Path + "/" + d.Node, What: f.what, Stop: it.stop(d)}
			if f.stop != nil {
				v.Stop = *f.stop
			}
			all = append(all, v)
		}
	}
	return all
}

// stop is what happens to the item first: at a daemon that still works on it, or in its
// batch's report, or in the admin tool.
func (it *Item) stop(d *Requirement) Stop {
	for _, by := range d.By {
		behind := by.turn() >= 0 && !it.awaits(by)
		reported := by == BatchReport && it.isBatch() && it.isDone()
		if !behind && !reported {
			return Stop{by, d.Then}
		}
	}
	return Stop{d.By[0], Harmless}
}

func (it *Item) awaits(d Daemon) bool {
	next := it.worker.turn()
	return next >= 0 && d.turn() >= next
}

func (it *Item) isBatch() bool { return it.pattern == batches }
func (it *Item) isJob() bool   { return it.pattern == jobs }
func (it *Item) isDone() bool  { return it.state == "Completed" || it.state == "Deleted" }
