package accept

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// request is what an actor asks of the code under test, as data. States are spelled as
// dialect design spells them, and documents as the scenario's dialect does.
type request struct {
	verb string // "acquire", "succeed", "move": see do
	// what is a kind of item, or of lock. "" means that of item.
	what string
	// item is the path of a job, a batch or a request, and in steps its name in the scenario. ""
	// means the one that the worker has acquired.
	item     string
	from, to string // states; "" means any
	message  string
	name     string // of a lock, or of a queue of requests
	owner    string // of a local id
	room     int64
	// docs has what the act gives, by the names of the znodes that will hold it. jobs has that of
	// each new job.
	docs nodes
	jobs []nodes
}

// outcome is the answer of the code under test, for a Then to check.
type outcome struct {
	err    error
	judged bool // a Then has checked the error
	// These are the answers of the requests that have one.
	warnings   []string
	ids        []string
	report     client.Report
	yes        bool // the lock is taken
	fired      int  // how often the watch did
	looked     []string
	profile    string // of what was acquired
	identifier string // of the job that was acquired
}

// named stores the answer of a request that creates items, or cleans them up.
func (o *outcome) named(ids []string, err error) error {
	o.ids = append(o.ids, ids...)
	return err
}

// one is named for a request that creates one item.
func (o *outcome) one(id string, err error) error { return o.named([]string{id}, err) }

// warned stores the answer of a deletion.
func (o *outcome) warned(warnings []string, err error) error {
	o.warnings = warnings
	return err
}

// actor is a worker or an administrator, with a session and what it acquired last.
type actor struct {
	conn   *zk.Conn
	q      *client.Queue
	has    item
	report client.Report // the last that it made
}

// item is a job, a batch or a request that a worker has acquired.
type item interface {
	Path() string
	Unlock(context.Context) error
}

// acquired keeps what the worker has acquired.
func (a *actor) acquired(got item, err error) error {
	a.has = got
	if err != nil {
		a.has = nil
	}
	return err
}

// do sends a request to the code under test. It is the only place that calls it.
func (a *actor) do(ctx context.Context, r request, answer *outcome) error {
	at, what := r.item, r.what
	if at == "" && a.has != nil {
		at = a.has.Path()
	}
	if what == "" {
		what = kindOf(at)
	}
	id, size := path.Base(at), newqueue.AccessQueue(path.Base(path.Dir(at)))
	// What the worker has acquired. The verbs of workers are refused before they get to a nil.
	job, _ := a.has.(*client.Job)
	batch, _ := a.has.(*client.Batch)
	access, _ := a.has.(*client.Request)
	switch r.verb + " " + what {
	case "init queue":
		return a.q.Init(ctx)
	case "end session":
		a.conn.Close() // the server would do this after the timeout
		return nil

	case "create batch":
		return answer.one(a.q.CreateBatch(ctx, must(newqueue.ParseSubmission(a.q.Dialect(), encode(r.docs["submission"])))))
	case "create request":
		return answer.one(a.q.CreateRequest(ctx, newqueue.AccessQueue(r.name), must(newqueue.ParseToken(encode(r.docs["token"])))))
	case "create job":
		return answer.one(a.q.CreateJob(ctx, path.Base(r.item), a.newJobs(r.jobs)[0]))
	case "process batch":
		return answer.named(batch.Process(ctx, a.newJobs(r.jobs)...))

	case "acquire job":
		if err := a.acquired(a.q.AcquireJob(ctx, newqueue.JobState(r.from))); err != nil {
			return err
		}
		job = a.has.(*client.Job)
		answer.profile, answer.identifier = job.Configuration.ProfileName, job.Identifiers.PrimaryID
		if r.item != "" && r.item != job.Path() {
			return fmt.Errorf("the next job in %s is %s, expected %s", r.from, job.Path(), r.item)
		}
		return nil
	case "acquire batch":
		b, err := a.q.AcquireBatch(ctx, newqueue.BatchState(r.from))
		if err == nil {
			answer.profile = b.Submission.ProfileName
		}
		return a.acquired(b, err)
	case "acquire request":
		return a.acquired(a.q.AcquireRequest(ctx, newqueue.AccessQueue(r.name), newqueue.AccessState(r.from)))
	case "pass jobs":
		return a.passOver(ctx, r, answer)

	case "unlock job", "unlock batch":
		return a.has.Unlock(ctx)
	case "set job":
		return job.Set(ctx, options(r.docs)...)
	case "succeed job":
		return job.Succeed(ctx, options(r.docs)...)
	case "succeed request":
		return access.Succeed(ctx)
	case "fail job":
		return job.Fail(ctx, r.message)
	case "fail request":
		return access.Fail(ctx, r.message)
	case "hold job":
		return job.Hold(ctx, client.WithMessage(r.message))
	case "hold batch":
		return batch.Hold(ctx, r.message)
	case "move job":
		return job.MoveTo(ctx, newqueue.JobState(r.to))
	case "move batch":
		return batch.MoveTo(ctx, newqueue.BatchState(r.to))
	case "move request":
		return access.MoveTo(ctx, newqueue.AccessState(r.to), "")
	case "report batch":
		var err error
		a.report, err = batch.Report(ctx)
		answer.report = a.report
		return err
	case "finish batch":
		return batch.Finish(ctx, a.report)

	case "admin-move job":
		return a.q.MoveJob(ctx, id, newqueue.JobState(r.from), newqueue.JobState(r.to))
	case "admin-move batch":
		return a.q.MoveBatch(ctx, id, newqueue.BatchState(r.from), newqueue.BatchState(r.to))
	case "admin-move request":
		return a.q.MoveRequest(ctx, size, id, newqueue.AccessState(r.from), newqueue.AccessState(r.to))
	case "resume job":
		_, err := a.q.ResumeJob(ctx, id)
		return err
	case "give-up batch":
		return a.q.FailBatch(ctx, id, r.message)
	case "delete job":
		return answer.warned(a.q.DeleteJob(ctx, id))
	case "delete batch":
		return answer.warned(a.q.DeleteBatch(ctx, id))
	case "delete request":
		return a.q.DeleteRequest(ctx, size, id)
	case "set-priority job":
		return a.q.SetPriority(ctx, id, r.docs["priority"].(int))

	case "await-emptied batch":
		fired, err := a.q.ReportWhenEmptied(ctx, id)
		if fired {
			answer.fired++
		}
		return err
	case "clean jobs":
		return answer.named(a.q.CleanupJobs(ctx))
	case "clean batches":
		return answer.named(a.q.CleanupBatches(ctx))
	case "clean requests":
		return errors.Join(answer.named(a.q.CleanupRequests(ctx, newqueue.AccessSmall)),
			answer.named(a.q.CleanupRequests(ctx, newqueue.AccessLarge)))
	case "repair batches":
		return answer.named(a.q.RepairBatches(ctx))
	}
	return a.doLock(ctx, r, answer)
}

