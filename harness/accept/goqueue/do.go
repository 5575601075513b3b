package goqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"mrtq/harness/accept/library"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// item is a job, a batch or a request that an actor has acquired.
type item interface {
	Path() string
	Unlock(context.Context) error
}

// acquired keeps what the actor has acquired.
func (a *actor) acquired(got item, answer *library.Answer) error {
	answer.Item = got.Path()
	a.items[answer.Item] = got
	return nil
}

// named stores the ids of what was created, or cleaned up.
func named(answer *library.Answer, ids []string, err error) error {
	answer.IDs = append(answer.IDs, ids...)
	return err
}

// one is named for a request that creates one item.
func one(answer *library.Answer, id string, err error) error {
	return named(answer, []string{id}, err)
}

// do calls the client.
func (a *actor) do(ctx context.Context, r library.Request, answer *library.Answer) (err error) {
	q, id, size := a.q, path.Base(r.Item), newqueue.AccessQueue(path.Base(path.Dir(r.Item)))
	switch r.Verb + " " + r.What {
	case "init queue":
		return q.Init(ctx)
	case "create batch":
		id, err := q.CreateBatch(ctx, must(newqueue.ParseSubmission(q.Dialect(), encode(r.Docs["submission"]))))
		return one(answer, id, err)
	case "create request":
		id, err := q.CreateRequest(ctx, newqueue.AccessQueue(r.Name), must(newqueue.ParseToken(encode(r.Docs["token"]))))
		return one(answer, id, err)
	case "create job":
		id, err := q.CreateJob(ctx, id, a.newJobs(r.Jobs)[0])
		return one(answer, id, err)

	case "acquire job":
		job, err := q.AcquireJob(ctx, newqueue.JobState(r.From))
		if err != nil {
			return err
		}
		answer.Profile, answer.Identifier = job.Configuration.ProfileName, job.Identifiers.PrimaryID
		return a.acquired(job, answer)
	case "acquire batch":
		batch, err := q.AcquireBatch(ctx, newqueue.BatchState(r.From))
		if err != nil {
			return err
		}
		answer.Profile = batch.Submission.ProfileName
		return a.acquired(batch, answer)
	case "acquire request":
		request, err := q.AcquireRequest(ctx, newqueue.AccessQueue(r.Name), newqueue.AccessState(r.From))
		if err != nil {
			return err
		}
		return a.acquired(request, answer)
	case "pass jobs":
		return a.passOver(ctx, r, answer)

	case "admin-move job":
		return q.MoveJob(ctx, id, newqueue.JobState(r.From), newqueue.JobState(r.To))
	case "admin-move batch":
		return q.MoveBatch(ctx, id, newqueue.BatchState(r.From), newqueue.BatchState(r.To))
	case "admin-move request":
		return q.MoveRequest(ctx, size, id, newqueue.AccessState(r.From), newqueue.AccessState(r.To))
	case "resume job":
		_, err := q.ResumeJob(ctx, id)
		return err
	case "give-up batch":
		return q.FailBatch(ctx, id, r.Message)
	case "delete job":
		answer.Warnings, err = q.DeleteJob(ctx, id)
		return err
	case "delete batch":
		answer.Warnings, err = q.DeleteBatch(ctx, id)
		return err
	case "delete request":
		return q.DeleteRequest(ctx, size, id)
	case "set-priority job":
		return q.SetPriority(ctx, id, number(r.Docs["priority"]))
	case "await-emptied batch":
		answer.Yes, err = q.ReportWhenEmptied(ctx, id)
		return err

	case "clean jobs":
		ids, err := q.CleanupJobs(ctx)
		return named(answer, ids, err)
	case "clean batches":
		ids, err := q.CleanupBatches(ctx)
		return named(answer, ids, err)
	case "clean requests":
		small, err := q.CleanupRequests(ctx, newqueue.AccessSmall)
		large, largeErr := q.CleanupRequests(ctx, newqueue.AccessLarge)
		return named(answer, append(small, large...), errors.Join(err, largeErr))
	case "repair batches":
		ids, err := q.RepairBatches(ctx)
		return named(answer, ids, err)
	}
	got, has := a.items[r.Item]
	if has && r.Verb == "unlock" {
		return got.Unlock(ctx)
	}
	switch got := got.(type) {
	case *client.Job:
		return a.doJob(ctx, got, r)
	case *client.Batch:
		return a.doBatch(ctx, got, r, answer)
	case *client.Request:
		return a.doRequest(ctx, got, r)
	}
	return a.doLock(ctx, r, answer)
}

