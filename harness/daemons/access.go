package daemons

import (
	"cmp"
	"errors"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// access is org.cdlib.mrt.zk.Access.
type access struct {
	item
	token newqueue.Object
}

func (a *access) load() {
	a.loadStatus()
	a.token = a.optJSONProperty(a.path + "/token")
}

// assembleLarge is one turn of the worker for large requests. It takes small ones, too.
// It looks at the hold of its own queue only.
func (t *Turn) assembleLarge() {
	if !t.exists(newqueue.QueueHoldPath(newqueue.HoldAccessLarge)) && !t.assemble(newqueue.AccessLarge) {
		t.assemble(newqueue.AccessSmall)
	}
}

func (t *Turn) assembleSmall() {
	if !t.exists(newqueue.QueueHoldPath(newqueue.HoldAccessSmall)) {
		t.assemble(newqueue.AccessSmall)
	}
}

// assemble takes the first pending request of a queue, and reports whether there was
// one. It loads each request before it looks at its state, so one bad request stops the
// queue.
func (t *Turn) assemble(q newqueue.AccessQueue) bool {
	queue := newqueue.AccessQueuePath(q)
	names, err := t.children(queue)
	if err != nil {
		t.trouble(services.StopsQueue, queue, err)
		return false
	}
	for name := range t.search(queue, "Pending", names) {
		a := &access{item: item{library: &t.library, id: name, path: queue + "/" + name, steps: accessSteps}}
		if err := try(a.load); err != nil {
			t.trouble(services.StopsQueue, a.path, err)
			return false
		}
		if a.status != "Pending" || !t.lock(a.path) {
			continue
		}
		// It loads it again, but does not look at its state again.
		err := try(func() {
			a.load()
			token := getString(a.token, "token")
			t.takes(token)
			t.tokenRun(a, token)
		})
		if err != nil {
			// A pending request cannot become Failed, so it stays Pending and locked.
			t.stuck(a.path, err)
		}
		return true
	}
	return false
}

// tokenRun assembles the object and unlocks the request. It throws if it could do neither.
func (t *Turn) tokenRun(a *access, token string) {
	a.setStatus("Processing", "", nil)
	bad := try(func() {
		getNumber(a.token, "cloud-content-byte", 64)
		getNumber(a.token, "delivery-node", 64)
	})
	if t.fails(token) {
		bad = cmp.Or(bad, errors.New("the object can't be assembled"))
	}
	end := "Failed"
	if bad == nil {
		end = "Completed"
		t.work("assemble", token, func(e *Execution) { e.Assembled++ })
	}
	a.setStatus(end, "", nil)
	t.reaches(token, end)
	t.unlock(a.path)
	if bad != nil {
		t.trouble(services.Fails, a.path, bad)
	} else {
		t.took(a.path)
	}
}
