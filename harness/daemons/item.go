package daemons

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// item is org.cdlib.mrt.zk.QueueItem: a job, a batch or an access request.
type item struct {
	*library
	id, path string
	status   string
	steps    map[string][]string // the states that the library knows, and those that may follow
}

// The steps are those of nextStates of JobState, BatchState and AccessState.
var (
	jobSteps    = steps(states.Job)
	batchSteps  = steps(states.Batch)
	accessSteps = steps(states.Access)
)

func steps(e states.Entity) map[string][]string {
	all := map[string][]string{}
	table := states.Transitions(e, string(newqueue.MrtZK))
	for _, from := range states.All(e) {
		all[javaName(from)] = nil
		for _, t := range table.From(from) {
			if t.To != states.Removed {
				all[javaName(from)] = append(all[javaName(from)], javaName(t.To))
			}
		}
	}
	return all
}

// javaName is a state as the library's enumerations name it.
func javaName(state string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(state, "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// success is JobState.success: the state after a success, or "". In the library Pending has none.
func success(status string) string {
	next := newqueue.Success(newqueue.JobState(strings.ToLower(status)), newqueue.MrtZK)
	if _, known := jobSteps[status]; !known || status == "Pending" || next == "" {
		return ""
	}
	return javaName(string(next))
}

// loadStatus is the part of QueueItem.load that all items share. It returns the status.
func (i *item) loadStatus() newqueue.Object {
	if !i.exists(i.path) {
		throw(invalid("missing node %s", i.path))
	}
	o := i.jsonProperty(i.path + "/status")
	i.status = getString(o, "status")
	if _, known := i.steps[i.status]; !known {
		throwf("no enum constant %s", i.status)
	}
	return o
}

// stepError stands for a MerrittStateError.
type stepError struct{ from, to string }

func (e stepError) Error() string {
	return fmt.Sprintf("state change (%s->%s) is not allowed", e.from, e.to)
}

// setStatus does what QueueItem.setStatus does. It checks the step from the status that
// it loaded, not from the one that is in the znode now. more, if it is not nil, sets
// other keys.
func (i *item) setStatus(status, message string, more func(newqueue.Object)) {
	if status == i.status {
		return
	}
	if !slices.Contains(i.steps[i.status], status) {
		throw(stepError{i.status, status})
	}
	o := i.jsonProperty(i.path + "/status")
	if more != nil {
		more(o)
	}
	o["status"], o["message"], o["last_modified"] = status, message, time.Now().Format("2006-01-02 15:04:05 -0700")
	i.status = status
	i.putObject(i.path+"/status", o)
}
