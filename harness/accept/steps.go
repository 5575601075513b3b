package accept

import (
	"cmp"
	"errors"
	"path"
	"strings"

	"github.com/cucumber/godog"

	"mrtq/harness/accept/internal/runner"
	"mrtq/internal/znode"
)

// register registers every step that scenarios use. A pattern must match the whole step.
func (w *world) register(step runner.Step) {
	// What exists.
	step(`a queue with other people's work in it`, w.othersWork)
	step(`an? (\S+) (job|batch|request)( that a worker has acquired)?`, w.anItem)
	step(`a (job|batch|request) that is (\S+?)(, acquired by a worker)?`, func(kind, state, acquired string) error { return w.anItem(state, kind, acquired) })
	step(`a failed job whose last successful status is (\S+)`, func(last string) error { return w.newJob("job", "batch", seed{state: "failed", lss: last}) })
	// Java's library writes the state that the job leaves as the last successful one, even if that is failed (Job.statusObject).
	step(`an? (\S+) job that Java's library has resumed and a worker has acquired`, func(state string) error {
		return cmp.Or(w.newJob("job", "batch", seed{state: state, lss: "failed"}), w.acquired("job", state))
	})
	step(`an? (\S+) job of a completed batch`, func(state string) error {
		return cmp.Or(w.newBatch("batch", "completed"), w.newJob("job", "batch", seed{state: state}))
	})
	step(`a batch in (\S+)(?: with the completed jobs ([A-Z ]+))?`, w.batchOf)
	step(`a job ([A-Z]) in it that is (\S+)`, func(name, state string) error { return w.newJob("job "+name, "batch", seed{state: state}) })
	step(`these (job|batch)(?:s|es) in (\S+)`, func(kind, state string, t *godog.Table) error { return w.theseItems(kind, state, "", t) })
	step(`these (\S+) requests for (small|large) objects`, func(state, size string, t *godog.Table) error { return w.theseItems("request", state, size, t) })
	// The deployed library leaves that if one of its steps is interrupted, because it writes a job's entries one by one.
	step(`the job ([A-Z]) is also in the queue of (\S+), with priority (\d+)`, func(name, state string, priority int) error {
		return w.write(nodes{entry(state, priority, w.names["job "+name]): ""})
	})
	step(`a worker has acquired the batch`, func() error { return w.acquired("batch", w.stateOf(w.seen, w.names["batch"])) })
	step(`each of them has been acquired by a worker of its own`, w.eachAcquired)
	step(`another client has locked the (job(?: [A-Z])?|batch|request)`, w.lockByHand)
	// It creates states first (Batch.acquirePendingBatch). It leaves the same if it may not acquire the batch.
	step(`a worker of the client library died while it acquired the batch`, func() error { return w.write(nodes{w.names["batch"] + "/states": ""}) })
	step(`the (batch(?: [A-Z])?) already has a job`, func(name string) error {
		return w.write(nodes{w.names[name] + "/states/batch-processing/jid0000000099": ""})
	})
	step(`its last report listed ([A-Z ]+|none) as completed and ([A-Z ]+|none) as failed \(mrt-zk: nothing says so\)`, func(completed, failed string) error {
		if w.mrtZK() {
			return nil
		}
		return w.write(nodes{w.names["batch"] + "/status-report": w.statusReport(completed, failed, w.time(longAgo))})
	})
	step(`an empty ZooKeeper`, func() { w.seen, w.byHand = znode.NewTree(), nil }) // without the znodes with which every other scenario starts

	// What comes in.
	step(`an administrator sets the queue up`, func() error { return w.act("administrator", request{Verb: "init", What: "queue"}) })
	step(`a submission comes in with the UUID (\S+)`, w.submissionComesIn)
	step(`a submission comes in with the batch's UUID`, func() error { return w.submissionComesIn("uuid-of-" + path.Base(w.names["batch"])) })
	step(`a request for a (small|large) object comes in with the token (\S+)`, func(size, text string) error {
		return w.act("API", request{Verb: "create", What: "request", Name: size, Docs: nodes{"token": token(text)}})
	})
	step(`the worker creates these jobs in it`, w.workerMakes(request{Verb: "process"}))
	step(`the worker creates no job in it`, func() error { return w.act("worker", request{Verb: "process"}) })
	step(`a batch worker adds one job to it`, w.workerMakes(request{Verb: "create", What: "job", Item: "batch"}))

	// What a worker does.
	step(`(the|another) worker acquires the next (job|batch|request) (?:in|for a) (\S+)(?: object)?`, w.workerAcquires)
	step(`the (other )?worker (succeeds|fails it|holds it|unlocks it|makes its report|records the report as sent)(?: with the message "(.*)")?`, func(which, action, message string) error {
		return w.act(actorNamed(which, "worker"), request{Verb: workersVerbs[action], Message: message})
	})
	step(`the worker succeeds: it needs (\d+) bytes and gets priority (\d+)`, func(space, priority int) error {
		return w.act("worker", request{Verb: "succeed", Docs: nodes{"space_needed": space, "priority": priority}})
	})
	step(`the worker succeeds, with (\S+) for the (inventory|storage)`, func(url, service string) error {
		name, doc := found(service, url)
		return w.act("worker", request{Verb: "succeed", Docs: nodes{name: doc}})
	})
	step(`the worker mints the identifier (\S+) for it`, func(ark string) error {
		return w.act("worker", request{Verb: "set", Docs: nodes{"identifiers": identifiers(ark)}})
	})
	step(`the worker reports it`, func() error { return w.act("worker", request{Verb: "report"}, request{Verb: "finish"}) })
	step(`the worker acquires and reports the next batch in (\S+)`, func(state string) error {
		return w.act("worker", request{Verb: "acquire", What: "batch", From: state}, request{Verb: "report"}, request{Verb: "finish"})
	})
	step(`the worker tries to move it to (\S+)`, func(to string) error {
		w.target = to
		return w.act("worker", request{Verb: "move", To: to})
	})
	step(`a worker that respects holds acquires the next pending (batch|job)`, w.workerRespectsHolds)
	step(`a worker with room for (\d+) bytes looks at all jobs in provisioning`, func(room int64) error {
		return w.act("worker", request{Verb: "pass", What: "jobs", From: "provisioning", Room: room})
	})
	step(`workers move the job ([A-Z]) to (\S+)`, w.workersTakeOn)
	step(`the job ([A-Z]) fails there with the message "(.*)"`, w.jobFailsThere)
	step(`all of them succeed at the same moment, while three watchers wait`, w.allSucceedAtOnce)

	// What others do.
	step(`an administrator (holds|releases|resumes|retries|deletes|gives up|requests an update report of) the (job(?: [A-Z])?|batch|request)(?: at (\S+))?(?: with the message "(.*)")?`, w.adminDoes)
	step(`an administrator gives the job ([A-Z]) priority (\d+)`, func(name string, priority int) error {
		return w.act("administrator", request{Verb: "set-priority", Item: "job " + name, Docs: nodes{"priority": priority}})
	})
	step(`an administrator tries to move the (job|batch|request) to (\S+)`, func(what, to string) error {
		w.target = to
		return w.act("administrator", request{Verb: "admin-move", Item: what, To: to})
	})
	step(`the (cleaning|repair) pass over (jobs|batches|requests) runs`, func(which, what string) error {
		return w.act(which+" pass", request{Verb: strings.TrimSuffix(which, "ing"), What: what})
	})
	step(`the watch fires because its batch-processing is empty`, func() error {
		return w.act("watcher", request{Verb: "admin-move", Item: "batch", From: "processing", To: "reporting"})
	})
	step(`a watcher waits for the last of its jobs`, func() error { return w.act("watcher", request{Verb: "await-emptied", Item: "batch"}) })
	step(`(the|another|an) (worker|administrator) (takes|releases) the (queue hold|collection hold|storage lock|inventory lock|local id lock) (\S+)(?: of (\S+))?`, func(which, who, action, kind, name, owner string) error {
		return w.act(actorNamed(which, who), request{Verb: strings.TrimSuffix(action, "s") + "-lock", What: kind, Name: name, Owner: owner})
	})
	step(`(the|another|an) (worker|administrator)'s session ends`, w.sessionEnds)

	// What is there.
	step(`the (job(?: [A-Z])?|batch|request) is ([a-z-]+)(?:, with priority (\d+))?(?: with the message "(.*)")?`, w.itemIs)
	step(`the batch is processing \(mrt-zk: since it was acquired\)`, w.batchIsProcessing)
	step(`the jobs ([A-Z ]+) are completed, and no worker holds them`, w.jobsAreCompleted)
	step(`it needs (\d+) bytes`, func(space int) error { return w.wantNode(w.names["job"]+"/space_needed", space) })
	step(`its last successful status is(?: still)? (\S+)(?: \(mrt-zk: (\S+)\))?`, w.lastSuccessIs)
	step(`its retry count is one more`, w.retriedOnceMore)
	step(`its primary identifier is (\S+) at once`, func(ark string) error { return w.wantNode(w.names["job"]+"/identifiers", identifiers(ark)) })
	step(`the (inventory|storage) service has to (?:record|store) (\S+)`, func(service, url string) error {
		name, doc := found(service, url)
		return w.wantNode(w.names["job"]+"/"+name, doc)
	})
	step(`in its batch it moves from (\S+) to (\S+)`, w.batchEntryMoves)
	step(`the (job(?: [A-Z])?) has left the queue of (\S+)`, func(name, state string) error {
		return cmp.Or(w.done(), w.wantGone(entry(state, usualPriority, w.names[name])))
	})
	step(`the job ([A-Z]) is in the queue of (\S+) with priority (\d+)`, w.jobIsQueued)
	step(`each of these is a pending job, with an entry in its batch and in the queue`, func() error { return w.created("/jobs", w.jobs...) })
	step(`none of them has succeeded in a step, and none was retried`, w.jobsAreFresh)
	step(`there is a new pending batch that holds the submission`, w.batchIsCreated)
	step(`it is found by its UUID`, func() error { return w.wantNode("/batch-uuids/"+w.uuid, path.Base(w.names["batch"])) })
	step(`its number is higher than any before`, w.numberIsNew)
	step(`there is a new pending request for a (small|large) object with the token (\S+)`, func(size, text string) error {
		return w.created("/access/"+size, nodes{"token": token(text)})
	})
	step(`there is a folder for the jobs that it waits for`, w.thereIsAFolder)
	step(`the batch has no states`, func() error { return errors.Join(w.done(), w.wantGone(w.names["batch"]+"/states")) })
	step(`nothing is left of the (job|batch|request)(?:e?s ([A-Z ]+))?(?: and its jobs ([A-Z ]+))?`, w.areGone)
	step(`nothing is left of the job \(mrt-zk: it is deleted, and in its batch it moves from (\S+) to deleted\)`, w.jobIsDeleted)
	step(`its status report lists ([A-Z ]+|none) as completed and ([A-Z ]+|none) as failed \(mrt-zk: it has none\)`, func(completed, failed string) error {
		if w.mrtZK() {
			return nil // if it were written, something else would have changed
		}
		at := w.names["batch"] + "/status-report"
		return w.wantNode(at, w.statusReport(completed, failed, w.timeIn(at, "last_modified")))
	})
	step(`(/locks/\S+) is (there, and stays until it is released|there, and ends with the session|still there|removed)`, w.lockIs)
	step(`the lock is released`, w.lockIsReleased)
	step(`there are folders for batches, their UUIDs, and jobs and their states`, func() error {
		return w.foldersAreThere("", "/batches /batch-uuids /jobs/states")
	})
	step(`there is a folder for jobs in each of ([a-z ]+)`, func(states string) error { return w.foldersAreThere("/jobs/states/", states) })
	step(`there are folders for access requests and for every kind of lock`, func() error {
		return w.foldersAreThere("", strings.Join(append(startFolders, w.localIDs), " "))
	})
	step(`the state of the batch is (\S+), and those of its jobs ([A-Z ]+) are ([a-z ]+)`, w.batchAndJobsAre)
	step(`every step was as documented`, w.asDocumented)
	step(`submission, configuration, bid and batch-uuids were written only once`, w.writtenOnce)

	// What was answered.
	step(`the (other )?worker holds the ((?:job|batch|request)(?: [A-Z])?), with a lock that ends with the session(, and in mrt-zk it is processing)?`, w.workerHas)
	step(`it has looked at the jobs ([A-Z ]+)`, func(names string) error { return equal("the worker looked at", w.last.Looked, w.ids(names)) })
	step(`it finds the identifier (\S+)`, func(ark string) error { return equal("the worker found", w.last.Identifier, ark) })
	step(`the report lists ([A-Z ]+|none) as (newly completed|still failed) and ([A-Z ]+|none) as (newly failed|resumed)(?: \(mrt-zk: ([A-Z ]+|none) and ([A-Z ]+|none)\))?`, w.reported)
	step(`there is (something|nothing) to send(?: \(mrt-zk: (something)\))?`, w.thereIsToSend)
	step(`the watch has (fired once|not fired)`, func(how string) error {
		return cmp.Or(w.done(), equal("the watch fired", w.last.fired, map[string]int{"fired once": 1, "not fired": 0}[how]))
	})
	step(`the answer (has no warning|warns that its depositor will get no report)(?: about it)?`, w.answerWarns)
	step(`it is refused because (.*)`, w.isRefused)
	step(`(there is nothing to acquire)`, w.isRefused)
	step(`it is refused: from (\S+) the (job|batch|request) can move to (.*)`, w.isIllegal)

	// How every scenario ends.
	step(`nothing else has changed`, w.checkWhole)
	step(`nothing has changed(?: since)?`, w.unchanged)
}
