package accept

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func (w *world) aBatch(state, acquired string) error {
	if err := w.newBatch("batch", state); err != nil || acquired == "" {
		return err
	}
	return w.arrange("worker", acquireBatch(state))
}

// acquireBatch acquires the next batch in a state.
func acquireBatch(state string) func(context.Context, *actor, *outcome) error {
	return func(ctx context.Context, a *actor, _ *outcome) (err error) {
		a.batch, err = a.q.AcquireBatch(ctx, newqueue.BatchState(state))
		return err
	}
}

func (w *world) aBatchWithJobs(state, names string) error {
	if err := w.newBatch("batch", state); err != nil {
		return err
	}
	for _, name := range strings.Fields(names) {
		if err := w.aJobOfIt(name, "completed"); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) aJobOfIt(name, state string) error {
	return w.newJob("job "+name, "batch", seed{state: state, priority: usualPriority})
}

func (w *world) workerHasAcquiredTheBatch() error {
	state := w.stateOf(w.seen, w.names["batch"])
	return w.arrange("worker", acquireBatch(state))
}

// batchWasHalfAcquired writes what a worker of the deployed library leaves if it
// dies while it acquires a batch, or may not acquire it: it creates states first
// (Batch.acquirePendingBatch).
func (w *world) batchWasHalfAcquired() error {
	return w.write(znode.Node{Path: w.names["batch"] + "/states", Data: []byte{}})
}

func (w *world) batchHasAJob(name string) error {
	return w.write(znode.Node{Path: w.names[name] + "/states/batch-processing/jid0000000099", Data: []byte{}})
}

func (w *world) batchHasNoStates() error {
	return errors.Join(w.done(), w.wantGone(w.names["batch"]+"/states"))
}

func (w *world) repairingPass() error {
	return w.act("repairing pass", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		answer.ids, err = a.q.RepairBatches(ctx)
		return err
	})
}

// ids returns the ids of jobs, sorted, for their names in the scenario: "A B", or none.
func (w *world) ids(names string) []string {
	ids := []string{}
	if names == none {
		return ids
	}
	for _, name := range strings.Fields(names) {
		ids = append(ids, path.Base(w.names["job "+name]))
	}
	slices.Sort(ids)
	return ids
}

func (w *world) itsLastReport(completed, failed string) error {
	report := object{"last_modified": w.time(longAgo), "successful_jobs": w.ids(completed), "failed_jobs": w.ids(failed)}
	return w.write(znode.Node{Path: w.names["batch"] + "/status-report", Data: report.bytes()})
}

// submission returns what a depositor sends.
func submission(uuid string) newqueue.Submission {
	return newqueue.Submission{
		ProfileName: "merritt_demo_content", Submitter: "Dee Positor", PayloadFilename: "three.checkm",
		SubmissionDate: longAgo, ErcWhat: "three objects", Type: "object-manifest", SubmissionMode: "add", BatchID: uuid,
	}
}

func (w *world) submissionComesIn(uuid string) error {
	w.uuid = uuid
	return w.act("API", func(ctx context.Context, a *actor, answer *outcome) error {
		bid, err := a.q.CreateBatch(ctx, submission(uuid))
		answer.ids = []string{bid}
		return err
	})
}

func (w *world) submissionComesInAgain() error {
	return w.submissionComesIn("uuid-of-" + path.Base(w.names["batch"]))
}

func (w *world) workerMakesNoJob() error {
	return w.worker(func(ctx context.Context, a *actor) error {
		_, err := a.batch.Process(ctx)
		return err
	})
}

func (w *world) adminActsOnBatch(action string) error {
	bid := path.Base(w.names["batch"])
	return w.act("administrator", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		switch {
		case strings.HasPrefix(action, "releases"):
			return a.q.MoveBatch(ctx, bid, newqueue.BatchHeld, newqueue.BatchPending)
		case strings.HasPrefix(action, "requests"):
			return a.q.MoveBatch(ctx, bid, newqueue.BatchFailed, newqueue.BatchUpdateReporting)
		}
		answer.warnings, err = a.q.DeleteBatch(ctx, bid)
		return err
	})
}

func (w *world) adminGivesUp(why string) error {
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error {
		return a.q.FailBatch(ctx, path.Base(w.names["batch"]), why)
	})
}

func (w *world) eventComes() error {
	return w.act("watcher", func(ctx context.Context, a *actor, _ *outcome) error {
		return a.q.MoveBatch(ctx, path.Base(w.names["batch"]), newqueue.BatchProcessing, newqueue.BatchReporting)
	})
}

func (w *world) workerReports() error {
	return w.act("worker", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		if answer.report, err = a.batch.Report(ctx); err != nil {
			return err
		}
		return a.batch.Finish(ctx, answer.report)
	})
}

