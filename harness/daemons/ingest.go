package daemons

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// daemon is a consumer of jobs: the six of mrt-ingest, and those of the storage and the
// inventory service.
type daemon struct {
	name  services.Daemon
	state string // whose jobs it acquires
	// ignoresHold: it works on even if there is a hold on ingest.
	ignoresHold bool
	// early: it reads the configuration in its main loop, to look for a hold on the
	// collection. If that throws, the job does not become Failed, but stays locked.
	early bool
	work  func(t *Turn, j *job)
	// message is what it writes to the status of a job that succeeded.
	message string
}

var deployedDaemons = []daemon{
	{name: services.Initialize, state: "Pending", early: true,
		work: handlers((*request).known, (*request).accept, (*request).verify, (*request).unpack)},
	{name: services.Estimate, state: "Estimating", early: true, message: "Success", work: ingest((*ingestion).estimate)},
	{name: services.Provision, state: "Provisioning", message: "Success", work: handlers()},
	{name: services.Download, state: "Downloading", message: "Success", work: handlers((*request).recognised, (*request).retrieve)},
	{name: services.Process, state: "Processing", message: "Success", work: ingest((*ingestion).process)},
	{name: services.Store, state: "Storing", message: "Success", work: (*Turn).store},
	{name: services.Inventory, state: "Recording", ignoresHold: true, work: (*Turn).record},
	{name: services.Notify, state: "Notify", message: "Success", work: handlers((*request).cleanUp)},
}

func (d daemon) consume(t *Turn) {
	if t.actor.ended || !d.ignoresHold && t.ingestHeld() {
		return
	}
	j := t.acquire(d)
	if j == nil {
		return
	}
	if d.early {
		var jp newqueue.Object
		if err := try(func() { jp = t.jsonProperty(j.path + "/configuration") }); err != nil {
			t.stuck(j.path, err) // the main loop catches the exception
			return
		}
		// In Estimating the step to Held is not allowed, and Estimate goes on.
		if profile, _ := value(jp, "profile"); d.state == "Pending" && profile != "" && t.exists("/locks/collections/"+profile) {
			t.done(j, "Held", "")
			return
		}
	}
	t.takes(j.record())
	if err := try(func() { d.work(t, j) }); err != nil {
		t.fail(j, err)
	} else {
		t.done(j, d.next(j), d.message)
	}
	// Storage and inventory unlock the object after the job. A daemon that is killed
	// before leaves a lock on storage, because that is persistent.
	for _, lock := range t.objectLocks {
		t.delete(lock)
	}
}

// next returns the state after a success. Inventory takes it from the job's status, which
// it does not check before. In the library Pending has none.
func (d daemon) next(j *job) string {
	if d.state == "Pending" {
		return "Estimating"
	}
	return success(j.status)
}

func (t *Turn) acquire(d daemon) *job {
	j, item, err := t.acquireJob(d.state)
	switch {
	case err != nil && d.name == services.Inventory:
		// Nothing catches the exception in the inventory service's loop.
		t.actor.ended = true
		t.trouble(services.EndsThread, item, err)
	case checked(err):
		// The daemon sleeps, and begins with the same job again.
		t.trouble(services.StopsQueue, item, err)
	case err != nil:
		t.stuck(item, err)
	case j != nil && j.status != d.state && d.name != services.Inventory:
		t.unlock(j.path)
		t.trouble(services.StopsQueue, item, fmt.Errorf("it is %s but is in the queue of %s", j.status, strings.ToLower(d.state)))
	default:
		return j
	}
	return nil
}

// stuck notes that an item stays locked, because its session stays open. So the next
// turn finds another one.
func (t *Turn) stuck(item string, err error) {
	t.did = true
	t.trouble(services.Stuck, item, err)
}

// fail does what every run() does in the end if there was an exception: the job becomes
// Failed and is unlocked.
func (t *Turn) fail(j *job, cause error) {
	err := try(func() { j.moveTo("Failed", cause.Error()) })
	t.unlock(j.path)
	if err != nil {
		t.trouble(services.Stuck, j.path, err)
		return
	}
	t.reaches(j.record(), "Failed")
	t.trouble(services.Fails, j.path, cause)
}

// done moves the job to its next state. Like fail, it first writes the status, then
// replaces the entry below /jobs/states, then that below the batch, and then unlocks:
// no two of these are one transaction.
func (t *Turn) done(j *job, status, message string) {
	switch err := try(func() { j.moveTo(status, message) }); {
	case err == nil:
		t.unlock(j.path)
		t.reaches(j.record(), status)
		t.took(j.path)
	case t.actor.daemon == services.Inventory:
		t.stuck(j.path, err)
	default:
		t.fail(j, err)
	}
}

// ingestion is what a daemon of mrt-ingest has at hand while it works on a job.
type ingestion struct {
	request
	*Turn
	job *job
	jp  newqueue.Object // its configuration
}

func handlers(all ...func(*request, *Turn)) func(*Turn, *job) {
	return ingest(func(i *ingestion) {
		for _, h := range all {
			h(&i.request, i.Turn)
		}
	})
}

