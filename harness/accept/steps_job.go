package accept

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

func (w *world) aJob(state, acquired string) error {
	if err := w.jobWith(seed{state: state}); err != nil || acquired == "" {
		return err
	}
	return w.arrange("worker", acquireJob(state))
}

// jobWith writes the only job of a scenario, in a batch that is processing.
func (w *world) jobWith(s seed) error {
	s.priority = usualPriority
	if _, ok := w.names["batch"]; !ok {
		if err := w.newBatch("batch", "processing"); err != nil {
			return err
		}
	}
	return w.newJob("job", "batch", s)
}

func (w *world) aFailedJob(last string) error {
	return w.jobWith(seed{state: "failed", lss: last})
}

// aJobResumedByJava writes a job with the last_successful_status failed. The Java
// library writes the state that the job leaves, even if that is failed
// (Job.statusObject).
func (w *world) aJobResumedByJava(state string) error {
	if err := w.jobWith(seed{state: state, lss: "failed"}); err != nil {
		return err
	}
	return w.arrange("worker", acquireJob(state))
}

func (w *world) aJobOfACompletedBatch(state string) error {
	if err := w.newBatch("batch", "completed"); err != nil {
		return err
	}
	return w.jobWith(seed{state: state})
}

// acquireJob acquires the next job in a state.
func acquireJob(state string) func(context.Context, *actor, *outcome) error {
	return func(ctx context.Context, a *actor, _ *outcome) (err error) {
		a.job, err = a.q.AcquireJob(ctx, newqueue.JobState(state))
		return err
	}
}

// worker lets the worker do something with what it acquired.
func (w *world) worker(do func(ctx context.Context, a *actor) error) error {
	return w.workerOr("", do)
}

func (w *world) workerOr(other string, do func(ctx context.Context, a *actor) error) error {
	return w.act(other+"worker", func(ctx context.Context, a *actor, _ *outcome) error { return do(ctx, a) })
}

func (w *world) workerSucceeds(other string) error {
	return w.workerOr(other, func(ctx context.Context, a *actor) error {
		if a.access != nil {
			return a.access.Succeed(ctx)
		}
		return a.job.Succeed(ctx)
	})
}

func (w *world) workerSucceedsKnowing(space int64, priority int) error {
	return w.worker(func(ctx context.Context, a *actor) error {
		return a.job.Succeed(ctx, client.WithSpaceNeeded(space), client.WithPriority(priority))
	})
}

// workerSucceedsFor lets a worker say where the next service finds the object.
func (w *world) workerSucceedsFor(url, service string) error {
	found := client.WithInventory(newqueue.Inventory{ManifestURL: url, Mode: "full"})
	if service == "storage" {
		found = client.WithStore(newqueue.Store{ManifestURL: url, Mode: "add", Delete: "none"})
	}
	return w.worker(func(ctx context.Context, a *actor) error { return a.job.Succeed(ctx, found) })
}

func (w *world) workerMints(ark string) error {
	return w.worker(func(ctx context.Context, a *actor) error {
		return a.job.Set(ctx, client.WithIdentifiers(newqueue.Identifiers{PrimaryID: ark, LocalIDs: []string{"loc-1"}}))
	})
}

func (w *world) workerFails(other, why string) error {
	return w.workerOr(other, func(ctx context.Context, a *actor) error {
		if a.access != nil {
			return a.access.Fail(ctx, why)
		}
		return a.job.Fail(ctx, why)
	})
}

func (w *world) workerHolds(why string) error {
	return w.worker(func(ctx context.Context, a *actor) error {
		if a.batch != nil {
			return a.batch.Hold(ctx, why)
		}
		return a.job.Hold(ctx, client.WithMessage(why))
	})
}

func (w *world) adminActsOnJob(action, name string) error {
	jid := path.Base(w.names[name])
	return w.act("administrator", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		switch action {
		case "releases":
			return a.q.MoveJob(ctx, jid, newqueue.JobHeld, newqueue.JobPending)
		case "resumes":
			_, err = a.q.ResumeJob(ctx, jid)
			return err
		}
		answer.warnings, err = a.q.DeleteJob(ctx, jid)
		return err
	})
}

func (w *world) adminRetriesJob(at string) error {
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error {
		return a.q.MoveJob(ctx, path.Base(w.names["job"]), newqueue.JobFailed, newqueue.JobState(at))
	})
}

