package daemons

import (
	"fmt"
	"slices"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// reports does what BatchReportConsumer does.
func (w *World) reports() {
	if w.held() {
		return
	}
	names, err := w.emptied()
	if err != nil {
		w.trouble(services.BatchReport, services.StopsReports, "/batches", err)
		return
	}
	for _, name := range names {
		b := &batch{library: w.library, id: name}
		if err := b.load(); err != nil {
			// This is before it locks the batch, so the next time it begins with
			// the same batch again.
			w.trouble(services.BatchReport, services.StopsReports, b.path(), err)
			return
		}
		if slices.Contains([]string{"Completed", "Failed", "UpdateReporting"}, b.status) || !w.lock(b.path()) {
			continue
		}
		if err := b.setStatus("Reporting", ""); err != nil {
			w.trouble(services.BatchReport, services.NeverReported, b.path(), err)
			return // locked, so it is skipped from the next time on
		}
		w.report(services.BatchReport, b)
	}
}

// updateReports does what UpdateBatchReportConsumer does.
func (w *World) updateReports() {
	if w.held() {
		return
	}
	names, _ := w.emptied()
	for _, name := range names {
		b := &batch{library: w.library, id: name}
		if err := b.load(); err != nil {
			w.trouble(services.UpdateBatchReport, services.StopsReports, b.path(), err)
			return
		}
		if b.status == "UpdateReporting" && w.lock(b.path()) {
			w.report(services.UpdateBatchReport, b)
		}
	}
}

// report does what run() of both consumers does. If that throws, the batch stays as
// it is, and locked, until the services are restarted. It ignores exceptions of the
// mail handler.
func (w *World) report(d services.Daemon, b *batch) {
	jp, err := w.jsonProperty(b.path() + "/submission")
	var r request
	if err == nil {
		r, err = populate(jp, createIdentifiers(jp))
	}
	if err == nil {
		err = r.openProfile()
	}
	if err != nil {
		w.trouble(d, services.StuckReporting, b.path(), err)
		return
	}
	if err := w.mail(b, jp, r); err != nil {
		w.trouble(d, services.ReportLost, b.path(), err)
	}
	end := "Completed"
	if b.hasFailure {
		end = "Failed"
	}
	if err := b.setStatus(end, ""); err != nil {
		w.trouble(d, services.StuckReporting, b.path(), err)
		return
	}
	w.unlock(b.path())
	w.took(d, b.path())
}

// mail does what HandlerNotification of batchReport does.
func (w *World) mail(b *batch, jp newqueue.Object, r request) error {
	bid, err := w.get("/batch-uuids/" + r.batchID)
	if err != nil {
		return err
	}
	found := &batch{library: w.library, id: bid}
	if err := found.load(); err != nil {
		return err
	}
	if left, _ := w.children(found.path() + "/states/batch-processing"); len(left) > 0 {
		return fmt.Errorf("its batchID leads to %s, which is not complete", bid)
	}
	if bid != b.id {
		return fmt.Errorf("its batchID leads to %s", bid)
	}
	m := Mail{Batch: b.id, OK: true}
	m.To, _ = value(jp, "notification")
	if m.Completed, err = w.listed(found, "batch-completed", false); err != nil {
		return err
	}
	if m.Failed, err = w.listed(found, "batch-failed", true); err != nil {
		return err
	}
	m.OK = len(m.Failed) == 0
	for _, key := range []string{"submissionDate", "submitter"} {
		if _, err := getString(found.data, key); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	for _, id := range slices.Concat(m.Completed, m.Failed) {
		known[id] = true
	}
	for _, jid := range w.jobsOf(b.id) {
		o, _ := w.jsonProperty("/jobs/" + jid + "/status")
		c, _ := w.jsonProperty("/jobs/" + jid + "/configuration")
		id, _ := value(c, "jobID")
		switch status, _ := value(o, "status"); {
		case known[id] || status == "Deleted":
		case status == "Completed" || status == "Failed":
			w.trouble(services.BatchReport, services.ReportsWrong, "/jobs/"+jid, fmt.Errorf("the report of %s leaves it out", b.id))
		default:
			w.trouble(services.BatchReport, services.ReportsEarly, "/jobs/"+jid, fmt.Errorf("%s was reported while it is %s", b.id, status))
		}
	}
	w.Mails = append(w.Mails, m)
	return nil
}

// listed returns the jobs in a folder, as the mail's attachment lists them.
func (w *World) listed(b *batch, folder string, failed bool) ([]string, error) {
	names, _ := w.children(b.path() + "/states/" + folder)
	var ids []string
	for _, name := range names {
		j := &job{library: w.library, id: name, bid: b.id}
		if err := j.load(false); err != nil {
			return nil, err
		}
		if failed {
			o, err := w.jsonProperty(j.path() + "/status")
			if err != nil {
				return nil, err
			}
			if _, err := getString(o, "message"); err != nil {
				return nil, err
			}
		}
		if _, err := j.localID(); err != nil {
			return nil, err
		}
		id, _ := value(j.data, "jobID")
		ids = append(ids, id)
	}
	return ids, nil
}