// doLock is do for the verbs of locks and holds.
func (a *actor) doLock(ctx context.Context, r request, answer *outcome) (err error) {
	lock, known := map[string]newqueue.Lock{
		"queue hold":      newqueue.QueueLock(newqueue.QueueHold(r.name)),
		"collection hold": newqueue.CollectionLock(r.name),
		"storage lock":    newqueue.StorageLock(r.name),
		"inventory lock":  newqueue.InventoryLock(r.name),
		"local id lock":   newqueue.LocalIDLock(r.name, r.owner),
	}[r.what]
	switch {
	case !known:
	case r.verb == "take-lock":
		return a.q.Lock(ctx, lock)
	case r.verb == "release-lock":
		return a.q.Unlock(ctx, lock)
	case r.verb == "lock-taken":
		answer.yes, err = a.q.IsLocked(ctx, lock)
		return err
	}
	return fmt.Errorf("the test can't %s %s %s: the worker has acquired %v", r.verb, r.what, r.item, a.has)
}

// passOver looks at every job in a state and moves those for which there is room.
func (a *actor) passOver(ctx context.Context, r request, answer *outcome) error {
	room := r.room
	for j, err := range a.q.AcquireJobs(ctx, newqueue.JobState(r.from)) {
		if err != nil {
			return err
		}
		answer.looked = append(answer.looked, j.ID)
		if j.SpaceNeeded > room {
			continue
		}
		room -= j.SpaceNeeded
		if err := j.Succeed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// options are the documents that a worker gives with a step.
func options(docs nodes) []client.JobOption {
	var opts []client.JobOption
	for name, doc := range docs {
		switch name {
		case "priority":
			opts = append(opts, client.WithPriority(doc.(int)))
		case "space_needed":
			opts = append(opts, client.WithSpaceNeeded(int64(doc.(int))))
		case "identifiers":
			opts = append(opts, client.WithIdentifiers(must(newqueue.ParseIdentifiers(encode(doc)))))
		case "inventory":
			opts = append(opts, client.WithInventory(must(newqueue.ParseInventory(encode(doc)))))
		case "store":
			opts = append(opts, client.WithStore(must(newqueue.ParseStore(encode(doc)))))
		}
	}
	return opts
}

// newJobs returns the jobs to create.
func (a *actor) newJobs(jobs []nodes) []client.NewJob {
	var all []client.NewJob
	for _, docs := range jobs {
		j := client.NewJob{
			Priority: docs["priority"].(int), SpaceNeeded: int64(docs["space_needed"].(int)),
			Configuration: must(newqueue.ParseConfiguration(a.q.Dialect(), encode(docs["configuration"]))),
			Identifiers:   must(newqueue.ParseIdentifiers(encode(docs["identifiers"]))),
		}
		if title, ok := docs["metadata"]; ok {
			j.Metadata = must(newqueue.ParseMetadata(encode(title)))
		}
		all = append(all, j)
	}
	return all
}

// must returns the value of a document that a step has written, which can always be read.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// kinds has the kinds of items, as scenarios call them, and the folders of each.
var kinds = []struct {
	noun    string
	folders []string
}{{"job", []string{"/jobs"}}, {"batch", []string{"/batches"}}, {"request", []string{"/access/small", "/access/large"}}}

// kindOf returns the kind of item that has a path, "" for none.
func kindOf(at string) string {
	for _, k := range kinds {
		if slices.Contains(k.folders, path.Dir(at)) {
			return k.noun
		}
	}
	return ""
}

// entityOf returns the entity that scenarios call by a noun, and nounOf that noun.
func entityOf(noun string) newqueue.Entity {
	return newqueue.Entity(strings.Replace(noun, "request", string(newqueue.EntityAccess), 1))
}

func nounOf(e newqueue.Entity) string {
	return strings.Replace(string(e), string(newqueue.EntityAccess), "request", 1)
}