// doJob does what a worker does with a job that it has acquired.
func (a *actor) doJob(ctx context.Context, job *client.Job, r library.Request) error {
	switch r.Verb {
	case "set":
		return job.Set(ctx, options(r.Docs)...)
	case "succeed":
		return job.Succeed(ctx, options(r.Docs)...)
	case "fail":
		return job.Fail(ctx, r.Message)
	case "hold":
		return job.Hold(ctx, client.WithMessage(r.Message))
	case "move":
		return job.MoveTo(ctx, newqueue.JobState(r.To))
	}
	return unknown(r)
}

// doBatch does what a worker does with a batch that it has acquired.
func (a *actor) doBatch(ctx context.Context, batch *client.Batch, r library.Request, answer *library.Answer) error {
	switch r.Verb {
	case "process":
		ids, err := batch.Process(ctx, a.newJobs(r.Jobs)...)
		return named(answer, ids, err)
	case "hold":
		return batch.Hold(ctx, r.Message)
	case "move":
		return batch.MoveTo(ctx, newqueue.BatchState(r.To))
	case "report":
		report, err := batch.Report(ctx)
		a.reports[r.Item] = report
		answer.Report = &library.Report{NewlyCompleted: report.NewlyCompleted, NewlyFailed: report.NewlyFailed,
			StillFailed: report.Unresolved, Resumed: report.Unfinished, Changed: report.Changed()}
		return err
	case "finish":
		return batch.Finish(ctx, a.reports[r.Item])
	}
	return unknown(r)
}

// doRequest does what a worker does with an access request that it has acquired.
func (a *actor) doRequest(ctx context.Context, request *client.Request, r library.Request) error {
	switch r.Verb {
	case "succeed":
		return request.Succeed(ctx)
	case "fail":
		return request.Fail(ctx, r.Message)
	case "move":
		return request.MoveTo(ctx, newqueue.AccessState(r.To), "")
	}
	return unknown(r)
}

// doLock does what anybody does with the locks below /locks.
func (a *actor) doLock(ctx context.Context, r library.Request, answer *library.Answer) (err error) {
	lock, known := map[string]newqueue.Lock{
		"queue hold":      newqueue.QueueLock(newqueue.QueueHold(r.Name)),
		"collection hold": newqueue.CollectionLock(r.Name),
		"storage lock":    newqueue.StorageLock(r.Name),
		"inventory lock":  newqueue.InventoryLock(r.Name),
		"local id lock":   newqueue.LocalIDLock(r.Name, r.Owner),
	}[r.What]
	switch {
	case !known:
	case r.Verb == "take-lock":
		return a.q.Lock(ctx, lock)
	case r.Verb == "release-lock":
		return a.q.Unlock(ctx, lock)
	case r.Verb == "lock-taken":
		answer.Yes, err = a.q.IsLocked(ctx, lock)
		return err
	}
	return unknown(r)
}

// unknown is the refusal of a request that makes no sense: a verb that there is not, or a worker's verb
// about an item that it has not acquired.
func unknown(r library.Request) error {
	return &library.Refusal{Kind: library.Other, Text: fmt.Sprintf("this session can't %s %s %s: it has not acquired that, or there is no such verb", r.Verb, r.What, r.Item)}
}

// passOver looks at every job in a state and moves those for which there is room.
func (a *actor) passOver(ctx context.Context, r library.Request, answer *library.Answer) error {
	room := r.Room
	for j, err := range a.q.AcquireJobs(ctx, newqueue.JobState(r.From)) {
		if err != nil {
			return err
		}
		answer.Looked = append(answer.Looked, j.ID)
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
func options(docs library.Docs) []client.JobOption {
	var opts []client.JobOption
	for name, doc := range docs {
		switch name {
		case "priority":
			opts = append(opts, client.WithPriority(number(doc)))
		case "space_needed":
			opts = append(opts, client.WithSpaceNeeded(int64(number(doc))))
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
func (a *actor) newJobs(jobs []library.Docs) []client.NewJob {
	var all []client.NewJob
	for _, docs := range jobs {
		j := client.NewJob{
			Priority: number(docs["priority"]), SpaceNeeded: int64(number(docs["space_needed"])),
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

// number is a number of a request, which may have come as JSON.
func number(v any) int {
	var n int
	if err := json.Unmarshal(encode(v), &n); err != nil {
		panic(err) // the scenarios write it
	}
	return n
}

// encode is a document as its znode holds it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and lists of strings can always be written
	}
	return b
}

// must returns the value of a document that a scenario has written, which can always be read.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
