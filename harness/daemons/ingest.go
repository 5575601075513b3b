package daemons

import (
	"fmt"
	"net/url"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// ingestDaemon is one of mrt-ingest's consumers of jobs.
type ingestDaemon struct {
	name        services.Daemon
	state, next string
	// early means that it reads the configuration in its main loop, to check the
	// collection's hold. If that throws, the job does not become Failed, but stays
	// locked.
	early bool
	// handlers check what the daemon's handlers demand of the request.
	handlers []func(request) error
	// after makes the daemon's writes. It returns errWaits if the daemon waits
	// for a lock.
	after func(w *World, j *job, r request, jp newqueue.Object) error
}

var ingestDaemons = []ingestDaemon{
	{name: services.Initialize, state: "Pending", next: "Estimating", early: true, handlers: []func(request) error{request.known, request.verified}},
	{name: services.Estimate, state: "Estimating", next: "Provisioning", early: true, handlers: []func(request) error{request.recognised}, after: (*World).estimate},
	{name: services.Provision, state: "Provisioning", next: "Downloading"},
	{name: services.Download, state: "Downloading", next: "Processing", handlers: []func(request) error{request.recognised}},
	{name: services.Process, state: "Processing", next: "Storing", after: (*World).process},
	{name: services.Notify, state: "Notify", next: "Completed"},
}

// ingest lets a consumer wake up once and take all jobs that it finds.
func (w *World) ingest(d ingestDaemon) {
	if w.held() {
		return
	}
	for {
		j, ok := w.acquire(d.name, d.state)
		if !ok {
			return
		}
		if j == nil {
			continue
		}
		if d.early {
			jp, err := w.jsonProperty(j.path() + "/configuration")
			if err != nil {
				// The main loop catches the exception, and the lock stays.
				w.trouble(d.name, services.Stuck, j.path(), err)
				return
			}
			if profile, _ := value(jp, "profile"); d.name == services.Initialize && profile != "" && w.exists("/locks/collections/"+profile) {
				w.done(d.name, j, "Held", "")
				return
			}
		}
		if err := w.consume(d, j); err != nil {
			w.fail(d.name, j, err)
		}
	}
}

// errWaits means that a daemon's thread waits for a lock. The job stays as it is.
var errWaits = fmt.Errorf("it waits for a lock")

// consume does what run() of a consumer's task does.
func (w *World) consume(d ingestDaemon, j *job) error {
	jp, err := w.jsonProperty(j.path() + "/configuration")
	if err != nil {
		return err
	}
	ji, err := w.jsonProperty(j.path() + "/identifiers")
	if err != nil {
		return err
	}
	r, err := populate(jp, ji)
	if err != nil {
		return err
	}
	if err := r.openJob(w.Directories); err != nil {
		return err
	}
	for _, h := range d.handlers {
		if err := h(r); err != nil {
			return err
		}
	}
	if d.after != nil {
		err := d.after(w, j, r, jp)
		if err == errWaits {
			return nil
		}
		if err != nil {
			return err
		}
	}
	w.done(d.name, j, d.next, "Success")
	return nil
}

// estimate sets how much space the job needs. If it can't find out how much, it lowers the
// job's priority.
func (w *World) estimate(j *job, r request, _ newqueue.Object) error {
	if r.packageType == "manifest" && w.Unsized {
		return j.setPriority(j.priority + 10)
	}
	j.space = 1 << 20
	return w.set(j.path()+"/space_needed", "1048576")
}

// process mints an id if the job has none, and writes where storage and inventory
// find the object.
func (w *World) process(j *job, r request, jp newqueue.Object) error {
	if r.primaryID == "" && len(r.localIDs) > 0 {
		lock := "/locks/localid/" + lockName(r.localIDs[0])
		if !w.ephemeral(lock) {
			w.trouble(services.Process, services.Waits, j.path(), fmt.Errorf("it waits for %s", lock))
			return errWaits
		}
		defer w.delete(lock)
	}
	ark := r.primaryID
	if ark == "" {
		w.minted++
		ark = fmt.Sprintf("ark:/99999/fk4minted%04d", w.minted)
	}
	escaped := url.QueryEscape(ark)
	manifest, err := stringOr(j.inventory, "manifest_url", "")
	if err != nil {
		return err
	}
	if manifest == "" {
		j.inventory["manifest_url"], j.inventory["mode"] = "http://store.example.org/manifest/9501/"+escaped, ""
		if err := w.putObject(j.path()+"/inventory", j.inventory); err != nil {
			return err
		}
	}
	if manifest, err = stringOr(j.storeData, "manifest_url", ""); err != nil {
		return err
	}
	if manifest == "" {
		mode := "add"
		if r.update {
			mode = "update"
		}
		store := newqueue.Object{"manifest_url": fmt.Sprintf("http://ingest.example.org/ingestqueue/%s/%s/system/mrt-manifest.txt", r.batchID, r.jobID), "mode": mode + "/9501/" + escaped, "delete": ""}
		if err := w.putObject(j.path()+"/store", store); err != nil {
			return err
		}
	}
	if _, there := value(jp, "objectID"); !there {
		jp["objectID"] = ark
	}
	ids := make([]any, len(r.localIDs))
	for i, id := range r.localIDs {
		ids[i] = id
	}
	if err := w.putObject(j.path()+"/identifiers", newqueue.Object{"primary_id": ark, "local_id": ids}); err != nil {
		return err
	}
	return w.putObject(j.path()+"/configuration", jp)
}

// lockName does what MerrittLocks does: replaceAll(":?/", "_").
func lockName(id string) string {
	return strings.NewReplacer(":/", "_", "/", "_").Replace(id)
}
