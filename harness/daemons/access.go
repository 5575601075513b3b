package daemons

import (
	"fmt"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// assemblies runs the two access workers: one for large requests, which takes small
// ones, too, and one for small requests. Each checks only the hold of its own queue.
func (w *World) assemblies() {
	if !w.exists(newqueue.QueueHoldPath(newqueue.HoldAccessLarge)) {
		w.assemble(newqueue.AccessLarge)
		w.assemble(newqueue.AccessSmall)
	}
	if !w.exists(newqueue.QueueHoldPath(newqueue.HoldAccessSmall)) {
		w.assemble(newqueue.AccessSmall)
	}
}

type access struct {
	*library
	path, status string
	token        newqueue.Object
}

var nextOfAccess = map[string][]string{
	"Pending": {"Processing"}, "Processing": {"Completed", "Failed"}, "Failed": {"Processing", "Deleted"}, "Completed": {}, "Deleted": {},
}

func (a *access) load() error {
	o, err := a.jsonProperty(a.path + "/status")
	if err != nil {
		return err
	}
	if a.status, err = getString(o, "status"); err != nil {
		return err
	}
	if _, known := nextOfAccess[a.status]; !known {
		return fmt.Errorf("no enum constant AccessState.%s", a.status)
	}
	a.token, err = a.optJSONProperty(a.path + "/token")
	return err
}

func (a *access) setStatus(status string) error {
	o, err := a.jsonProperty(a.path + "/status")
	if err != nil {
		return err
	}
	o["status"], o["message"], o["last_modified"] = status, "", now()
	a.status = status
	return a.putObject(a.path+"/status", o)
}

// assemble takes every pending request of a queue. It loads each request before it
// looks at its state, so one bad request stops the queue.
func (w *World) assemble(q newqueue.AccessQueue) {
	queue := newqueue.AccessQueuePath(q)
	names, err := w.children(queue)
	if err != nil {
		w.trouble(services.Access, services.StopsQueue, queue, err)
		return
	}
	for _, name := range names {
		a := &access{library: w.library, path: queue + "/" + name}
		if err := a.load(); err != nil {
			w.trouble(services.Access, services.StopsQueue, a.path, err)
			return
		}
		if a.status != "Pending" || !w.lock(a.path) {
			continue
		}
		if _, err := getString(a.token, "token"); err != nil {
			// A pending request cannot become Failed, so it stays Pending and locked.
			w.trouble(services.Access, services.Stuck, a.path, err)
			continue
		}
		err := w.tokenRun(a)
		if err != nil {
			w.trouble(services.Access, services.Fails, a.path, err)
		} else {
			w.took(services.Access, a.path)
		}
		w.unlock(a.path)
	}
}

func (w *World) tokenRun(a *access) error {
	_, bytesErr := getNumber(a.token, "cloud-content-byte", 64)
	_, nodeErr := getNumber(a.token, "delivery-node", 64)
	if err := a.setStatus("Processing"); err != nil {
		return err
	}
	for _, err := range []error{bytesErr, nodeErr} {
		if err != nil {
			a.setStatus("Failed")
			return err
		}
	}
	return a.setStatus("Completed")
}
