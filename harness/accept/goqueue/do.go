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

// item is a job, a batch or a request that an actor has acquired: see [client.Item].
type item interface {
	Path() string
	Unlock(context.Context) error
	Succeed(context.Context) error
	Fail(ctx context.Context, message string) error
	Hold(ctx context.Context, message string) error
	MoveTo(ctx context.Context, to, message string) error
}

func (a *actor) acquired(got item, answer *library.Answer) error {
	answer.Item = got.Path()
	a.items[answer.Item] = got
	return nil
}

func (a *actor) do(ctx context.Context, r library.Request, answer *library.Answer) (err error) {
	q, id, size := a.q, path.Base(r.Item), newqueue.AccessQueue(path.Base(path.Dir(r.Item)))
	switch r.Verb + " " + r.What {
	case "init queue":
		return q.Init(ctx)
	case "create batch":
		id, err = q.CreateBatch(ctx, must(newqueue.Parse[newqueue.Submission](q.Dialect(), encode(r.Docs["submission"]))))
		answer.IDs = []string{id}
		return err
	case "create request":
		id, err = q.CreateRequest(ctx, newqueue.AccessQueue(r.Name), must(newqueue.Parse[newqueue.Token](a.q.Dialect(), encode(r.Docs["token"]))))
		answer.IDs = []string{id}
		return err
	case "create job":
		id, err = q.CreateJob(ctx, id, a.newJobs(r.Jobs)[0])
		answer.IDs = []string{id}
		return err

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
		answer.IDs, err = q.CleanupJobs(ctx)
		return err
	case "clean batches":
		answer.IDs, err = q.CleanupBatches(ctx)
		return err
	case "clean requests":
		small, err := q.CleanupRequests(ctx, newqueue.AccessSmall)
		large, largeErr := q.CleanupRequests(ctx, newqueue.AccessLarge)
		answer.IDs = append(small, large...)
		return errors.Join(err, largeErr)
	case "repair batches":
		answer.IDs, err = q.RepairBatches(ctx)
		return err
	}
	if got := a.items[r.Item]; got != nil {
		return a.work(ctx, got, r, answer)
	}
	return a.doLock(ctx, r, answer)
}

func (a *actor) work(ctx context.Context, got item, r library.Request, answer *library.Answer) (err error) {
	job, _ := got.(*client.Job)
	batch, _ := got.(*client.Batch)
	if job != nil {
		a.change(job, r.Docs)
	}
	switch {
	case r.Verb == "unlock":
		return got.Unlock(ctx)
	case r.Verb == "succeed":
		return got.Succeed(ctx)
	case r.Verb == "fail":
		return got.Fail(ctx, r.Message)
	case r.Verb == "hold":
		return got.Hold(ctx, r.Message)
	case r.Verb == "move":
		return got.MoveTo(ctx, r.To, "")
	case r.Verb == "set" && job != nil:
		return job.Save(ctx)
	case r.Verb == "process" && batch != nil:
		answer.IDs, err = batch.Process(ctx, a.newJobs(r.Jobs)...)
		return err
	case r.Verb == "report" && batch != nil:
		report, err := batch.Report(ctx)
		a.reports[r.Item] = report
		answer.Report = &library.Report{NewlyCompleted: report.NewlyCompleted, NewlyFailed: report.NewlyFailed,
			StillFailed: report.Unresolved, Resumed: report.Unfinished, Changed: report.Changed()}
		return err
	case r.Verb == "finish" && batch != nil:
		return batch.Finish(ctx, a.reports[r.Item])
	}
	return unknown(r)
}

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

func unknown(r library.Request) error {
	return &library.Refusal{Kind: library.Other, Text: fmt.Sprintf("this session can't %s %s %s: it has not acquired that, or there is no such verb", r.Verb, r.What, r.Item)}
}

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

func (a *actor) change(j *client.Job, docs library.Docs) {
	for name, doc := range docs {
		switch name {
		case "priority":
			j.Priority = number(doc)
		case "space_needed":
			j.SpaceNeeded = int64(number(doc))
		case "identifiers":
			j.Identifiers = must(newqueue.Parse[newqueue.Identifiers](a.q.Dialect(), encode(doc)))
		case "inventory":
			j.Inventory = must(newqueue.Parse[newqueue.Inventory](a.q.Dialect(), encode(doc)))
		case "store":
			j.Store = must(newqueue.Parse[newqueue.Store](a.q.Dialect(), encode(doc)))
		}
	}
}

func (a *actor) newJobs(jobs []library.Docs) []client.JobSpec {
	var all []client.JobSpec
	for _, docs := range jobs {
		j := client.JobSpec{
			Priority: number(docs["priority"]), SpaceNeeded: int64(number(docs["space_needed"])),
			Configuration: must(newqueue.Parse[newqueue.Configuration](a.q.Dialect(), encode(docs["configuration"]))),
			Identifiers:   must(newqueue.Parse[newqueue.Identifiers](a.q.Dialect(), encode(docs["identifiers"]))),
		}
		if title, ok := docs["metadata"]; ok {
			j.Metadata = must(newqueue.Parse[newqueue.Metadata](a.q.Dialect(), encode(title)))
		}
		all = append(all, j)
	}
	return all
}

func number(v any) int {
	var n int
	if err := json.Unmarshal(encode(v), &n); err != nil {
		panic(err) // the scenarios write it
	}
	return n
}

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
