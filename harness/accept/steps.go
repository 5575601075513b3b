package accept

import "mrtq/harness/accept/internal/runner"

// steps is where a scenario's world registers its steps.
type steps = runner.Steps

// register registers every step that scenarios use. A pattern must match the whole step.
func (w *world) register(s steps) {
	// What exists.
	s.Step(`a queue with other people's work in it`, w.othersWork)
	s.Step(`an? (\S+) job( that a worker has acquired)?`, w.aJob)
	s.Step(`a failed job whose last successful status is (\S+)`, w.aFailedJob)
	s.Step(`an? (\S+) job that Java's library has resumed and a worker has acquired`, w.aJobResumedByJava)
	s.Step(`an? (\S+) job of a completed batch`, w.aJobOfACompletedBatch)
	s.Step(`another client has locked the (job(?: [A-Z])?|batch|request)`, w.lockByHand)

	// What happens to a job.
	s.Step(`the worker creates these jobs in it`, w.workerMakesJobs)
	s.Step(`a batch worker adds one job to it`, w.workerMakesOneJobMore)
	s.Step(`the (other )?worker succeeds`, w.workerSucceeds)
	s.Step(`the worker succeeds: it needs (\d+) bytes and gets priority (\d+)`, w.workerSucceedsKnowing)
	s.Step(`the worker succeeds, with (\S+) for the (inventory|storage)`, w.workerSucceedsFor)
	s.Step(`the worker mints the identifier (\S+) for it`, w.workerMints)
	s.Step(`the (other )?worker fails it with the message "(.*)"`, w.workerFails)
	s.Step(`the worker holds it(?: with the message "(.*)")?`, w.workerHolds)
	s.Step(`an administrator (releases|resumes|deletes) the (job(?: [A-Z])?)`, w.adminActsOnJob)
	s.Step(`an administrator retries the job at (\S+)`, w.adminRetriesJob)
	s.Step(`the cleaning pass over (jobs|batches|requests) runs`, w.cleaningPass)

	// What a job is afterwards.
	s.Step(`each of these is a pending job, with an entry in its batch and in the queue`, w.jobsAreMade)
	s.Step(`none of them has succeeded in a step, and none was retried`, w.jobsAreFresh)
	s.Step(`the (job(?: [A-Z])?) is ([a-z]+)(?: with the message "(.*)")?`, w.jobIs)
	s.Step(`the job is ([a-z]+), with priority (\d+)`, w.jobIsWithPriority)
	s.Step(`it needs (\d+) bytes`, w.jobNeeds)
	s.Step(`its last successful status is(?: still)? (\S+)(?: \(mrt-zk: (\S+)\))?`, w.lastSuccessIs)
	s.Step(`its retry count is one more`, w.retriedOnceMore)
	s.Step(`its primary identifier is (\S+) at once`, w.identifierIs)
	s.Step(`the (inventory|storage) service has to (?:record|store) (\S+)`, w.hasToTake)
	s.Step(`in its batch it moves from (\S+) to (\S+)`, w.batchEntryMoves)
	s.Step(`the (job(?: [A-Z])?) has left the queue of (\S+)`, w.jobLeftQueue)
	s.Step(`nothing is left of the job`, w.jobIsRemoved)
	s.Step(`the answer warns that its depositor will get no report(?: about it)?`, w.answerWarns)
	s.Step(`the answer has no warning`, w.answerWarnsOfNothing)

	// What happens to a batch.
	s.Step(`an? (\S+) batch( that a worker has acquired)?`, w.aBatch)
	s.Step(`a batch in (\S+)(?: with the completed jobs ([A-Z ]+))?`, w.aBatchWithJobs)
	s.Step(`a job ([A-Z]) in it that is (\S+)`, w.aJobOfIt)
	s.Step(`a worker has acquired the batch`, w.workerHasAcquiredTheBatch)
	s.Step(`a worker of the client library died while it acquired the batch`, w.batchWasHalfAcquired)
	s.Step(`the (batch(?: [A-Z])?) already has a job`, w.batchHasAJob)
	s.Step(`the repair pass over batches runs`, w.repairingPass)
	s.Step(`its last report listed ([A-Z ]+|none) as completed and ([A-Z ]+|none) as failed`, w.itsLastReport)
	s.Step(`a submission comes in with the UUID (\S+)`, w.submissionComesIn)
	s.Step(`a submission comes in with the batch's UUID`, w.submissionComesInAgain)
	s.Step(`the worker creates no job in it`, w.workerMakesNoJob)
	s.Step(`an administrator (releases the batch|requests an update report of the batch|deletes the batch)`, w.adminActsOnBatch)
	s.Step(`an administrator gives up the batch with the message "(.*)"`, w.adminGivesUp)
	s.Step(`the watch fires because its batch-processing is empty`, w.eventComes)
	s.Step(`the worker reports it`, w.workerReports)
	s.Step(`the worker makes its report`, w.workerMakesReport)
	s.Step(`the worker records the report as sent`, w.workerRecordsReport)

	// What a batch is afterwards.
	s.Step(`there is a new pending batch that holds the submission`, w.batchIsMade)
	s.Step(`it is found by its UUID`, w.batchIsFound)
	s.Step(`its number is higher than any before`, w.numberIsNew)
	s.Step(`the (batch|request) is ([a-z-]+)(?: with the message "(.*)")?`, w.itIs)
	s.Step(`there is a folder for the jobs that it waits for`, w.thereIsAFolder)
	s.Step(`the batch has no states`, w.batchHasNoStates)
	s.Step(`its status report lists ([A-Z ]+|none) as completed and ([A-Z ]+|none) as failed`, w.reportLists)
	s.Step(`the report lists ([A-Z ]+|none) as newly completed and ([A-Z ]+|none) as newly failed`, w.reportListsNew)
	s.Step(`the report lists ([A-Z ]+|none) as still failed and ([A-Z ]+|none) as resumed`, w.reportListsTheRest)
	s.Step(`nothing is left of the (batches|requests) ([A-Z ]+)`, w.allAreGone)
	s.Step(`nothing is left of the batch(?: and its jobs ([A-Z ]+))?`, w.batchIsGone)

	// Access requests.
	s.Step(`an? (\S+) request( that a worker has acquired)?`, w.aRequest)
	s.Step(`a request for a (small|large) object comes in with the token (\S+)`, w.requestComesIn)
	s.Step(`an administrator (retries the request|deletes the request)`, w.adminActsOnRequest)
	s.Step(`there is a new pending request for a (small|large) object with the token (\S+)`, w.requestIsMade)
	s.Step(`nothing is left of the request`, w.requestIsGone)

	// Acquiring.
	s.Step(`these jobs in (\S+)`, w.theseJobs)
	s.Step(`these batches in (\S+)`, w.theseBatches)
	s.Step(`these (\S+) requests for (small|large) objects`, w.theseRequests)
	s.Step(`the job ([A-Z]) is also in the queue of (\S+), with priority (\d+)`, w.staleEntry)
	s.Step(`(the|another) worker acquires the next (job|batch|request) (?:in|for a) (\S+)(?: object)?`, w.workerAcquires)
	s.Step(`the (other )?worker holds the ((?:job|batch|request)(?: [A-Z])?), with a lock that ends with the session`, w.workerHas)
	s.Step(`the worker unlocks it`, w.workerUnlocks)

	// Locks and holds.
	s.Step(`(the|another|an) (worker|administrator) (takes|releases) the (queue hold|collection hold|storage lock|inventory lock|local id lock) (\S+)(?: of (\S+))?`, w.takesOrReleases)
	s.Step(`(the|another|an) (worker|administrator)'s session ends`, w.sessionEnds)
	s.Step(`(/locks/\S+) is there, and (stays until it is released|ends with the session)`, w.lockIsThere)
	s.Step(`(/locks/\S+) is (still there|removed)`, w.lockIs)

	// Stories.
	s.Step(`an administrator gives the job ([A-Z]) priority (\d+)`, w.adminGivesPriority)
	s.Step(`the job ([A-Z]) is in the queue of (\S+) with priority (\d+)`, w.jobIsQueued)
	s.Step(`a second batch of its collection with the pending jobs ([A-Z ]+)`, w.aSecondBatch)
	s.Step(`a worker that respects holds acquires the next pending (batch|job)`, w.workerRespectsHolds)
	s.Step(`a worker with room for (\d+) bytes looks at all jobs in provisioning`, w.workerPassesOver)
	s.Step(`it has looked at the jobs ([A-Z ]+)`, w.hasLookedAt)
	s.Step(`it finds the identifier (\S+)`, w.findsIdentifier)
	s.Step(`there is (something|nothing) to send`, w.thereIsToSend)
	s.Step(`the worker acquires and reports the next batch in (\S+)`, w.workerAcquiresAndReports)
	s.Step(`workers move the job ([A-Z]) to (\S+)`, w.workersTakeOn)
	s.Step(`the job ([A-Z]) fails there with the message "(.*)"`, w.jobFailsThere)
	s.Step(`every step was as documented`, w.asDocumented)
	s.Step(`submission, configuration, bid and batch-uuids were written only once`, w.writtenOnce)
	s.Step(`each of them has been acquired by a worker of its own`, w.eachAcquired)
	s.Step(`all of them succeed at the same moment, while three watchers wait`, w.allSucceedAtOnce)
	s.Step(`the watch has fired once`, w.watchFiredOnce)
	s.Step(`a watcher waits for the last of its jobs`, w.watcherWaits)
	s.Step(`the watch has not fired`, w.watchHasNotFired)
	s.Step(`the jobs ([A-Z ]+) are completed, and no worker holds them`, w.jobsAreCompleted)
	s.Step(`the state of the batch is (\S+), and those of its jobs ([A-Z ]+) are ([a-z ]+)`, w.batchAndJobsAre)
	s.Step(`nothing is left of the job \(mrt-zk: it is deleted, and in its batch it moves from (\S+) to deleted\)`, w.jobIsDeleted)

	// Illegal steps.
	s.Step(`a (job|batch|request) that is (\S+?)(, acquired by a worker)?`, w.something)
	s.Step(`an administrator tries to move the (job|batch|request) to (\S+)`, w.adminMoves)
	s.Step(`the worker tries to move it to (\S+)`, w.workerMoves)
	s.Step(`it is refused: from (\S+) the (job|batch|request) can move to (.*)`, w.isIllegal)

	// Setting up.
	s.Step(`an empty ZooKeeper`, w.emptyZooKeeper)
	s.Step(`an administrator sets the queue up`, w.adminSetsUp)
	s.Step(`there are folders for batches, their UUIDs, and jobs and their states`, w.foldersAreThere)
	s.Step(`there is a folder for jobs in each of ([a-z ]+)`, w.stateFoldersAreThere)
	s.Step(`there are folders for access requests and for every kind of lock`, w.accessAndLockFoldersAreThere)

	// How every scenario ends.
	s.Step(`the lock is released`, w.lockIsReleased)
	s.Step(`it is refused because (.*)`, w.isRefused)
	s.Step(`there is nothing to acquire`, w.acquiresNothing)
	s.Step(`nothing else has changed`, w.settle)
	s.Step(`nothing has changed(?: since)?`, w.unchanged)
}
