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
func (j *job) load(setStatus bool) error {
	status, err := j.loadStatus()
	if err != nil {
		return err
	}
	if j.retry, err = getNumber(status, "retry_count", 32); err != nil {
		return err
	}
	if j.data, err = j.optJSONProperty(j.path + "/configuration"); err != nil {
		return err
	}
	if j.bid, err = j.get(j.path + "/bid"); err != nil {
		return err
	}
	if j.priority, err = j.number("priority", 32); err != nil {
		return err
	}
	if _, err = j.number("space_needed", 64); err != nil {
		return err
	}
	var unused newqueue.Object
	for _, node := range []struct {
		name string
		to   *newqueue.Object
	}{{"identifiers", &j.identifiers}, {"metadata", &unused}, {"inventory", &j.inventory}, {"store", &j.storeData}} {
		if *node.to, err = j.optJSONProperty(j.path + "/" + node.name); err != nil {
			return err
		}
	}
	if setStatus {
		return j.place(false)
	}
	return nil
}

func (j *job) number(node string, bits int) (int64, error) {
	text, err := j.get(j.path + "/" + node)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, invalid("improperly formatted number for %s/%s", j.path, node)
	}
	return n, nil
}

// place does what setJobStatePath and setBatchStatePath do: they delete the entry that
// the job had and create the new one. With again they do so even if the two are the
// same, because the Java library compares strings with ==.
func (j *job) place(again bool) error {
	folder := "/jobs/states/" + strings.ToLower(j.status)
	if err := j.move(&j.statePath, folder, fmt.Sprintf("%02d-%s", j.priority, j.id), again); err != nil {
		return err
	}
	sub := newqueue.JobState(strings.ToLower(j.status)).Folder()
	return j.move(&j.batchPath, "/batches/"+j.bid+"/states/"+string(sub), j.id, again)
}

func (l *library) move(path *string, folder, name string, again bool) error {
	entry := folder + "/" + name
	if again || entry != *path {
		l.delete(*path)
	}
	*path = entry
	if l.exists(entry) {
		return nil
	}
	if err := l.createIfNeeded(folder); err != nil {
		return err
	}
	return l.create(entry, "")
}

// moveTo does what setStatus of a Job does.
func (j *job) moveTo(status, message string) error {
	err := j.setStatus(status, message, func(o newqueue.Object) {
		if _, there := o["last_successful_status"]; !there {
			o["last_successful_status"] = nil
		}
		if status != "Failed" && status != "Deleted" {
			o["last_successful_status"] = o["status"]
		}
		o["retry_count"] = j.retry
	})
	if err != nil {
		return err
	}
	return j.place(true)
}

// setPriority does what Job.setPriority does. The queue entry keeps the old priority
// until the next place.
func (j *job) setPriority(priority int64) error {
	j.priority = priority
	return j.set(j.path+"/priority", strconv.FormatInt(priority, 10))
}

// localID does what Job.localId does: it casts local_id to an array, and each element
// to a string.
func (j *job) localID() (string, error) {
	v, there := j.identifiers["local_id"]
	if !there {
		return "", nil
	}
	ids, err := stringArray(v)
	return strings.Join(ids, ";"), err
}

func stringArray(v any) ([]string, error) {
	array, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v cannot be cast to JSONArray", v)
	}
	var all []string
	for i, v := range array {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("JSONArray[%d] is not a string", i)
		}
		all = append(all, s)
	}
	return all, nil
}

// remove does what Job.delete does.
func (j *job) remove() error {
	if len(jobSteps[j.status]) > 0 {
		return stepError{j.status, "removed"}
	}
	j.delete(j.statePath)
	j.delete(j.batchPath)
	j.deleteAll(j.path)
	return nil
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
		err := j.load(true)
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
