package daemons

import (
	"fmt"
	"slices"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// batch is org.cdlib.mrt.zk.Batch.
type batch struct {
	item
	data       newqueue.Object
	hasFailure bool
}

func (l *library) batch(id string) *batch {
	return &batch{item: item{library: l, id: id, path: "/batches/" + id, steps: batchSteps}}
}

func (b *batch) load() {
	b.loadStatus()
	b.data = b.optJSONProperty(b.path + "/submission")
	failed, _ := b.children(b.path + "/states/batch-failed")
	b.hasFailure = len(failed) > 0
}

func (l *library) emptied(bid string) (bool, error) {
	path := "/batches/" + bid + "/states/batch-processing"
	if !l.exists(path) {
		return false, nil
	}
	jobs, err := l.children(path)
	return len(jobs) == 0, err
}

// ingestHeld reports whether there is a hold on ingest. If the check fails, the daemons take
// that as no hold.
func (t *Turn) ingestHeld() bool { return t.exists(newqueue.QueueHoldPath(newqueue.HoldIngest)) }

// submitBatch is one turn of BatchConsumer: the first batch without states is a new
// submission. Here it gets no jobs, because nobody submits to a migrated queue: a batch
// without states has its jobs. Before that it makes folders that are missing, and ignores
// errors.
func (t *Turn) submitBatch() {
	if t.ingestHeld() {
		return
	}
	_ = t.makeFolders(jobFolders)
	names, err := t.children("/batches")
	if err != nil {
		t.trouble(services.StopsQueue, "/batches", err)
		return
	}
	for _, name := range names {
		b := t.batch(name)
		if t.exists(b.path+"/states") || !t.lock(b.path) {
			continue
		}
		if err := try(func() { t.submit(b) }); err != nil {
			t.stuck(b.path, err)
		}
		return
	}
}

func (t *Turn) submit(b *batch) {
	b.load()
	t.create(b.path+"/states", "")
	b.setStatus("Processing", "", nil)
	jp := t.jsonProperty(b.path + "/submission")
	r := populate(jp, submittedIdentifiers(jp))
	r.openProfile()
	if again := t.world.jobsOf(&t.library, b.id); len(again) > 0 {
		t.trouble(services.Resubmits, b.path, fmt.Errorf("it has %d jobs already", len(again)))
	}
	b.setStatus("Reporting", "", nil)
	t.unlock(b.path)
	t.took(b.path)
}

func submittedIdentifiers(jp newqueue.Object) newqueue.Object {
	primary, _ := value(jp, "objectID")
	local, _ := value(jp, "localID")
	return jobIdentifiers(primary, local)
}

// jobsOf returns the jobs that name the given batch in their bid. A job's bid never changes, so
// all are read again only if there are other jobs.
func (w *World) jobsOf(l *library, bid string) []string {
	names, _ := l.children("/jobs")
	if !slices.Equal(names, w.jobs) {
		w.jobs, w.byBatch = names, map[string][]string{}
		for _, name := range names {
			b := l.peek("/jobs/" + name + "/bid")
			w.byBatch[b] = append(w.byBatch[b], name)
		}
	}
	return w.byBatch[bid]
}

// clean is one pass of the hourly cleanup. It ignores holds and locks.
func (t *Turn) clean() {
	names, err := t.children("/batches")
	if err != nil {
		t.trouble(services.NeverCleaned, "/batches", err)
		return
	}
	for _, name := range names {
		b := t.batch(name)
		if done, err := t.emptied(name); err != nil || !done {
			continue
		}
		if err := try(b.load); err != nil {
			// The original throws before it looks at the batch's status, so it
			// cleans no later batch.
			t.trouble(services.NeverCleaned, b.path, err)
			return
		}
		if b.status != "Completed" && b.status != "Deleted" {
			continue
		}
		if err := try(b.remove); err != nil {
			t.trouble(services.NeverCleaned, b.path, err)
			continue
		}
		t.removed(b.id)
	}
}

func (t *Turn) removed(bid string) {
	t.did = true
	t.world.Removed = append(t.world.Removed, bid)
}

// remove does what Batch.delete does: it removes the jobs, then the entry of batch-uuids,
// then the batch.
func (b *batch) remove() {
	for _, f := range newqueue.BatchFolders {
		names, _ := b.children(b.path + "/states/" + string(f))
		for _, name := range names {
			j := b.job(name)
			j.load(true)
			j.remove()
		}
	}
	if uuid := optString(b.data, "batchID"); uuid != "" {
		b.delete("/batch-uuids/" + uuid)
	}
	b.deleteAll(b.path)
}
