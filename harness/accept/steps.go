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
func (w *world) register(define runner.Step) {
	step := w.checked(define)
	// What exists.
	step(`a queue with other people's work in it`, w.othersWork)
	step(`an? (?<state>\S+) (?<kind>job|batch|request)( that a worker has acquired)?`, w.anItem)
	step(`a (?<kind>job|batch|request) that is (?<state>\S+?)(, acquired by a worker)?`, func(kind, state, acquired string) error { return w.anItem(state, kind, acquired) })
	step(`a failed job whose last successful status is (?<last_here>\S+)`, func(last string) error { return w.newJob("job", "batch", seed{state: "failed", lss: last}) })
	// Java's library writes the state that the job leaves as the last successful one, even if that is failed (Job.statusObject).
	step(`an? (?<job_state>\S+) job that Java's library has resumed and a worker has acquired`, func(state string) error {
		return cmp.Or(w.newJob("job", "batch", seed{state: state, lss: "failed"}), w.acquired("job", state))
	})
	step(`an? (?<job_state>\S+) job of a completed batch`, func(state string) error {
		return cmp.Or(w.newBatch("batch", "completed"), w.newJob("job", "batch", seed{state: state}))
	})
	step(`a batch in (?<batch_state>\S+)(?: with the completed jobs (?<new_jobs>[A-Z ]+))?`, w.batchOf)
	step(`a job (?<new_job>[A-Z]) in it that is (?<job_state>\S+)`, func(name, state string) error { return w.newJob("job "+name, "batch", seed{state: state}) }, "batch")
	step(`these (?<kind>job|batch)(?:s|es) in (?<state>\S+)`, func(kind, state string, t *godog.Table) error { return w.theseItems(kind, state, "", t) })
	step(`these (?<request_state>\S+) requests for (small|large) objects`, func(state, size string, t *godog.Table) error { return w.theseItems("request", state, size, t) })
	// The deployed library leaves that if one of its steps is interrupted, because it writes a job's entries one by one.
	step(`the job (?<job>[A-Z]) is also in the queue of (?<job_state>\S+), with priority (\d+)`, func(name, state string, priority int) error {
		return w.write(nodes{entry(state, priority, w.names["job "+name]): ""})
	})
	step(`a worker has acquired the batch`, func() error { return w.acquired("batch", w.stateOf(w.seen, w.names["batch"])) }, "batch")
	step(`each of them has been acquired by a worker of its own`, w.eachAcquired, "job A", "job B", "job C")
	step(`another client has locked the (?<item>job(?: [A-Z])?|batch|request)`, w.lockByHand)
	// It creates states first (Batch.acquirePendingBatch). It leaves the same if it may not acquire the batch.
	step(`a worker of the client library died while it acquired the batch`, func() error { return w.write(nodes{w.names["batch"] + "/states": ""}) }, "batch")
	step(`the (?<item>batch(?: [A-Z])?) already has a job`, func(name string) error {
		return w.write(nodes{w.names[name] + "/states/batch-processing/jid0000000099": ""})
	})
	step(`its last report listed (?<jobs>[A-Z ]+|none) as completed and (?<jobs2>[A-Z ]+|none) as failed \(mrt-zk: nothing says so\)`, func(completed, failed string) error {
		if w.mrtZK() {
			return nil
		}
		return w.write(nodes{w.names["batch"] + "/status-report": w.statusReport(completed, failed, w.time(longAgo))})
	}, "batch")
	step(`an empty ZooKeeper`, func() { w.seen, w.byHand = znode.NewTree(), nil }) // without the znodes with which every other scenario starts

	// What comes in.
	step(`an administrator sets the queue up`, func() error { return w.act("administrator", request{Verb: "init", What: "queue"}) })
	step(`a submission comes in with the UUID (\S+)`, w.submissionComesIn)
	step(`a submission comes in with the batch's UUID`, func() error { return w.submissionComesIn("uuid-of-" + path.Base(w.names["batch"])) }, "batch")
	step(`a request for a (small|large) object comes in with the token (\S+)`, func(size, text string) error {
		return w.act("API", request{Verb: "create", What: "request", Name: size, Docs: nodes{"token": token(text)}})
	})
	step(`the worker creates these jobs in it`, w.workerMakes(request{Verb: "process"}), "a worker")
	step(`the worker creates no job in it`, func() error { return w.act("worker", request{Verb: "process"}) }, "a worker")
	step(`a batch worker adds one job to it`, w.workerMakes(request{Verb: "create", What: "job", Item: "batch"}), "batch")

	// What a worker does.
	step(`(the|another) worker acquires the next (job|batch|request) (?:in|for a) (\S+)(?: object)?`, w.workerAcquires)
	step(`the (other )?worker (succeeds|fails it|holds it|unlocks it|makes its report|records the report as sent)(?: with the message "(.*)")?`, func(which, action, message string) error {
		if err := w.hasAcquired(actorNamed(which, "worker")); err != nil {
			return err
		}
		return w.act(actorNamed(which, "worker"), request{Verb: workersVerbs[action], Message: message})
	})
	step(`the worker succeeds: it needs (\d+) bytes and gets priority (\d+)`, func(space, priority int) error {
		return w.act("worker", request{Verb: "succeed", Docs: nodes{"space_needed": space, "priority": priority}})
	}, "a worker")
	step(`the worker succeeds, with (\S+) for the (inventory|storage)`, func(url, service string) error {
		name, doc := found(service, url)
		return w.act("worker", request{Verb: "succeed", Docs: nodes{name: doc}})
	}, "a worker")
	step(`the worker mints the identifier (\S+) for it`, func(ark string) error {
		return w.act("worker", request{Verb: "set", Docs: nodes{"identifiers": identifiers(ark)}})
	}, "a worker")
	step(`the worker reports it`, func() error { return w.act("worker", request{Verb: "report"}, request{Verb: "finish"}) }, "a worker")
	step(`the worker acquires and reports the next batch in (?<batch_state>\S+)`, func(state string) error {
		return w.act("worker", request{Verb: "acquire", What: "batch", From: state}, request{Verb: "report"}, request{Verb: "finish"})
	})
	step(`the worker tries to move it to (?<target>\S+)`, func(to string) error { return w.act("worker", request{Verb: "move", To: to}) }, "a worker")
	step(`a worker that respects holds acquires the next pending (batch|job)`, w.workerRespectsHolds)
	step(`a worker with room for (\d+) bytes looks at all jobs in provisioning`, func(room int64) error {
		return w.act("worker", request{Verb: "pass", What: "jobs", From: "provisioning", Room: room})
	})
	step(`workers move the job (?<job>[A-Z]) to (?<job_state>\S+)`, w.workersTakeOn)
	step(`the job (?<job>[A-Z]) fails there with the message "(.*)"`, w.jobFailsThere)
	step(`all of them succeed at the same moment, while three watchers wait`, w.allSucceedAtOnce)

	// What others do.
	step(`an administrator (holds|releases|resumes|retries|deletes|gives up|requests an update report of) the (?<item>job(?: [A-Z])?|batch|request)(?: at (?<at>\S+))?(?: with the message "(.*)")?`, w.adminDoes)
	step(`an administrator gives the job (?<job>[A-Z]) priority (\d+)`, func(name string, priority int) error {
		return w.act("administrator", request{Verb: "set-priority", Item: "job " + name, Docs: nodes{"priority": priority}})
	})
	step(`an administrator tries to move the (?<item>job|batch|request) to (?<state>\S+)`, func(what, to string) error {
		return w.act("administrator", request{Verb: "admin-move", Item: what, To: to})
	})
	step(`the (cleaning|repair) pass over (jobs|batches|requests) runs`, func(which, what string) error {
		return w.act(which+" pass", request{Verb: strings.TrimSuffix(which, "ing"), What: what})
	})
	step(`the watch fires because its batch-processing is empty`, func() error {
		return w.act("watcher", request{Verb: "admin-move", Item: "batch", From: "processing", To: "reporting"})
	}, "batch")
	step(`a watcher waits for the last of its jobs`, func() error { return w.act("watcher", request{Verb: "await-emptied", Item: "batch"}) }, "batch")
	step(`(the|another|an) (worker|administrator) (takes|releases) the (queue hold|collection hold|storage lock|inventory lock|local id lock) (\S+)(?: of (\S+))?`, func(which, who, action, kind, name, owner string) error {
		return w.act(actorNamed(which, who), request{Verb: strings.TrimSuffix(action, "s") + "-lock", What: kind, Name: name, Owner: owner})
	})
	step(`(the|another|an) (worker|administrator)'s session ends`, w.sessionEnds)

	// What is there.
	step(`the (?<item>job(?: [A-Z])?|batch|request) is (?<state>[a-z-]+)(?:, with priority (\d+))?(?: with the message "(.*)")?`, w.itemIs, "an act")
	step(`the batch is processing \(mrt-zk: since it was acquired\)`, w.batchIsProcessing, "batch", "an act")
	step(`the jobs (?<jobs>[A-Z ]+) are completed, and no worker holds them`, w.jobsAreCompleted, "batch", "an act")
	step(`it needs (\d+) bytes`, func(space int) error { return w.wantNode(w.names["job"]+"/space_needed", space) }, "job", "an act")
	step(`its last successful status is(?: still)? (?<last_state>\S+)(?: \(mrt-zk: (?<last_mrt_zk>\S+)\))?`, w.lastSuccessIs, "job", "an act")
	step(`its retry count is one more`, w.retriedOnceMore, "job", "an act")
	step(`its primary identifier is (\S+) at once`, func(ark string) error { return w.wantNode(w.names["job"]+"/identifiers", identifiers(ark)) }, "job", "an act")
	step(`the (inventory|storage) service has to (?:record|store) (\S+)`, func(service, url string) error {
		name, doc := found(service, url)
		return w.wantNode(w.names["job"]+"/"+name, doc)
	}, "job", "an act")
	step(`in its batch it moves from (?<folder>\S+) to (?<folder2>\S+)`, w.batchEntryMoves, "job", "batch", "an act")
	step(`the (?<item>job(?: [A-Z])?) has left the queue of (?<state>\S+)`, func(name, state string) error {
		return cmp.Or(w.done(), w.wantGone(entry(state, usualPriority, w.names[name])))
	}, "an act")
	step(`the job (?<job>[A-Z]) is in the queue of (?<job_state>\S+) with priority (\d+)`, w.jobIsQueued, "an act")
	step(`each of these is a pending job, with an entry in its batch and in the queue`, func() error { return w.created("/jobs", w.jobs...) }, "a table", "batch", "an act")
	step(`none of them has succeeded in a step, and none was retried`, w.jobsAreFresh, "a table", "an act")
	step(`there is a new pending batch that holds the submission`, w.batchIsCreated, "a submission", "an act")
	step(`it is found by its UUID`, func() error { return w.wantNode("/batch-uuids/"+w.uuid, path.Base(w.names["batch"])) }, "a submission", "batch", "an act")
	step(`its number is higher than any before`, w.numberIsNew, "a submission", "batch")
	step(`there is a new pending request for a (small|large) object with the token (\S+)`, func(size, text string) error {
		return w.created("/access/"+size, nodes{"token": token(text)})
	}, "an act")
	step(`there is a folder for the jobs that it waits for`, w.thereIsAFolder, "batch", "an act")
	step(`the batch has no states`, func() error { return errors.Join(w.done(), w.wantGone(w.names["batch"]+"/states")) }, "batch", "an act")
	step(`nothing is left of the (?<kind>job|batch|request)(?:e?s (?<items>[A-Z ]+))?(?: and its jobs (?<jobs>[A-Z ]+))?`, w.areGone, "an act")
	step(`nothing is left of the job \(mrt-zk: it is deleted, and in its batch it moves from (?<folder>\S+) to deleted\)`, w.jobIsDeleted, "job", "batch", "an act")
	step(`its status report lists (?<jobs>[A-Z ]+|none) as completed and (?<jobs2>[A-Z ]+|none) as failed \(mrt-zk: it has none\)`, func(completed, failed string) error {
		if w.mrtZK() {
			return nil // if it were written, something else would have changed
		}
		at := w.names["batch"] + "/status-report"
		return w.wantNode(at, w.statusReport(completed, failed, w.timeIn(at, "last_modified")))
	}, "batch", "an act")
	step(`(?<lock>/locks/\S+) is (there, and stays until it is released|there, and ends with the session|still there|removed)`, w.lockIs, "an act")
	step(`the lock is released`, w.lockIsReleased, "an act")
	step(`there are folders for batches, their UUIDs, and jobs and their states`, func() error {
		return w.foldersAreThere("", "/batches /batch-uuids /jobs/states")
	})
	step(`there is a folder for jobs in each of (?<job_states>[a-z ]+)`, func(states string) error { return w.foldersAreThere("/jobs/states/", states) })
	step(`there are folders for access requests and for every kind of lock`, func() error {
		return w.foldersAreThere("", strings.Join(append(startFolders, w.localIDs), " "))
	})
	step(`the state of the batch is (?<batch_state>\S+), and those of its jobs (?<jobs>[A-Z ]+) are (?<job_states>[a-z ]+)`, w.batchAndJobsAre, "batch", "an act")
	step(`every step was as documented`, w.asDocumented, "an act")
	step(`submission, configuration, bid and batch-uuids were written only once`, w.writtenOnce, "job", "batch", "an act")

	// What was answered.
	step(`the (other )?worker holds the (?<item>(?:job|batch|request)(?: [A-Z])?), with a lock that ends with the session(, and in mrt-zk it is processing)?`, w.workerHas, "an act")
	step(`it has looked at the jobs (?<jobs>[A-Z ]+)`, func(names string) error { return equal("the worker looked at", w.last.Looked, w.ids(names)) })
	step(`it finds the identifier (\S+)`, func(ark string) error { return equal("the worker found", w.last.Identifier, ark) })
	step(`the report lists (?<jobs>[A-Z ]+|none) as (newly completed|still failed) and (?<jobs2>[A-Z ]+|none) as (newly failed|resumed)(?: \(mrt-zk: (?<jobs3>[A-Z ]+|none) and (?<jobs4>[A-Z ]+|none)\))?`, w.reported)
	step(`there is (something|nothing) to send(?: \(mrt-zk: (something)\))?`, w.thereIsToSend)
	step(`the watch has (fired once|not fired)`, func(how string) error {
		return cmp.Or(w.done(), equal("the watch fired", w.last.fired, map[string]int{"fired once": 1, "not fired": 0}[how]))
	}, "a watcher")
	step(`the answer (has no warning|warns that its depositor will get no report)(?: about it)?`, w.answerWarns, "an act")
	step(`it is refused because (?<why>.*)`, w.isRefused, "an act")
	step(`(there is nothing to acquire)`, w.isRefused, "an act")
	step(`it is refused: from (?<state>\S+) the (?<kind>job|batch|request) can move to (?<states>.*)`, w.isIllegal, "an act")

	// How every scenario ends.
	step(`nothing else has changed`, w.checkWhole, "an act")
	step(`nothing has changed(?: since)?`, w.unchanged, "an act")
}