// ingest returns the work of a daemon of mrt-ingest: what run() of all of them does, and
// then its own.
func ingest(work func(*ingestion)) func(*Turn, *job) {
	return func(t *Turn, j *job) {
		jp, ji := t.jsonProperty(j.path+"/configuration"), t.jsonProperty(j.path+"/identifiers")
		r := populate(jp, ji)
		r.openJob(t)
		if t.fails(j.record()) {
			throwf("FAIL file exists: HOME/queue/%s_FAIL - Forcing a failure", t.actor.daemon)
		}
		work(&ingestion{request: r, Turn: t, job: j, jp: jp})
	}
}

// estimate writes how much space the job needs, which is nothing if producer/ is empty.
// If it can't find out the length of what the manifest lists, it writes -1, and gives the
// job a lower priority.
func (i *ingestion) estimate() {
	i.recognised(i.Turn)
	size := "1048576"
	switch p := i.payload(i.Turn); {
	case p == InFolder || p == CleanedUp:
		size = "0"
	case i.packageType == "manifest" && p != InProducer:
		throwf("manifest integrity check fails: %s", i.filename)
	case i.packageType == "manifest" && i.world.Unsized != nil && i.world.Unsized(i.job.priority):
		size = "-1"
	}
	i.set(i.job.path+"/space_needed", size)
	if size == "-1" {
		i.job.setPriority(i.job.priority + 10)
		i.job.place(true)
	}
}

const owner = "ark:/99166/p9owner"

// identify does what ProcessManager and HandlerMinter do: they find or mint the object's
// id. While they look a local id up, it is locked. They wait for that lock for ever.
func (i *ingestion) identify() {
	if i.primaryID == "" && i.localID != "" {
		lock := "/locks/localid/" + lockName(i.localID+"_"+owner)
		for !i.ephemeral(lock) {
			i.waits(i.job.path, lock)
		}
		defer i.delete(lock)
	}
	// A demo collection never gets a new version of an object
	// (docs/deployed-services.md, "Ids").
	if strings.HasPrefix(i.profile, "demo_") && i.primaryID != "" {
		i.localID, i.primaryID = augmented(i.localID, i.primaryID), ""
	}
	i.primaryID = i.world.object(i.primaryID, i.localID)
}

func (w *World) object(ark, localID string) string {
	if ark == "" {
		ark = w.arks[localID]
	}
	if ark == "" {
		w.minted++
		ark = fmt.Sprintf("ark:/99999/fk4minted%04d", w.minted)
	}
	if localID != "" {
		w.arks[localID] = ark
	}
	return ark
}

// augmented does what JobState.setLocalID does if there is a local id, with MintUtil.sanitize.
func augmented(localID, more string) string {
	if localID == "" {
		return more
	}
	var all []string
	for _, id := range strings.Split(localID+";"+more, ";") {
		if id = strings.TrimSpace(id); !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return strings.Join(all, ";")
}

// metadata is what the payload says of itself. ProcessConsumer adds it to a configuration
// that says nothing.
var metadata = map[string]string{"creator": "Creator in the payload", "title": "Title in the payload", "date": "2024"}

// process writes where storage and inventory find the object, its ids, and the
// configuration, in this order. It rewrites the configuration of every job, even if it
// adds nothing (docs/deployed-services.md, "What the daemons write").
func (i *ingestion) process() {
	j, content := i.job, i.hasContent(i.Turn)
	i.identify()
	escaped := url.QueryEscape(i.primaryID)
	if optString(j.inventory, "manifest_url") == "" {
		j.inventory["manifest_url"], j.inventory["mode"] = "http://store.example.org/manifest/9501/"+escaped, ""
		i.putObject(j.path+"/inventory", j.inventory)
	}
	if optString(j.storeData, "manifest_url") == "" {
		mode := "add"
		if i.update {
			mode = "update"
		}
		j.storeData["manifest_url"] = fmt.Sprintf("http://ingest.example.org/ingestqueue/%s/%s/system/mrt-manifest.txt", i.batchID, i.jobID)
		j.storeData["mode"], j.storeData["delete"] = mode+"/9501/"+escaped, ""
		i.putObject(j.path+"/store", j.storeData)
	}
	for key, found := range metadata {
		if _, there := value(i.jp, key); !there && content {
			i.jp[key] = found
		}
	}
	if old, _ := value(i.jp, "localID"); old == "" && i.localID != "" {
		i.jp["localID"] = i.localID
	}
	if _, there := value(i.jp, "objectID"); !there {
		i.jp["objectID"] = i.primaryID
	}
	ids := jobIdentifiers(i.primaryID, i.localID)
	if javaJSON(ids) != javaJSON(j.identifiers) { // Job.setIdentifiers writes only what is not similar
		i.putObject(j.path+"/identifiers", ids)
	}
	i.set(j.path+"/configuration", javaJSON(i.jp))
}

// jobIdentifiers does what Job.createJobIdentifiers does.
func jobIdentifiers(primary, local string) newqueue.Object {
	ids := []any{}
	for _, id := range strings.Split(local, ";") {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return newqueue.Object{"primary_id": primary, "local_id": ids}
}
