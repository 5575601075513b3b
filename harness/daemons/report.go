package daemons

import (
	"fmt"
	"slices"

	"mrtq/internal/layout/merritt/services"
)

// reportBatch is one turn of BatchReportConsumer. It loads a batch before it locks it.
// So two reporters can find the same batch, and both mail its report: the second
// overwrites Completed with Reporting, because it checks the step from the status that
// it loaded (docs/deployed-services.md, "Emails").
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
		if err := try(b.load); err != nil {
			// This is before it locks the batch, so the next time it begins with
			// the same batch again.
			t.trouble(services.StopsReports, b.path, err)
			return
		}
		if !due(b) || !t.lock(b.path) {
			continue
		}
		if t.actor.daemon == services.BatchReport {
			if err := try(func() { b.setStatus("Reporting", "", nil) }); err != nil {
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
	var r request
	err := try(func() {
		jp := t.jsonProperty(b.path + "/submission")
		r = populate(jp, submittedIdentifiers(jp))
		r.openProfile()
	})
	if err == nil {
		if lost := try(func() { t.mail(b, r) }); lost != nil {
			t.trouble(services.ReportLost, b.path, lost)
		}
		err = try(func() {
			if b.hasFailure {
				b.setStatus("Failed", "Batch failure", nil)
			} else {
				b.setStatus("Completed", "", nil)
			}
		})
	}
	if err != nil {
		t.trouble(services.StuckReporting, b.path, err)
		return
	}
	t.unlock(b.path)
	t.took(b.path)
}

// mail does what HandlerNotification of batchReport does.
func (t *Turn) mail(b *batch, r request) {
	bid := t.get("/batch-uuids/" + r.batchID)
	found := t.batch(bid)
	found.load()
	if left, _ := t.children(found.path + "/states/batch-processing"); len(left) > 0 {
		throwf("its batchID leads to %s, which is not complete", bid)
	}
	if bid != b.id {
		throwf("its batchID leads to %s", bid)
	}
	m := Email{Batch: b.id, Completed: t.listed(found, "batch-completed", false), Failed: t.listed(found, "batch-failed", true)}
	m.OK = len(m.Failed) == 0
	getString(found.data, "submissionDate")
	getString(found.data, "submitter")
	t.judge(m)
	t.send(m)
}

func (t *Turn) judge(m Email) {
	listed := map[string]bool{}
	for _, id := range slices.Concat(m.Completed, m.Failed) {
		listed[id] = true
	}
	for _, jid := range t.world.jobsOf(&t.library, m.Batch) {
		id, _ := value(t.peekJSON("/jobs/"+jid+"/configuration"), "jobID")
		switch status, _ := value(t.peekJSON("/jobs/"+jid+"/status"), "status"); {
		case listed[id] || status == "Deleted":
		case status == "Completed" || status == "Failed":
			t.trouble(services.ReportsWrong, "/jobs/"+jid, fmt.Errorf("the report of %s leaves it out", m.Batch))
		default:
			t.trouble(services.ReportsEarly, "/jobs/"+jid, fmt.Errorf("%s was reported while it is %s", m.Batch, status))
		}
	}
}

func (t *Turn) listed(b *batch, folder string, failed bool) (ids []string) {
	names, _ := t.children(b.path + "/states/" + folder)
	for _, name := range names {
		j := t.job(name)
		j.load(false)
		if failed {
			getString(t.jsonProperty(j.path+"/status"), "message")
		}
		if local, there := j.identifiers["local_id"]; there {
			stringArray(local)
		}
		id, _ := value(j.data, "jobID")
		ids = append(ids, id)
	}
	return ids
}

func (t *Turn) send(m Email) {
	t.before("mail the report of", m.Batch)
	t.world.Emails = append(t.world.Emails, m)
}