// cleaningPass runs the cleaning pass over all jobs, batches or requests.
func (w *world) cleaningPass(what string) error {
	return w.act("cleaning pass", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		switch what {
		case "jobs":
			answer.ids, err = a.q.CleanupJobs(ctx)
		case "batches":
			answer.ids, err = a.q.CleanupBatches(ctx)
		default:
			_, small := a.q.CleanupRequests(ctx, newqueue.AccessSmall)
			_, large := a.q.CleanupRequests(ctx, newqueue.AccessLarge)
			err = errors.Join(small, large)
		}
		return err
	})
}

// wanted is a job in a scenario's table, with what the manifest says about it.
type wanted struct {
	url, localID, primaryID, title string
	priority                       int
	space                          int64
}

// jobsOf reads a scenario's table.
func jobsOf(t *godog.Table) (jobs []wanted, err error) {
	for _, r := range t.Rows[1:] {
		var j wanted
		for i, c := range r.Cells {
			switch column := t.Rows[0].Cells[i].Value; column {
			case "payload":
				j.url = c.Value
			case "local id":
				j.localID = c.Value
			case "primary id":
				j.primaryID = c.Value
			case "title":
				j.title = c.Value
			case "priority":
				j.priority, err = strconv.Atoi(c.Value)
			case "bytes":
				j.space, err = strconv.ParseInt(c.Value, 10, 64)
			default:
				err = fmt.Errorf("the table has an unknown column %q", column)
			}
			if err != nil {
				return nil, err
			}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// newJob returns the job that the code under test must create.
func (j wanted) newJob() client.NewJob {
	return client.NewJob{
		Priority: j.priority,
		Configuration: newqueue.Configuration{
			ProfileName: "merritt_demo_content", Submitter: "Dee Positor", SubmissionDate: longAgo,
			PayloadURL: j.url, PayloadType: "Manifest", ResponseType: "JSON", LocalID: j.localID, SubmissionMode: "Add",
		},
		Identifiers: newqueue.Identifiers{PrimaryID: j.primaryID, LocalIDs: []string{j.localID}},
		Metadata:    newqueue.Metadata{ErcWhat: j.title},
		SpaceNeeded: j.space,
	}
}

func (w *world) workerMakesJobs(t *godog.Table) (err error) {
	if w.jobs, err = jobsOf(t); err != nil {
		return err
	}
	return w.act("worker", func(ctx context.Context, a *actor, answer *outcome) (err error) {
		var jobs []client.NewJob
		for _, j := range w.jobs {
			jobs = append(jobs, j.newJob())
		}
		answer.ids, err = a.batch.Process(ctx, jobs...)
		return err
	})
}

func (w *world) workerMakesOneJobMore(t *godog.Table) (err error) {
	if w.jobs, err = jobsOf(t); err != nil {
		return err
	}
	return w.act("worker", func(ctx context.Context, a *actor, answer *outcome) error {
		jid, err := a.q.CreateJob(ctx, path.Base(w.names["batch"]), w.jobs[0].newJob())
		answer.ids = []string{jid}
		return err
	})
}

// jobsAreMade expects the jobs of the scenario's table, in its order.
func (w *world) jobsAreMade() error {
	made := w.newcomers("/jobs")
	if err := w.done(); err != nil {
		return err
	}
	if len(made) != len(w.jobs) || !slices.Equal(made, w.last.ids) {
		return fmt.Errorf("the new jobs are %v, the answer is %v, expected %d", made, w.last.ids, len(w.jobs))
	}
	var wrong []error
	for i, j := range w.jobs {
		wrong = append(wrong, w.jobIsMade(made[i], j))
	}
	return errors.Join(wrong...)
}

// jobIsMade expects a new job in its three places (J1).
func (w *world) jobIsMade(jid string, j wanted) error {
	at, bid := "/jobs/"+jid, path.Base(w.names["batch"])
	status := object{"status": w.state("pending"), "last_successful_status": nil, w.jobTime: w.time(w.now), "retry_count": 0}
	w.message(status, "")
	nodes := append(jobNodes(at, bid, j.priority, j.space),
		znode.Node{Path: at + "/configuration", Data: w.configuration(bid, j.url, j.localID).bytes()},
		znode.Node{Path: at + "/identifiers", Data: object{"primary_id": j.primaryID, "local_id": []string{j.localID}}.bytes()},
		znode.Node{Path: at + "/status", Data: status.bytes()},
		znode.Node{Path: entry("pending", j.priority, jid), Data: []byte{}},
		znode.Node{Path: w.names["batch"] + "/states/batch-processing/" + jid, Data: []byte{}},
	)
	if j.title != "" {
		metadata := object{"erc_what": j.title, "erc_who": "", "erc_when": "", "erc_where": ""}
		nodes = append(nodes, znode.Node{Path: at + "/metadata", Data: metadata.bytes()})
	}
	var wrong []error
	for _, n := range nodes {
		wrong = append(wrong, w.wantNode(n.Path, n.Data))
	}
	return errors.Join(wrong...)
}

func (w *world) jobsAreFresh() error {
	var wrong []error
	for _, jid := range w.newcomers("/jobs") {
		wrong = append(wrong,
			w.seenField("/jobs/"+jid+"/status", "last_successful_status", nil),
			w.seenField("/jobs/"+jid+"/status", "retry_count", 0))
	}
	return errors.Join(wrong...)
}

func (w *world) jobIs(name, state, message string) error {
	at, err := w.path(name)
	if err != nil {
		return err
	}
	w.names["job"] = at // "its" in the next Thens means this job
	return errors.Join(w.done(), w.jobMoves(at, state, priorityIn(w.before, at), message))
}

func (w *world) jobIsWithPriority(state string, priority int) error {
	at := w.names["job"]
	return errors.Join(w.done(), w.jobMoves(at, state, priority, ""),
		w.wantNode(at+"/priority", []byte(strconv.Itoa(priority))))
}

// jobMoves expects that a job is in another state: in its status, and in that state's
// queue instead of the old one.
func (w *world) jobMoves(at, state string, priority int, message string) error {
	from, jid := w.stateOf(w.want, at), path.Base(at)
	return errors.Join(
		w.wantField(at+"/status", "status", w.state(state)),
		w.wantField(at+"/status", w.jobTime, w.time(w.now)),
		w.wantMessage(at+"/status", message),
		w.wantGone(entry(from, priorityIn(w.before, at), jid)),
		w.wantNode(entry(state, priority, jid), []byte{}),
	)
}

// priorityIn returns a job's priority in a tree.
func priorityIn(t *znode.Tree, at string) int {
	n := t.Get(at + "/priority")
	if n == nil {
		return -1
	}
	p, _ := strconv.Atoi(string(n.Data))
	return p
}

func (w *world) jobNeeds(space int64) error {
	return w.wantNode(w.names["job"]+"/space_needed", []byte(strconv.FormatInt(space, 10)))
}

func (w *world) lastSuccessIs(last, deployed string) error {
	if w.mrtZK() && deployed != "" {
		last = deployed
	}
	return w.wantField(w.names["job"]+"/status", "last_successful_status", w.state(last))
}

func (w *world) retriedOnceMore() error {
	at := w.names["job"] + "/status"
	before, _ := parse(w.before.Get(at).Data)["retry_count"].(float64)
	return w.wantField(at, "retry_count", int(before)+1)
}

func (w *world) identifierIs(ark string) error {
	return w.wantNode(w.names["job"]+"/identifiers", object{"primary_id": ark, "local_id": []string{"loc-1"}}.bytes())
}

func (w *world) hasToTake(service, url string) error {
	if service == "storage" {
		return w.wantNode(w.names["job"]+"/store", object{"manifest_url": url, "mode": "add", "delete": "none"}.bytes())
	}
	return w.wantNode(w.names["job"]+"/inventory", object{"manifest_url": url, "mode": "full"}.bytes())
}

func (w *world) batchEntryMoves(from, to string) error {
	states, jid := w.names["batch"]+"/states/batch-", path.Base(w.names["job"])
	return errors.Join(w.wantGone(states+from+"/"+jid), w.wantNode(states+to+"/"+jid, []byte{}))
}

func (w *world) jobLeftQueue(name, state string) error {
	return errors.Join(w.done(), w.wantGone(entry(state, usualPriority, path.Base(w.names[name]))))
}

// jobIsRemoved expects that the job is removed from all three places.
func (w *world) jobIsRemoved() error {
	at, jid := w.names["job"], path.Base(w.names["job"])
	state := w.stateOf(w.before, at)
	return errors.Join(w.done(), w.wantGone(at),
		w.wantGone(entry(state, usualPriority, jid)),
		w.wantGone(w.names["batch"]+"/states/"+folderOf(state)+"/"+jid))
}

// answerWarns expects a warning that names the scenario's job or batch.
func (w *world) answerWarns() error {
	for _, text := range w.last.warnings {
		if strings.Contains(text, "depositor") && strings.Contains(text, path.Base(w.subject())) {
			return nil
		}
	}
	return fmt.Errorf("the answer is %q", w.last.warnings)
}

func (w *world) answerWarnsOfNothing() error {
	if err := w.done(); err != nil || len(w.last.warnings) > 0 {
		return errors.Join(err, fmt.Errorf("the answer is %q", w.last.warnings))
	}
	return nil
}
