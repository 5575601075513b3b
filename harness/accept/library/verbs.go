package library

// Verb is one act, as docs/drivers.md lists it.
type Verb struct {
	Name  string
	What  string // the kinds that it is asked about
	Asks  string // the fields of a request, beside session, verb and what
	Does  string
	Tells string // the fields of the answer; "" for none
}

// Verbs are all verbs that a session gets.
var Verbs = []Verb{
	{"init", "queue", "", "creates what a new queue needs", ""},
	{"create", "batch", "docs: submission", "a submission comes in", "ids"},
	{"create", "request", "name: small or large; docs: token", "an access request comes in", "ids"},
	{"create", "job", "item: the batch; jobs: one", "adds a job to a batch that is processing", "ids"},
	{"acquire", "job, batch", "from", "takes the next one in a state, in the order of priority and number, and locks it. A hold of the queue refuses it (`held`), one of the collection does not", "item, profile_name; of a job also primary_id"},
	{"acquire", "request", "name: small or large; from", "takes the next access request, and locks it", "item"},
	{"process", "batch", "item; jobs", "creates the jobs of a batch that was pending, and makes it processing; in dialect mrt-zk acquire has done that", "ids"},
	{"set", "job", "item; docs", "writes documents of a job, without a step", ""},
	{"succeed", "job, request", "item; docs", "the worker has done the work of the state: the next state, and the lock is released. docs may have priority and space_needed, which are numbers, and identifiers, inventory and store", ""},
	{"fail", "job, request", "item; message", "the work has failed", ""},
	{"hold", "job, batch", "item; message", "the worker finds that the collection is held", ""},
	{"move", "job, batch, request", "item; to", "the worker moves it to a state", ""},
	{"unlock", "job, batch, request", "item", "the worker gives it back as it is", ""},
	{"pass", "jobs", "from; room", "looks at each job in a state, in order, and lets those succeed that need no more than what is left of room", "looked"},
	{"report", "batch", "item", "makes the report of a batch that a worker has acquired", "report"},
	{"finish", "batch", "item", "the report was sent: the state of the batch says so", ""},
	{"admin-move", "job, batch, request", "item; from, which may be missing; to", "an administrator moves it to a state: releases, retries, asks for an update report. Out of processing, a batch goes to reporting when it has no unfinished job", ""},
	{"resume", "job", "item", "an administrator resumes a failed job after its last successful status", ""},
	{"give-up", "batch", "item; message", "an administrator gives a batch up (dialect mrt-zk)", ""},
	{"delete", "job, batch, request", "item", "an administrator deletes it", "warnings"},
	{"set-priority", "job", "item; docs: priority", "an administrator changes the priority", ""},
	{"await-emptied", "batch", "item", "waits until the batch has no unfinished job, and then moves it to reporting, unless another watcher has", "yes: this watcher has"},
	{"clean", "jobs, batches, requests", "", "the cleaning pass", "ids"},
	{"repair", "batches", "", "the pass that repairs batches that a worker has half acquired", "ids"},
	{"take-lock", "queue hold, collection hold, storage lock, inventory lock, local id lock", "name; owner, of a local id", "locks", ""},
	{"release-lock", "the same", "name; owner", "unlocks", ""},
	{"lock-taken", "the same", "name; owner", "asks", "yes"},
}
