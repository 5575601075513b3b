package daemons

import (
	"fmt"
	"slices"
	"time"

	"mrtq/newqueue"
)

// item is org.cdlib.mrt.zk.QueueItem: a job, a batch or an access request.
type item struct {
	*library
	id, path string
	status   string
	steps    map[string][]string // the states that the library knows, and those that may follow
}

// The steps have the same content as nextStates of JobState, BatchState and AccessState.
var (
	jobSteps = map[string][]string{
		"Pending":      {"Held", "Estimating", "Failed"},
		"Held":         {"Pending", "Deleted"},
		"Estimating":   {"Provisioning", "Failed"},
		"Provisioning": {"Failed", "Downloading"},
		"Downloading":  {"Failed", "Processing"},
		"Processing":   {"Failed", "Storing"},
		"Storing":      {"Failed", "Recording"},
		"Recording":    {"Failed", "Notify"},
		"Notify":       {"Failed", "Completed"},
		"Failed":       {"Pending", "Estimating", "Provisioning", "Deleted", "Downloading", "Processing", "Storing", "Recording", "Notify"},
		"Completed":    {},
		"Deleted":      {},
	}
	batchSteps = map[string][]string{
		"Pending":         {"Held", "Processing"},
		"Held":            {"Pending", "Deleted"},
		"Processing":      {"Reporting", "Failed"},
		"Reporting":       {"Failed", "Completed"},
		"Failed":          {"UpdateReporting", "Deleted"},
		"UpdateReporting": {"Failed", "Completed"},
		"Completed":       {},
		"Deleted":         {},
	}
	accessSteps = map[string][]string{
		"Pending":    {"Processing"},
		"Processing": {"Completed", "Failed"},
		"Failed":     {"Processing", "Deleted"},
		"Completed":  {},
		"Deleted":    {},
	}
)

// success has the same content as JobState.success. In the library Pending has none.
var success = map[string]string{
	"Estimating": "Provisioning", "Provisioning": "Downloading", "Downloading": "Processing", "Processing": "Storing",
	"Storing": "Recording", "Recording": "Notify", "Notify": "Completed",
}

// loadStatus is the part of QueueItem.load that all items share. It returns the status.
func (i *item) loadStatus() (newqueue.Object, error) {
	if !i.exists(i.path) {
		return nil, invalid("missing node %s", i.path)
	}
	o, err := i.jsonProperty(i.path + "/status")
	if err != nil {
		return nil, err
	}
	if i.status, err = getString(o, "status"); err != nil {
		return nil, err
	}
	if _, known := i.steps[i.status]; !known {
		return nil, fmt.Errorf("no enum constant %s", i.status)
	}
	return o, nil
}

// stepError stands for a MerrittStateError.
type stepError struct{ from, to string }

func (e stepError) Error() string {
	return fmt.Sprintf("state change (%s->%s) is not allowed", e.from, e.to)
}

// setStatus does what QueueItem.setStatus does. It checks the step from the status that
// it loaded, not from the one that is in the znode now. more, if it is not nil, sets
// other keys.
func (i *item) setStatus(status, message string, more func(newqueue.Object)) error {
	if status == i.status {
		return nil
	}
	if !slices.Contains(i.steps[i.status], status) {
		return stepError{i.status, status}
	}
	o, err := i.jsonProperty(i.path + "/status")
	if err != nil {
		return err
	}
	if more != nil {
		more(o)
	}
	o["status"], o["message"], o["last_modified"] = status, message, now()
	i.status = status
	return i.putObject(i.path+"/status", o)
}

func now() string { return time.Now().Format("2006-01-02 15:04:05 -0700") }