func (w *world) workerMakesReport() error {
	return w.act("worker", func(ctx context.Context, a *actor, _ *outcome) (err error) {
		w.report, err = a.batch.Report(ctx)
		return err
	})
}

func (w *world) workerRecordsReport() error {
	return w.worker(func(ctx context.Context, a *actor) error { return a.batch.Finish(ctx, w.report) })
}

func (w *world) batchIsMade() error {
	made := w.newcomers("/batches")
	w.highest = max(w.highest, slices.Max(append(w.before.Children("/batches"), "")))
	if err := w.done(); err != nil {
		return err
	}
	if len(made) != 1 || len(w.last.ids) != 1 || made[0] != w.last.ids[0] {
		return fmt.Errorf("the new batches are %v, the answer is %v", made, w.last.ids)
	}
	at := "/batches/" + made[0]
	w.names["batch"] = at
	status := object{"status": w.state("pending"), "last_modified": w.time(w.now)}
	w.message(status, "")
	submission := object{
		"profile_name": "merritt_demo_content", "submitter": "Dee Positor", "payload_filename": "three.checkm",
		"submissionDate": w.time(longAgo), "erc_what": "three objects", "erc_who": "", "erc_when": "", "erc_where": "",
		"type": "object-manifest", "submission_mode": "add", "batchID": w.uuid,
	}
	return errors.Join(
		w.wantNode(at, []byte{}),
		w.wantNode(at+"/submission", submission.bytes()),
		w.wantNode(at+"/status", status.bytes()),
	)
}

func (w *world) batchIsFound() error {
	return w.wantNode("/batch-uuids/"+w.uuid, []byte(path.Base(w.names["batch"])))
}

// itIs expects a batch or a request in another state.
func (w *world) itIs(what, state, message string) error {
	at := w.names[what]
	wrong := []error{
		w.done(),
		w.wantField(at+"/status", "status", w.state(state)),
		w.wantField(at+"/status", "last_modified", w.time(w.now)),
		w.wantMessage(at+"/status", message),
	}
	if what == "batch" && state == "processing" {
		wrong = append(wrong, w.thereIsAFolder())
	}
	return errors.Join(wrong...)
}

func (w *world) thereIsAFolder() error {
	return w.wantNode(w.names["batch"]+"/states/batch-processing", []byte{})
}

func (w *world) reportLists(completed, failed string) error {
	report := object{"last_modified": w.time(w.now), "successful_jobs": w.ids(completed), "failed_jobs": w.ids(failed)}
	return w.wantNode(w.names["batch"]+"/status-report", report.bytes())
}

func (w *world) reportListsNew(completed, failed string) error {
	r := w.last.report
	if !slices.Equal(r.NewlyCompleted, w.ids(completed)) || !slices.Equal(r.NewlyFailed, w.ids(failed)) {
		return fmt.Errorf("the report lists %v as newly completed and %v as newly failed", r.NewlyCompleted, r.NewlyFailed)
	}
	return nil
}

func (w *world) reportListsTheRest(failed, atWork string) error {
	r := w.last.report
	if !slices.Equal(r.Unresolved, w.ids(failed)) || !slices.Equal(r.Unfinished, w.ids(atWork)) {
		return fmt.Errorf("the report lists %v as still failed and %v as resumed", r.Unresolved, r.Unfinished)
	}
	return nil
}

// numberIsNew compares with the numbers of all earlier batches, including removed ones.
func (w *world) numberIsNew() error {
	if bid := path.Base(w.names["batch"]); bid <= w.highest {
		return fmt.Errorf("the batch is %s, but there was %s before", bid, w.highest)
	}
	return nil
}

// allAreGone expects that requests, or batches without jobs, do not exist any more.
func (w *world) allAreGone(what, names string) error {
	wrong := []error{w.done()}
	for _, name := range strings.Fields(names) {
		if what == "requests" {
			wrong = append(wrong, w.wantGone(w.names["request "+name]))
			continue
		}
		at := w.names["batch "+name]
		wrong = append(wrong, w.wantGone(at), w.wantGone("/batch-uuids/uuid-of-"+path.Base(at)))
	}
	return errors.Join(wrong...)
}

// batchIsGone expects that nothing is left of the batch and of its jobs.
func (w *world) batchIsGone(jobs string) error {
	at := w.names["batch"]
	wrong := []error{w.done(), w.wantGone(at), w.wantGone("/batch-uuids/uuid-of-" + path.Base(at))}
	for _, jid := range w.ids(jobs) {
		state := w.stateOf(w.before, "/jobs/"+jid)
		wrong = append(wrong, w.wantGone("/jobs/"+jid), w.wantGone(entry(state, usualPriority, jid)))
	}
	return errors.Join(wrong...)
}
