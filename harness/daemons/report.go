package daemons

import (
	"fmt"
	"slices"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// reportBatch is one turn of BatchReportConsumer. It loads a batch before it locks it.
// So two reporters can find the same batch, and both mail its report: the second
// overwrites Completed with Reporting, because it checks the step from the status that
// it loaded (docs/deployed-services.md, "Mails").
func (t *Turn) reportBatch() {
	t.report(func(b *batch) bool {
		return !slices.Contains([]string{"Completed", "Failed", "UpdateReporting"}, b.status)
	})
}

// updateReport is one turn of UpdateBatchReportConsumer.
func (t *Turn) updateReport() {
	t.report(func(b *batch) bool { return b.status == "UpdateReporting" })
}

func (t *Turn) report(due func(*batch) bool) {
	if t.ingestHeld() {
		return
	}
	_ = t.makeFolders(jobFolders)
	names, err := t.children("/batches")
	if err != nil {
		t.trouble(services.StopsReports, "/batches", err)
		return
	}
	for name := range t.search("/batches", "", names) {
		b := t.batch(name)
		if done, err := t.emptied(name); err != nil || !done {
			continue
		}
		if err := b.load(); err != nil {
			// This is before it locks the batch, so the next time it begins with
			// the same batch again.
			t.trouble(services.StopsReports, b.path, err)
			return
		}
		if !due(b) || !t.lock(b.path) {
			continue
		}
		if t.actor.daemon == services.BatchReport {
			if err := b.setStatus("Reporting", "", nil); err != nil {
				t.trouble(services.NeverReported, b.path, err)
				t.did = true // it stays locked, so it is skipped from the next time on
				return
			}
		}
		t.sendReport(b)
		return
	}
}

// sendReport does what run() of both consumers does. If that throws, the batch stays as
// it is, and locked, until the services are restarted. It ignores exceptions of the
// mail handler.
func (t *Turn) sendReport(b *batch) {
	t.did = true
	jp, err := t.jsonProperty(b.path + "/submission")
	var r request
	if err == nil {
		r, err = populate(jp, submittedIdentifiers(jp))
	}
	if err == nil {
		err = r.openProfile()
	}
	if err != nil {
		t.trouble(services.StuckReporting, b.path, err)
		return
	}
	if err := t.mail(b, jp, r); err != nil {
		t.trouble(services.ReportLost, b.path, err)
	}
	end, message := "Completed", ""
	if b.hasFailure {
		end, message = "Failed", "Batch failure"
	}
	if err := b.setStatus(end, message, nil); err != nil {
		t.trouble(services.StuckReporting, b.path, err)
		return
	}
	t.unlock(b.path)
	t.took(b.path)
}

// mail does what HandlerNotification of batchReport does.
func (t *Turn) mail(b *batch, jp newqueue.Object, r request) error {
	bid, err := t.get("/batch-uuids/" + r.batchID)
	if err != nil {
		return err
	}
	found := t.batch(bid)
	if err := found.load(); err != nil {
		return err
	}
	if left, _ := t.children(found.path + "/states/batch-processing"); len(left) > 0 {
		return fmt.Errorf("its batchID leads to %s, which is not complete", bid)
	}
	if bid != b.id {
		return fmt.Errorf("its batchID leads to %s", bid)
	}
	m := Mail{Batch: b.id, OK: true}
	m.To, _ = value(jp, "notification")
	if m.Completed, err = t.listed(found, "batch-completed", false); err != nil {
		return err
	}
	if m.Failed, err = t.listed(found, "batch-failed", true); err != nil {
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
	for _, jid := range t.world.jobsOf(&t.library, b.id) {
		o, _ := t.jsonProperty("/jobs/" + jid + "/status")
		c, _ := t.jsonProperty("/jobs/" + jid + "/configuration")
		id, _ := value(c, "jobID")
		switch status, _ := value(o, "status"); {
		case known[id] || status == "Deleted":
		case status == "Completed" || status == "Failed":
			t.trouble(services.ReportsWrong, "/jobs/"+jid, fmt.Errorf("the report of %s leaves it out", b.id))
		default:
			t.trouble(services.ReportsEarly, "/jobs/"+jid, fmt.Errorf("%s was reported while it is %s", b.id, status))
		}
	}
	t.send(m)
	return nil
}

// listed returns the jobs in a folder, as the mail's attachment lists them.
func (t *Turn) listed(b *batch, folder string, failed bool) ([]string, error) {
	names, _ := t.children(b.path + "/states/" + folder)
	var ids []string
	for _, name := range names {
		j := t.job(name)
		if err := j.load(false); err != nil {
			return nil, err
		}
		if failed {
			o, err := t.jsonProperty(j.path + "/status")
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

// send sends a report.
func (t *Turn) send(m Mail) {
	t.before("mail the report of", m.Batch)
	for _, record := range slices.Concat(m.Completed, m.Failed) {
		t.note(record, func(e *Execution) { e.Mailed++ })
	}
	t.world.Mails = append(t.world.Mails, m)
}
