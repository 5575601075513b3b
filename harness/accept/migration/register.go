package migration

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"mrtq/features"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// register registers every step of both features. A pattern must match the whole step.
func (w *world) register(s runner.Steps) {
	for what, line := range commands {
		s.Step(`the operator `+regexp.QuoteMeta(what), func() error { return w.run(line) })
	}
	for _, fine := range []string{`the plan is accepted`, `the migration is done`, `nothing differs`} {
		s.Step(fine, func() error { return w.wantCode(0) })
	}
	s.Step(`the (?:plan|migration) is refused`, func() error { return w.wantCode(1) })
	s.Step(`it is refused because "([^"]+)"`, w.refused)
	s.Step(`it says "([^"]+)"`, w.says)
	s.Step(`nothing at all was written`, func() error { return w.unwritten("", w.before) })

	// What exists.
	s.Step(`the dialect (design|mrt-zk)`, func(d string) { w.dialect = d })
	s.Step(`the legacy queue that the JVM services wrote`, func() error { return w.load(znode.ReadDump(strings.NewReader(features.Corpus))) })
	s.Step(`a legacy queue of (\d+) records of all formats`, w.generated)
	s.Step(`a legacy queue as the deployed services wrote it`, func() error { return w.load(znode.ReadDump(strings.NewReader(features.Deployed))) })
	s.Step(`a legacy queue with (.+)`, w.oneRecord)
	s.Step(`its payload is (.+)`, func(where string) { w.payload = daemons.Payload(where) })
	s.Step(`the queue was migrated`, func() error {
		return cmp.Or(w.run(commands["plans the migration, deciding every record"]), w.run(commands["migrates, deciding every record"]), w.wantCode(0))
	})
	s.Step(`a legacy service adds a record`, w.addRecord)
	s.Step(`a legacy service fails the job of (\S+)`, w.failRecord)

	// What is read, planned and migrated.
	s.Step(`all (\d+) records are reported, and (\d+) of them as undecodable`, w.reported)
	s.Step(`it names these records`, w.planNames)
	s.Step(`each choice risks`, w.risks)
	s.Step(`the new queue holds`, w.newQueueHolds)
	s.Step(`its queues are held`, func() error { return w.heldAre("ingest accessSmall accessLarge") })
	s.Step(`the 9 records that cannot be read are kept byte for byte`, w.quarantined)
	s.Step(`the legacy queue is unchanged`, func() error { return w.unwritten("/legacy", w.legacy) })
	s.Step(`(\d+) jobs? (?:was|were) created`, w.made)
	s.Step(`no job, request or batch is left`, func() error {
		return w.nothingBelow(newqueue.JobsPath, newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.AccessPath+"/small", newqueue.AccessPath+"/large")
	})

	// What goes wrong.
	s.Step(`two operators migrate at the same moment, deciding every record`, w.migrateTwice)
	s.Step(`both succeed, and every record was migrated once`, func() error { return cmp.Or(w.run(commands["verifies"]), w.wantCode(0)) })
	s.Step(`the migration is killed with kill -9 halfway`, w.killed)
	s.Step(`the server is killed and restarted in the middle of the migration`, w.serverLost)

	// Legacy workers, and in which queue a record is.
	s.Step(`a legacy worker has taken a record`, w.do(w.take))
	s.Step(`the legacy worker finishes`, w.finishes)
	s.Step(`the legacy workers run`, w.do((*daemons.World).RunLegacy))
	s.Step(`an administrator deletes (\S+) in the legacy queue`, w.deleteRecord)
	s.Step(`an administrator lifts the holds`, w.do((*daemons.World).LiftHolds))
	s.Step(`a service begins a job`, w.do(w.begin))
	s.Step(`the operator decides that the (new|legacy) queue has that record`, func(queue string) error {
		return w.run("release TARGET --record-is " + queue + "=" + w.record)
	})
	s.Step(`the operator decides that the (new|legacy) queue has what is gone`, func(queue string) error {
		return w.run("release TARGET --vanished " + queue)
	})
	s.Step(`each record is in the new queue alone, and its bytes are kept`, func() error {
		here, there, err := w.handedOver()
		return cmp.Or(err, w.wantCode(0), equal("records are in the legacy queue", here, 0), more(there, "records are in the new queue"))
	})
	s.Step(`each other record is in the legacy queue again, as it was`, w.gaveBack)
	s.Step(`that record is in (?:the )?(new|legacy|no) queue alone`, w.isIn)
	s.Step(`no record is kept`, w.nothingKept)
	s.Step(`(\S+) is held, and no other queue`, w.heldAre)
	s.Step(`no queue is held`, func() error { return w.heldAre("") })
	s.Step(`the work of each record that was pending was done once`, w.doneOnce)

	// The deployed services.
	s.Step(`the holds are released and the services run`, w.liftHolds)
	s.Step(`the services run`, w.do(w.runServices))
	s.Step(`an administrator releases the held jobs and requeues the failed ones`, func() error {
		return cmp.Or(w.doTo(newqueue.JobsPath, "held", daemons.ReleaseJob), w.doTo(newqueue.JobsPath, "failed", daemons.RequeueJob))
	})
	s.Step(`an administrator deletes the held jobs and the failed ones`, func() error {
		return cmp.Or(w.doTo(newqueue.JobsPath, "held", daemons.DeleteJob), w.doTo(newqueue.JobsPath, "failed", daemons.DeleteJob))
	})
	s.Step(`an administrator requests update reports of the failed batches`, func() error {
		return w.doTo(newqueue.BatchesPath, "failed", daemons.UpdateReport)
	})
	s.Step(`the hourly cleanup runs`, w.do((*daemons.World).Clean))
	s.Step(`it says that the deployed services can read the new queue`, func() error { return w.says("the deployed services: mrt-ingest") })
	s.Step(`the plan says (.+)`, w.planSays)
	s.Step(`every job is completed, except the deleted ones`, w.jobsCompleted)
	s.Step(`every batch that was not completed before was reported once`, w.reportedOnce)
	s.Step(`nothing troubled the services`, func() error {
		if t := w.services.Troubles; len(t) > 0 {
			return errors.New(t[0].String())
		}
		return nil
	})
	s.Step(`no batch and no job is left`, func() error { return w.nothingBelow(newqueue.JobsPath, newqueue.BatchesPath) })
	s.Step(`it is taken by (.+)`, w.takenBy)
	s.Step(`it ends (\S+)`, w.ends)
	s.Step(`its batch's report is sent (once|never)`, func(times string) error {
		return equal("emails were sent", len(w.services.Mails), map[string]int{"once": 1, "never": 0}[times])
	})
	s.Step(`they took nothing and sent no email`, w.tookNothing)
	s.Step(`it was stored (.+)`, w.stored)
	s.Step(`it has removed batches`, func() error { return more(len(w.services.Removed), "batches were removed") })
	s.Step(`it removes the batches that the plan said it would`, w.removedAsSaid)
}
