package services

import (
	"cmp"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// The rules of the layout state the demands on places: which entries and folders there
// are. A row with [Demand.Rules] and no check of its own is violated where one of these
// rules is. What the services do then depends on the place.

// statedBy has the demand that each of these rules states.
var statedBy = func() map[string]*Demand {
	of := map[string]*Demand{}
	for i := range Demands {
		for _, rule := range Demands[i].Rules {
			if Demands[i].faults == nil && Demands[i].Key == "" {
				of[rule] = &Demands[i]
			}
		}
	}
	return of
}()

// violation is the violation that a finding of the layout's rules is. items are the
// batches and jobs, by their paths.
func (d *Demand) violation(f layout.Finding, items map[string]*item) Violation {
	v := Violation{Demand: d, Item: cmp.Or(f.Item, "/"), Path: f.Path, What: f.Found}
	it := cmp.Or(items[f.Item], items[znode.Parent(f.Path)])
	if it != nil {
		v.Item = it.path
	} else {
		it = &item{path: v.Item}
	}
	v.Stop = it.first(d.Stops)
	if d.stop != nil {
		v.Stop = d.stop(f, items)
	}
	return v
}

// otherName: the library removes only the entry with the batch's own name with it.
func otherName(f layout.Finding, _ map[string]*item) Stop {
	if f.Rule == "batch-uuid/other-batch" {
		return Stop{Cleanup, NeverCleaned}
	}
	return Stop{Admin, BreaksPage}
}

// queueEntry: a worker finds a job only by its entry, and stops at an entry that
// disagrees with its job's status.
func queueEntry(f layout.Finding, _ map[string]*item) Stop {
	state := newqueue.JobState(znode.Name(znode.Parent(f.Path)))
	d := Worker(state, "")
	switch {
	case d == "" || state == newqueue.JobHeld || state == newqueue.JobFailed:
		return Stop{Admin, BreaksPage}
	case f.Rule == "queue-entry/no-entry":
		return Stop{d, NotFound}
	case d == Inventory:
		return Stop{d, Stuck}
	}
	return Stop{d, StopsQueue}
}

func batchEntry(f layout.Finding, _ map[string]*item) Stop {
	missing := f.Rule == "batch-entry/no-entry"
	switch processing := znode.Name(znode.Parent(f.Path)) == string(newqueue.FolderProcessing); {
	case processing && missing:
		return Stop{BatchReport, ReportsEarly}
	case processing:
		return Stop{BatchReport, NeverReported}
	}
	return Stop{BatchReport, ReportsWrong}
}

// strayBatchEntry: the report and the cleanup load every job that has an entry
// below a batch.
func strayBatchEntry(f layout.Finding, items map[string]*item) Stop {
	folder := newqueue.BatchFolder(znode.Name(znode.Parent(f.Path)))
	batch := items[strings.Split(f.Path, "/states/")[0]]
	switch {
	case folder == newqueue.FolderProcessing:
		return Stop{BatchReport, NeverReported}
	case folder == newqueue.FolderDeleted, batch != nil && (batch.isDone() || batch.state == "Failed"):
		return Stop{Cleanup, NeverCleaned}
	}
	return Stop{BatchReport, ReportLost}
}
