package daemons

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Leftovers adds to the troubles what the daemons have left undone after a run: jobs
// and requests that none of them found, and batches that none of them reported.
func (w *World) Leftovers() (err error) {
	defer lost(&err)
	left := func(d services.Daemon, e services.Effect, item string, err error) {
		if len(w.Of(item)) == 0 {
			w.trouble(Trouble{d, e, item, err.Error()})
		}
	}
	jobs := w.states("/jobs")
	for jid, status := range jobs {
		d := services.Worker(newqueue.JobState(strings.ToLower(status)), "")
		if status == "Held" || status == "Failed" || d == "" || w.stopped(d) {
			continue
		}
		left(d, services.NotFound, "/jobs/"+jid, fmt.Errorf("it is still %s", status))
	}
	for bid, status := range w.states("/batches") {
		unfinished := false
		for _, jid := range w.jobsOf(&w.library, bid) {
			s := jobs[jid]
			unfinished = unfinished || s != "Completed" && s != "Failed" && s != "Deleted"
		}
		switch {
		case unfinished:
		case status == "UpdateReporting":
			left(services.UpdateBatchReport, services.NeverReported, "/batches/"+bid, errors.New("its jobs are done"))
		case status == "Processing", status == "Reporting", status == "Held":
			left(services.BatchReport, services.NeverReported, "/batches/"+bid, errors.New("its jobs are done"))
		}
	}
	uuids, _ := w.children("/batch-uuids")
	for _, uuid := range uuids {
		if bid := w.peek("/batch-uuids/" + uuid); slices.Contains(w.Removed, bid) {
			left(services.Cleanup, services.NeverCleaned, "/batch-uuids/"+uuid, fmt.Errorf("its batch %s was removed", bid))
		}
	}
	for _, q := range newqueue.AccessQueues {
		for qid, status := range w.states(newqueue.AccessQueuePath(q)) {
			if status == "Pending" || status == "Processing" {
				left(services.Access, services.NotFound, newqueue.AccessRequestPath(q, qid), fmt.Errorf("it is still %s", status))
			}
		}
	}
	return nil
}

func (w *World) stopped(d services.Daemon) bool {
	return slices.ContainsFunc(w.Troubles, func(t Trouble) bool {
		return t.Daemon == d && (t.Effect == services.StopsQueue || t.Effect == services.EndsThread)
	})
}
