package daemons

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// batch is org.cdlib.mrt.zk.Batch.
type batch struct {
	*library
	id, status string
	data       newqueue.Object
	hasFailure bool
}

func (b *batch) path() string { return "/batches/" + b.id }

// nextOfBatch has the same content as BatchState.nextStates.
var nextOfBatch = map[string][]string{
	"Pending":         {"Held", "Processing"},
	"Held":            {"Pending", "Deleted"},
	"Processing":      {"Reporting", "Failed"},
	"Reporting":       {"Failed", "Completed"},
	"Failed":          {"UpdateReporting", "Deleted"},
	"UpdateReporting": {"Failed", "Completed"},
	"Completed":       {},
	"Deleted":         {},
}

func (b *batch) load() error {
	if !b.exists(b.path()) {
		return invalid("missing node %s", b.path())
	}
	o, err := b.jsonProperty(b.path() + "/status")
	if err != nil {
		return err
	}
	if b.status, err = getString(o, "status"); err != nil {
		return err
	}
	if _, known := nextOfBatch[b.status]; !known {
		return fmt.Errorf("no enum constant BatchState.%s", b.status)
	}
	if b.data, err = b.optJSONProperty(b.path() + "/submission"); err != nil {
		return err
	}
	failed, _ := b.children(b.path() + "/states/batch-failed")
	b.hasFailure = len(failed) > 0
	return nil
}

func (b *batch) setStatus(status, message string) error {
	if status == b.status {
		return nil
	}
	if !slices.Contains(nextOfBatch[b.status], status) {
		return errState{b.status, status}
	}
	o, err := b.jsonProperty(b.path() + "/status")
	if err != nil {
		return err
	}
	o["status"], o["message"], o["last_modified"] = status, message, now()
	b.status = status
	return b.putObject(b.path()+"/status", o)
}

// emptied returns the batches whose batch-processing exists and is empty.
func (w *World) emptied() ([]string, error) {
	names, err := w.children("/batches")
	var all []string
	for _, name := range names {
		path := "/batches/" + name + "/states/batch-processing"
		if !w.exists(path) {
			continue
		}
		jobs, err := w.children(path)
		if err != nil {
			return nil, err
		}
		if len(jobs) == 0 {
			all = append(all, name)
		}
	}
	return all, err
}

// batches does what BatchConsumer does: the first batch without states is a new
// submission, for which it creates the jobs.
func (w *World) batches() {
	if w.held() {
		return
	}
	for {
		names, err := w.children("/batches")
		if err != nil {
			w.trouble(services.Batch, services.StopsQueue, "/batches", err)
			return
		}
		i := slices.IndexFunc(names, func(name string) bool {
			return !w.exists("/batches/"+name+"/states") && !w.waiting[name] && w.lock("/batches/"+name)
		})
		if i < 0 {
			return
		}
		b := &batch{library: w.library, id: names[i]}
		if err := w.submit(b); err != nil {
			w.waiting[b.id] = true
			w.trouble(services.Batch, services.Stuck, b.path(), err)
		}
	}
}

func (w *World) submit(b *batch) error {
	if err := b.load(); err != nil {
		return err
	}
	if err := w.create(b.path()+"/states", ""); err != nil {
		return err
	}
	if err := b.setStatus("Processing", ""); err != nil {
		return err
	}
	jp, err := w.jsonProperty(b.path() + "/submission")
	if err != nil {
		return err
	}
	r, err := populate(jp, createIdentifiers(jp))
	if err != nil {
		return err
	}
	if err := r.openProfile(); err != nil {
		return err
	}
	if again := w.jobsOf(b.id); len(again) > 0 {
		w.trouble(services.Batch, services.Resubmits, b.path(), fmt.Errorf("it has %d jobs already", len(again)))
	}
	if err := w.createJob(b, jp); err != nil {
		return err
	}
	if err := b.setStatus("Reporting", ""); err != nil {
		return err
	}
	w.unlock(b.path())
	w.took(services.Batch, b.path())
	return nil
}

// createIdentifiers does what Job.createJobIdentifiers does.
func createIdentifiers(jp newqueue.Object) newqueue.Object {
	primary, _ := value(jp, "objectID")
	local, _ := value(jp, "localID")
	ids := []any{}
	for _, id := range strings.Split(local, ";") {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return newqueue.Object{"primary_id": primary, "local_id": ids}
}

// createJob does what Job.createJob does, for a submission of one object.
func (w *World) createJob(b *batch, jp newqueue.Object) error {
	id, err := w.sequential("/jobs/jid")
	if err != nil {
		return err
	}
	j := &job{library: w.library, id: id, bid: b.id, status: "Pending", priority: 5}
	configuration := newqueue.Object{"jobID": "jid-of-" + b.id}
	for k, v := range jp {
		configuration[k] = v
	}
	nodes := map[string]newqueue.Object{"configuration": configuration, "identifiers": createIdentifiers(jp), "status": {"status": "Pending", "last_successful_status": nil, "retry_count": 0, "last_modified": now(), "message": ""}}
	for name, o := range nodes {
		if err := w.putObject(j.path()+"/"+name, o); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"bid": b.id, "priority": "5", "space_needed": "0"} {
		if err := w.create(j.path()+"/"+name, text); err != nil {
			return err
		}
	}
	return j.place()
}

// jobsOf returns the jobs that name the given batch in their bid.
func (w *World) jobsOf(bid string) []string {
	var all []string
	names, _ := w.children("/jobs")
	for _, name := range names {
		if b, _ := w.get("/jobs/" + name + "/bid"); b == bid {
			all = append(all, name)
		}
	}
	return all
}

// Clean runs the cleanup once (Batch.deleteCompletedBatches). The deployed services
// run it when they start and then every hour. It ignores holds.
func (w *World) Clean() (err error) {
	defer w.lost(&err)
	names, err := w.emptied()
	if err != nil {
		w.trouble(services.Cleanup, services.NeverCleaned, "/batches", err)
		return nil
	}
	for _, name := range names {
		b := &batch{library: w.library, id: name}
		if err := b.load(); err != nil {
			// The original throws before it looks at the batch's status, so it
			// cleans no later batch.
			w.trouble(services.Cleanup, services.NeverCleaned, b.path(), err)
			return nil
		}
		if b.status != "Completed" && b.status != "Deleted" {
			continue
		}
		if err := w.remove(b); err != nil {
			w.trouble(services.Cleanup, services.NeverCleaned, b.path(), err)
			continue
		}
		w.Removed = append(w.Removed, b.id)
	}
	return nil
}

func (w *World) remove(b *batch) error {
	for _, f := range newqueue.BatchFolders {
		names, _ := w.children(b.path() + "/states/" + string(f))
		for _, name := range names {
			j := &job{library: w.library, id: name, bid: b.id}
			if err := j.load(true); err != nil {
				return err
			}
			if err := j.remove(); err != nil {
				return err
			}
		}
	}
	uuid, err := stringOr(b.data, "batchID", "")
	if err != nil {
		return err
	}
	if uuid != "" {
		if err := w.delete("/batch-uuids/" + uuid); err != nil {
			return err
		}
	}
	return w.deleteAll(b.path())
}
