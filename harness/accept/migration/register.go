package migration

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"mrtq/features"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/daemons"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// register registers every step of both features. A pattern must match the whole step.
func (w *world) register(step runner.Step) {
	for what, line := range commands {
		step(`the operator `+regexp.QuoteMeta(what), func() error { return w.run(line) })
	}
	for _, fine := range []string{`the plan is accepted`, `the migration is done`, `nothing differs`} {
		step(fine, func() error { return w.wantCode(0) })
	}
	step(`the (?:plan|migration) is refused`, func() error { return w.wantCode(1) })
	step(`it is refused because "([^"]+)"`, w.refused)
	step(`it says "([^"]+)"`, w.says)
	step(`nothing at all was written`, func() error { return w.unwritten("", w.before) })

	// What exists.
	step(`the dialect (design|mrt-zk)`, func(d string) { w.dialect = d })
	step(`the legacy queue that the JVM services wrote`, func() error { return w.load(znode.ReadDump(strings.NewReader(features.Corpus))) })
	step(`a legacy queue of (\d+) records of all formats`, func(records int) error { // enough to interrupt its migration
		return w.load(legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1, Consumed: true}))
	})
	step(`a legacy queue as the deployed services wrote it`, func() error { return w.load(znode.ReadDump(strings.NewReader(features.Deployed))) })
	step(`a legacy queue with (.+)`, w.oneRecord)
	step(`its payload is (.+)`, func(where string) { w.payload = daemons.Payload(where) })
	step(`the queue was migrated`, func() error {
		return cmp.Or(w.run(commands["plans the migration, deciding every record"]), w.run(commands["migrates, deciding every record"]), w.wantCode(0))
	})
	step(`a legacy service adds a record`, w.addRecord)
	step(`a legacy service fails the job of (\S+)`, w.failRecord)

	// What is read, planned and migrated.
	step(`all (\d+) records are reported, and (\d+) of them as undecodable`, w.reported)
	step(`it names these records`, w.planNames)
	step(`it says what could happen`, w.risks)
	step(`the new queue holds`, w.newQueueHolds)
	step(`its queues are held`, func() error { return w.heldAre("ingest accessSmall accessLarge") })
	step(`the 9 records that cannot be read are kept byte for byte`, w.quarantined)
	step(`the legacy queue is unchanged`, w.legacyUnchanged)
	step(`no job, request or batch is left`, func() error {
		return w.nothingBelow(newqueue.JobsPath, newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.AccessPath+"/small", newqueue.AccessPath+"/large")
	})

	// What goes wrong.
	step(`the migration is killed with kill -9 halfway`, w.killed)
	step(`the server is killed and restarted in the middle of the migration`, w.serverLost)

	// Legacy workers, and in which queue a record is.
	step(`a legacy worker has taken a record`, w.do(w.take))
	step(`the legacy worker finishes`, w.finishes)
	step(`the legacy workers run`, w.do((*daemons.World).RunLegacy))
	step(`an administrator deletes (\S+) in the legacy queue`, func(path string) error {
		w.record = path
		return w.conn.Delete(w.root+"/legacy"+path, -1)
	})
	step(`an administrator lifts the holds`, w.do((*daemons.World).LiftHolds))
	step(`a service begins a job`, w.do(w.begin))
	step(`the operator decides that the (new|legacy) queue has that record`, func(queue string) error {
		return w.run("release TARGET --record-is " + queue + "=" + w.record)
	})
	step(`the operator decides that the (new|legacy) queue has what is gone`, func(queue string) error {
		return w.run("release TARGET --vanished " + queue)
	})
	step(`each record is in the new queue alone, and its bytes are kept`, func() error {
		here, there, err := w.handedOver()
		return cmp.Or(err, w.wantCode(0), equal("records are in the legacy queue", here, 0), more(there, "records are in the new queue"))
	})
	step(`each other record is in the legacy queue again, as it was`, w.gaveBack)
	step(`that record is in (?:the )?(new|legacy|no) queue alone`, w.isIn)
	step(`no record is kept`, w.nothingKept)
	step(`(\S+) is held, and no other queue`, w.heldAre)
	step(`no queue is held`, func() error { return w.heldAre("") })
	step(`the work of each record that was pending was done once`, w.doneOnce)

	// The deployed services.
	step(`the holds are released and the services run`, w.liftHolds)
	step(`the services run`, w.do(w.runServices))
	step(`an administrator releases the held jobs and requeues the failed ones`, func() error {
		return cmp.Or(w.doTo(newqueue.JobsPath, "held", daemons.ReleaseJob), w.doTo(newqueue.JobsPath, "failed", daemons.RequeueJob))
	})
	step(`an administrator deletes the held jobs and the failed ones`, func() error {
		return cmp.Or(w.doTo(newqueue.JobsPath, "held", daemons.DeleteJob), w.doTo(newqueue.JobsPath, "failed", daemons.DeleteJob))
	})
	step(`an administrator requests update reports of the failed batches`, func() error {
		return w.doTo(newqueue.BatchesPath, "failed", daemons.UpdateReport)
	})
	step(`the hourly cleanup runs`, w.do((*daemons.World).Clean))
	step(`it says that the deployed services can read the new queue`, func() error { return w.says("the deployed services: mrt-ingest") })
	step(`the plan says (.+)`, w.planSays)
	step(`every job is completed, except the deleted ones`, w.jobsCompleted)
	step(`every batch that was not completed before was reported once`, w.reportedOnce)
	step(`nothing troubled the services`, func() error {
		if t := w.services.Troubles; len(t) > 0 {
			return errors.New(t[0].String())
		}
		return nil
	})
	step(`no batch and no job is left`, func() error { return w.nothingBelow(newqueue.JobsPath, newqueue.BatchesPath) })
	step(`it is taken by (.+)`, w.takenBy)
	step(`it ends (\S+)`, w.ends)
	step(`its batch's report is sent (once|never)`, func(times string) error {
		return equal("emails were sent", len(w.services.Emails), map[string]int{"once": 1, "never": 0}[times])
	})
	step(`they took nothing and sent no email`, w.tookNothing)
	step(`it was stored (.+)`, w.stored)
	step(`it has removed batches`, func() error { return more(len(w.services.Removed), "batches were removed") })
	step(`it removes the batches that the plan said it would`, w.removedAsSaid)
}
