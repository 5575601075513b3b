package accept

// register lists every step that scenarios use. usage.go anchors the patterns.
func (w *world) register(s steps) {
	// What there is.
	s.step(`a queue with other people's work in it`, w.othersWork)
	s.step(`an? (\S+) job( that a worker has acquired)?`, w.aJob)
	s.step(`a failed job whose last successful status is (\S+)`, w.aFailedJob)
	s.step(`an? (\S+) job that Java's library has resumed and a worker has acquired`, w.aJobResumedByJava)
	s.step(`an? (\S+) job of a completed batch`, w.aJobOfACompletedBatch)
	s.step(`somebody else has locked the (job(?: [A-Z])?|batch|request)`, w.lockByHand)

	// What a job goes through.
	s.step(`the worker creates these jobs in it`, w.workerMakesJobs)
	s.step(`a batch worker adds one job to it`, w.workerMakesOneJobMore)
	s.step(`the (other )?worker succeeds`, w.workerSucceeds)
	s.step(`the worker succeeds: it needs (\d+) bytes and gets priority (\d+)`, w.workerSucceedsKnowing)
	s.step(`the worker succeeds, with (\S+) for the inventory`, w.workerSucceedsWithInventory)
	s.step(`the worker succeeds, with (\S+) for the storage`, w.workerSucceedsWithStore)
	s.step(`the worker mints the identifier (\S+) for it`, w.workerMints)
	s.step(`the (other )?worker fails it, saying "(.*)"`, w.workerFails)
	s.step(`the worker holds it(?:, saying "(.*)")?`, w.workerHolds)
	s.step(`an administrator (releases|resumes|deletes) the (job(?: [A-Z])?)`, w.adminActsOnJob)
	s.step(`an administrator has the job retried at (\S+)`, w.adminRetriesJob)
	s.step(`an administrator tries to move it to (\S+)`, w.adminMovesJob)
	s.step(`the cleaning pass over (jobs|batches|requests) runs`, w.cleaningPass)

	// What a job is then.
	s.step(`each of these is a pending job, with an entry in its batch and in the queue`, w.jobsAreMade)
	s.step(`none of them has succeeded in a step, and none was retried`, w.jobsAreFresh)
	s.step(`the (job(?: [A-Z])?) is ([a-z]+)(?:, saying "(.*)")?`, w.jobIs)
	s.step(`the job is ([a-z]+), with priority (\d+)`, w.jobIsWithPriority)
	s.step(`it needs (\d+) bytes`, w.jobNeeds)
	s.step(`its last successful status is(?: still)? (\S+)(?: \(mrt-zk: (\S+)\))?`, w.lastSuccessIs)
	s.step(`its retry count is one more`, w.retriedOnceMore)
	s.step(`its primary identifier is (\S+) at once`, w.identifierIs)
	s.step(`the inventory service has to record (\S+)`, w.inventoryIs)
	s.step(`the storage service has to store (\S+)`, w.storeIs)
	s.step(`in its batch it moves from (\S+) to (\S+)`, w.batchEntryMoves)
	s.step(`the (job(?: [A-Z])?) has left the queue of (\S+)`, w.jobLeftQueue)
	s.step(`nothing is left of the job`, w.jobIsGone)
	s.step(`the answer warns that its depositor will not be told of it`, w.answerWarns)
	s.step(`the answer warns of nothing`, w.answerWarnsOfNothing)

	// What a batch goes through.
	s.step(`an? (\S+) batch( that a worker has acquired)?`, w.aBatch)
	s.step(`a batch in (\S+)(?: with the completed jobs ([A-Z ]+))?`, w.aBatchWithJobs)
	s.step(`a job ([A-Z]) in it that is (\S+)`, w.aJobOfIt)
	s.step(`a worker has acquired the batch`, w.workerHasAcquiredTheBatch)
	s.step(`a worker of the client library died while it acquired the batch`, w.batchWasHalfAcquired)
	s.step(`the (batch(?: [A-Z])?) already has a job`, w.batchHasAJob)
	s.step(`the repair pass over batches runs`, w.repairingPass)
	s.step(`its last report listed as completed ([A-Z ]+|none) and as failed ([A-Z ]+|none)`, w.itsLastReport)
	s.step(`a submission comes in with the UUID (\S+)`, w.submissionComesIn)
	s.step(`a submission comes in with the batch's UUID`, w.submissionComesInAgain)
	s.step(`the worker creates no job in it`, w.workerMakesNoJob)
	s.step(`an administrator (releases the batch|has the batch reported again|deletes the batch)`, w.adminActsOnBatch)
	s.step(`an administrator gives up the batch, saying "(.*)"`, w.adminGivesUp)
	s.step(`the event comes that its batch-processing is empty`, w.eventComes)
	s.step(`the worker reports it`, w.workerReports)
	s.step(`the worker makes its report`, w.workerMakesReport)
	s.step(`the worker records the report as sent`, w.workerRecordsReport)

	// What a batch is then.
	s.step(`there is a new pending batch that holds the submission`, w.batchIsMade)
	s.step(`it is found by its UUID`, w.batchIsFound)
	s.step(`its number is higher than any before`, w.numberIsNew)
	s.step(`the (batch|request) is ([a-z-]+)(?:, saying "(.*)")?`, w.itIs)
	s.step(`there is a folder for the jobs that it waits for`, w.thereIsAFolder)
	s.step(`the batch has no states`, w.batchHasNoStates)
	s.step(`its status report lists as completed ([A-Z ]+|none) and as failed ([A-Z ]+|none)`, w.reportLists)
	s.step(`the report tells as new: completed ([A-Z ]+|none), failed ([A-Z ]+|none)`, w.reportTellsAsNew)
	s.step(`the report tells as still failed ([A-Z ]+|none), and as resumed ([A-Z ]+|none)`, w.reportTellsOfTheRest)
	s.step(`nothing is left of the (batches|requests) ([A-Z ]+)`, w.allAreGone)
	s.step(`nothing is left of the batch(?:, nor of its jobs ([A-Z ]+))?`, w.batchIsGone)
	s.step(`the answer warns that its depositor will not be told`, w.answerWarnsOfBatch)

	// Access requests.
	s.step(`an? (\S+) request( that a worker has acquired)?`, w.aRequest)
	s.step(`a request for a (small|large) object comes in with the token (\S+)`, w.requestComesIn)
	s.step(`an administrator (has the request tried again|deletes the request)`, w.adminActsOnRequest)
	s.step(`there is a new pending request for a (small|large) object with the token (\S+)`, w.requestIsMade)
	s.step(`nothing is left of the request`, w.requestIsGone)

	// Acquiring.
	s.step(`these jobs in (\S+)`, w.theseJobs)
	s.step(`these batches in (\S+)`, w.theseBatches)
	s.step(`these (\S+) requests for (small|large) objects`, w.theseRequests)
	s.step(`the job ([A-Z]) is also in the queue of (\S+), with priority (\d+)`, w.staleEntry)
	s.step(`(the|another) worker acquires the next (job|batch|request) (?:in|for a) (\S+)(?: object)?`, w.workerAcquires)
	s.step(`the (other )?worker has the ((?:job|batch|request)(?: [A-Z])?), with a lock that ends with the session`, w.workerHas)
	s.step(`the worker unlocks it`, w.workerGivesBack)

	// Locks and holds.
	s.step(`(the|another|an) (worker|administrator) (takes|releases) the (queue hold|collection hold|storage lock|inventory lock|local id lock) (\S+)(?: of (\S+))?`, w.takesOrReleases)
	s.step(`(the|another|an) (worker|administrator)'s session ends`, w.sessionEnds)
	s.step(`(/locks/\S+) is there, and (stays until it is released|ends with the session)`, w.lockIsThere)
	s.step(`(/locks/\S+) is (still there|gone)`, w.lockIs)

	// Stories.
	s.step(`an administrator gives the job ([A-Z]) priority (\d+)`, w.adminGivesPriority)
	s.step(`the job ([A-Z]) is in the queue of (\S+) with priority (\d+)`, w.jobStandsWithPriority)
	s.step(`a second batch of its collection with the pending jobs ([A-Z ]+)`, w.aSecondBatch)
	s.step(`a worker that heeds holds acquires the next pending (batch|job)`, w.workerMindsTheHold)
	s.step(`a worker with room for (\d+) bytes looks at all jobs in provisioning`, w.workerPassesOver)
	s.step(`they have looked at the jobs ([A-Z ]+)`, w.hasLookedAt)
	s.step(`they find the identifier (\S+)`, w.findsIdentifier)
	s.step(`there is (something|nothing) to send`, w.thereIsToSend)
	s.step(`the worker acquires and reports the next batch in (\S+)`, w.workerAcquiresAndReports)
	s.step(`workers move the job ([A-Z]) to (\S+)`, w.workersTakeOn)
	s.step(`the job ([A-Z]) fails there, saying "(.*)"`, w.jobFailsThere)
	s.step(`every step was as documented`, w.asDocumented)
	s.step(`nobody has written submission, configuration, bid or batch-uuids a second time`, w.writtenOnce)
	s.step(`each of them has been acquired by a worker of its own`, w.eachAcquired)
	s.step(`all of them succeed at the same moment, while three watchers wait`, w.allSucceedAtOnce)
	s.step(`the watch has fired once`, w.watchFiredOnce)
	s.step(`a watcher waits for the last of its jobs`, w.watcherWaits)
	s.step(`the watch has not fired`, w.watchHasNotFired)
	s.step(`the jobs ([A-Z ]+) are completed, and nobody has a lock on them`, w.jobsAreCompleted)
	s.step(`the state of the batch is (\S+), and those of its jobs ([A-Z ]+) are ([a-z ]+)`, w.batchStandsAt)
	s.step(`the job is deleted as the dialect does it, from (\S+)`, w.jobIsDeleted)

	// What can't be.
	s.step(`a (job|batch|request) that is (\S+?)(, acquired by a worker)?`, w.something)
	s.step(`an administrator tries to move the (job|batch|request) to (\S+)`, w.adminMoves)
	s.step(`the worker tries to move it to (\S+)`, w.workerMoves)
	s.step(`it is refused: from (\S+) the (job|batch|request) can go to (.*)`, w.isIllegal)

	// Before anything else.
	s.step(`an empty ZooKeeper`, w.emptyZooKeeper)
	s.step(`an administrator sets the queue up`, w.adminSetsUp)
	s.step(`there are folders for batches, their UUIDs, and jobs and their states`, w.foldersAreThere)
	s.step(`there is a folder for jobs in each of ([a-z ]+)`, w.stateFoldersAreThere)
	s.step(`there are folders for access requests and for every kind of lock`, w.accessAndLockFoldersAreThere)

	// What can't be read, and who is quicker.
	s.step(`its (\S+) is missing`, w.isMissing)
	s.step(`its (\S+) holds (.*)`, w.holds)
	s.step(`the (\S+) of the (job [A-Z]) holds (.*)`, w.ofTheJobHolds)
	s.step(`somebody else comes first, and (\S+) the (job(?: [A-Z])?)(?: priority (\d+))?`, w.isQuicker)
	s.step(`somebody else comes first, and adds a job ([A-Z]) to it that is (\S+)`, w.makesJobQuicker)

	// How it ends.
	s.step(`the lock is released`, w.lockIsGivenBack)
	s.step(`it is refused because (.*)`, w.isRefused)
	s.step(`nothing else has changed`, w.settle)
	s.step(`nothing has changed(?: since)?`, w.unchanged)
}
