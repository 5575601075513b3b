package daemons

import (
	"fmt"
	"strconv"
	"strings"

	"mrtq/newqueue"
)

// job is org.cdlib.mrt.zk.Job.
type job struct {
	item
	bid                                     string
	retry                                   int64
	priority                                int64
	data, identifiers, inventory, storeData newqueue.Object
	statePath, batchPath                    string
}

func (l *library) job(id string) *job {
	return &job{item: item{library: l, id: id, path: "/jobs/" + id, steps: jobSteps}}
}

// load does what QueueItem.load, Job.loadStatus and Job.loadProperties do.
func (j *job) load(setStatus bool) {
	j.retry = getNumber(j.loadStatus(), "retry_count", 32)
	j.data = j.optJSONProperty(j.path + "/configuration")
	j.bid = j.get(j.path + "/bid")
	j.priority = j.number("priority", 32)
	j.number("space_needed", 64)
	j.identifiers = j.optJSONProperty(j.path + "/identifiers")
	j.optJSONProperty(j.path + "/metadata")
	j.inventory = j.optJSONProperty(j.path + "/inventory")
	j.storeData = j.optJSONProperty(j.path + "/store")
	if setStatus {
		j.place(false)
	}
}

func (j *job) number(node string, bits int) int64 {
	n, err := strconv.ParseInt(j.get(j.path+"/"+node), 10, bits)
	if err != nil {
		throw(invalid("improperly formatted number for %s/%s", j.path, node))
	}
	return n
}

// place does what setJobStatePath and setBatchStatePath do: they delete the entry that
// the job had and create the new one. With again they do so even if the two are the
// same, because the Java library compares strings with ==.
func (j *job) place(again bool) {
	j.move(&j.statePath, "/jobs/states/"+strings.ToLower(j.status), fmt.Sprintf("%02d-%s", j.priority, j.id), again)
	sub := newqueue.JobState(strings.ToLower(j.status)).Folder()
	j.move(&j.batchPath, "/batches/"+j.bid+"/states/"+string(sub), j.id, again)
}

func (l *library) move(path *string, folder, name string, again bool) {
	entry := folder + "/" + name
	if again || entry != *path {
		l.delete(*path)
	}
	*path = entry
	if l.exists(entry) {
		return
	}
	l.createIfNeeded(folder)
	l.create(entry, "")
}

// moveTo does what setStatus of a Job does.
func (j *job) moveTo(status, message string) {
	j.setStatus(status, message, func(o newqueue.Object) {
		if _, there := o["last_successful_status"]; !there {
			o["last_successful_status"] = nil
		}
		if status != "Failed" && status != "Deleted" {
			o["last_successful_status"] = o["status"]
		}
		o["retry_count"] = j.retry
	})
	j.place(true)
}

// setPriority does what Job.setPriority does. The queue entry keeps the old priority
// until the next place.
func (j *job) setPriority(priority int64) {
	j.priority = priority
	j.set(j.path+"/priority", strconv.FormatInt(priority, 10))
}

func stringArray(v any) (all []string) {
	array, ok := v.([]any)
	if !ok {
		throwf("%v cannot be cast to JSONArray", v)
	}
	for i, v := range array {
		s, ok := v.(string)
		if !ok {
			throwf("JSONArray[%d] is not a string", i)
		}
		all = append(all, s)
	}
	return all
}

// remove does what Job.delete does.
func (j *job) remove() {
	if len(jobSteps[j.status]) > 0 {
		throw(stepError{j.status, "removed"})
	}
	j.delete(j.statePath)
	j.delete(j.batchPath)
	j.deleteAll(j.path)
}

// acquireJob does what Job.acquireJob does. An error ends its search. After a checked
// error the job is unlocked, after any other it stays locked. item is the path of what it was
// reading: the job, its queue entry or the queue. If it finds no job, j is nil.
func (l *library) acquireJob(state string) (j *job, item string, err error) {
	folder := "/jobs/states/" + strings.ToLower(state)
	if !l.exists(folder) {
		return nil, "", nil
	}
	entries, err := l.children(folder)
	if err != nil {
		return nil, folder, err
	}
	for _, entry := range entries {
		if len(entry) < 3 {
			return nil, folder + "/" + entry, invalid("string index out of range: 3")
		}
		j := l.job(entry[3:])
		if strings.Contains(j.id, "/") || j.id == "" || !l.lock(j.path) {
			continue
		}
		err := try(func() { j.load(true) })
		if checked(err) {
			l.unlock(j.path)
		}
		return j, j.path, err
	}
	return nil, "", nil
}

// record returns whose work the job is: see [World.Executions].
func (j *job) record() string {
	if id, _ := value(j.data, "jobID"); id != "" {
		return id
	}
	if manifest, _ := value(j.inventory, "manifest_url"); manifest != "" {
		return manifest
	}
	return j.path
}
