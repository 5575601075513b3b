package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// fixture is a queue with something for each operation.
type fixture struct {
	d                       newqueue.Dialect
	jobs, batches, requests map[string]string // ids by state
	tree                    *minizk.Tree
}

func (f *fixture) parent(id string) string {
	switch id[:3] {
	case newqueue.BatchPrefix:
		return newqueue.BatchesPath
	case newqueue.JobPrefix:
		return newqueue.JobsPath
	}
	return newqueue.AccessQueuePath(newqueue.AccessSmall)
}

func explored(t *testing.T, d newqueue.Dialect) *fixture {
	server := minizk.Run(t)
	conn, _ := connect(t, server.Addr())
	q := client.Open(conn, d, clock())
	must(t, q.Init(ctx))
	f := &fixture{d: d, jobs: map[string]string{}, batches: map[string]string{}, requests: map[string]string{}}
	processed := func(name string, jobs ...client.JobSpec) []string {
		f.batches[name] = value(q.CreateBatch(ctx, newqueue.Submission{BatchID: name}))(t)
		return value(value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx, jobs...))(t)
	}
	spec := client.JobSpec{Configuration: newqueue.Configuration{PayloadURL: "http://example.org/"}}
	reported := func(name string, s newqueue.JobState) {
		drive(t, q, processed(name, spec)[0], s)
		must(t, q.MoveBatch(ctx, f.batches[name], newqueue.BatchProcessing, newqueue.BatchReporting))
	}
	reported("completed", newqueue.JobCompleted)
	report(t, q, newqueue.BatchReporting)
	reported("failed", newqueue.JobFailed)
	report(t, q, newqueue.BatchReporting)
	reported("reporting", newqueue.JobCompleted)
	drive(t, q, processed("emptied", spec)[0], newqueue.JobCompleted)
	value(q.CleanupJobs(ctx))(t)
	for _, name := range []string{"held", "repair"} {
		f.batches[name] = value(q.CreateBatch(ctx, newqueue.Submission{BatchID: name}))(t)
		holdBatch(t, q, f.batches[name])
	}
	processed("processing")
	for _, s := range []newqueue.JobState{newqueue.JobFailed, newqueue.JobHeld, newqueue.JobCompleted, newqueue.JobPending} {
		jid := value(q.CreateJob(ctx, f.batches["processing"], spec))(t)
		f.jobs[string(s)] = jid
		if s != newqueue.JobPending {
			drive(t, q, jid, s)
		}
	}
	if d == newqueue.MrtZK { // what J23 removes
		jid := value(q.CreateJob(ctx, f.batches["processing"], client.JobSpec{Priority: 1}))(t)
		drive(t, q, jid, newqueue.JobFailed)
		value(q.DeleteJob(ctx, jid))(t)
	}
	f.batches["pending"] = value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "pending"}))(t)
	for _, s := range []string{states.Completed, states.Failed, states.Processing, states.Pending} {
		f.requests[s] = value(q.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{Token: s}))(t)
		if s == states.Pending {
			continue
		}
		must(t, value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t).Succeed(ctx))
		a := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessProcessing))(t)
		must(t, map[string]func() error{
			states.Completed: func() error { return a.Succeed(ctx) }, states.Failed: func() error { return a.Fail(ctx, "") }, states.Processing: func() error { return a.Unlock(ctx) },
		}[s]())
	}
	folders := []string{newqueue.BatchStatesPath(f.batches["repair"]), newqueue.LocksPath, newqueue.QueueLocksPath, newqueue.CollectionLocksPath,
		newqueue.StorageLocksPath, newqueue.InventoryLocksPath, d.LocalIDLocksPath()}
	for _, s := range states.States(states.Job, string(d)) {
		folders = append(folders, newqueue.JobStatePath(newqueue.JobState(s)))
	}
	for _, b := range newqueue.BatchFolders { // so that each write is one attempt
		folders = append(folders, newqueue.BatchFolderPath(f.batches["processing"], b))
	}
	for _, path := range folders {
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
			t.Fatal(path, err)
		}
	}
	f.tree = server.Snapshot()
	return f
}

func (p *party) made(parent string) string {
	for _, name := range p.server.Snapshot().Children(parent) {
		if p.tree.Get(parent+"/"+name) == nil {
			return name
		}
	}
	return "none"
}

func (p *party) purge(id string) {
	tree := p.server.Snapshot()
	for _, path := range slices.Backward(tree.Paths("/")) {
		if strings.Contains(path, "/"+id) || strings.HasSuffix(path, "-"+id) || string(tree.Get(path).Data) == id && strings.HasPrefix(path, newqueue.BatchUUIDsPath) {
			_, _ = p.conn.Multi(&zk.DeleteRequest{Path: path, Version: -1})
		}
	}
}

// tools are what the deployed admin tool does to what anyone works on, and what Process does to each job (docs/deployed-services.md).
var tools = []string{"holds", "holds and releases", "deletes", "rewrites"}

func (p *party) tool(path, does string) {
	tree, id := p.server.Snapshot(), znode.Name(path)
	switch status := tree.Get(path + "/status"); {
	case status == nil:
	case does == "deletes":
		p.purge(id)
		delete(p.kept, path+"/lock")
	case does == "rewrites":
		_, _ = p.conn.Multi(&zk.SetDataRequest{Path: path + "/configuration", Data: []byte(`{"objectID":"ark:/1"}`), Version: -1})
	default:
		set := func(data string) any {
			return &zk.SetDataRequest{Path: path + "/status", Data: []byte(data), Version: -1}
		}
		ops := []any{set(`{"status":"Held","last_modified":"2024-03-01 12:00:00 -0800","message":"","retry_count":0}`)}
		if does == "holds and releases" {
			ops = append(ops, set(string(status.Data)))
		}
		for _, entry := range tree.Paths(newqueue.JobStatesPath) {
			if does == "holds" && strings.HasSuffix(entry, "-"+id) {
				ops = append(ops, &zk.DeleteRequest{Path: entry, Version: -1}, &zk.CreateRequest{Path: newqueue.JobEntryPath(newqueue.JobHeld, client.DefaultPriority, id), Acl: zk.WorldACL(zk.PermAll)})
			}
		}
		_, _ = p.conn.Multi(ops...)
	}
}

// relock takes a lock as a deployed worker does.
func (p *party) relock(path string) {
	path += "/lock"
	if _, err := p.conn.Multi(&zk.CreateRequest{Path: path, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}); err == nil {
		p.has(path)
	}
}

func (p *party) with(jid string, do func(*client.Job) error) {
	j, err := p.q.Job(ctx, jid)
	if err != nil {
		return
	}
	for j, err := range p.q.AcquireJobs(ctx, j.Status.State) {
		if err == nil && j.ID == jid {
			_ = do(j)
			return
		}
	}
}

func (p *party) withRequest(qid string, s newqueue.AccessState, do func(*client.Request) error) {
	for {
		a, err := p.q.AcquireRequest(ctx, newqueue.AccessSmall, s)
		if err != nil {
			return
		}
		if a.ID == qid {
			_ = do(a)
			return
		}
	}
}

func (p *party) withBatch(bid string, s newqueue.BatchState, do func(*client.Batch) error) {
	for {
		b, err := p.q.AcquireBatch(ctx, s)
		if err != nil {
			return
		}
		if b.ID == bid {
			_ = do(b)
			return
		}
	}
}

func succeed(j *client.Job) error { return j.Succeed(ctx) }

func operations(f *fixture) []operation {
	type ready = func(*party) (func() ([]string, error), error)
	do := func(f func(*party) error) ready {
		return func(p *party) (func() ([]string, error), error) {
			return func() ([]string, error) { return nil, f(p) }, nil
		}
	}
	create := func(f func(*party) (string, error)) ready {
		return func(p *party) (func() ([]string, error), error) {
			return func() ([]string, error) {
				id, err := f(p)
				if err != nil {
					return nil, err
				}
				return []string{id}, nil
			}, nil
		}
	}
	some := func(f func(*party) ([]string, error)) ready { // a pass that says to what it did something
		return do(func(p *party) error {
			ids, err := f(p)
			if err == nil && len(ids) == 0 {
				return errNothing
			}
			return err
		})
	}
	small, failed, held := newqueue.AccessSmall, f.jobs[states.Failed], f.jobs[states.Held]
	pending, processing, request := f.jobs[states.Pending], f.batches[states.Processing], f.requests[states.Pending]
	all := []operation{
		{name: "Init", again: true, ready: do(func(p *party) error {
			return client.Open(p.conn, p.d, client.WithRoot("/other")).Init(ctx)
		})},
		{name: "CreateBatch", ready: create(func(p *party) (string, error) {
			return p.q.CreateBatch(ctx, newqueue.Submission{ProfileName: "new"})
		}), undo: func(p *party) { p.purge(p.made(newqueue.BatchesPath)) }, on: func(p *party) {
			p.withBatch(p.made(newqueue.BatchesPath), newqueue.BatchPending, func(b *client.Batch) error { _, err := b.Process(ctx); return err })
		}},
		{name: "CreateBatch with a BatchID", ready: create(func(p *party) (string, error) {
			return p.q.CreateBatch(ctx, newqueue.Submission{BatchID: "new"})
		}), undo: func(p *party) { p.purge(p.made(newqueue.BatchesPath)) }, on: func(p *party) {
			p.withBatch(p.made(newqueue.BatchesPath), newqueue.BatchPending, func(b *client.Batch) error { _, err := b.Process(ctx); return err })
		}},
		{name: "CreateJob", ready: create(func(p *party) (string, error) {
			return p.q.CreateJob(ctx, processing, client.JobSpec{Priority: 1})
		}), item: func(p *party) string { return newqueue.JobPath(p.made(newqueue.JobsPath)) }, undo: func(p *party) { p.purge(p.made(newqueue.JobsPath)) }, on: func(p *party) { p.with(p.made(newqueue.JobsPath), succeed) }},
		{name: "CreateRequest", ready: create(func(p *party) (string, error) {
			return p.q.CreateRequest(ctx, small, newqueue.Token{Token: "new"})
		}), undo: func(p *party) { p.purge(p.made(newqueue.AccessQueuePath(small))) }, on: func(p *party) {
			p.withRequest(p.made(newqueue.AccessQueuePath(small)), newqueue.AccessPending, func(a *client.Request) error { return a.Succeed(ctx) })
		}},

		{name: "MoveJob", ready: do(func(p *party) error { return p.q.MoveJob(ctx, held, newqueue.JobHeld, newqueue.JobPending) }),
			undo: func(p *party) { p.with(held, func(j *client.Job) error { return j.Hold(ctx, "") }) }, on: func(p *party) { p.with(held, succeed) }},
		{name: "ResumeJob", ready: do(func(p *party) error { return errorOf(p.q.ResumeJob(ctx, failed)) }),
			undo: func(p *party) { p.with(failed, func(j *client.Job) error { return j.Fail(ctx, "404") }) }, on: func(p *party) { p.with(failed, succeed) }},
		{name: "DeleteJob", ready: do(func(p *party) error { return errorOf(p.q.DeleteJob(ctx, failed)) }), on: func(p *party) { _, _ = p.q.CleanupJobs(ctx) }},
		{name: "SetPriority", again: true, ready: do(func(p *party) error { return p.q.SetPriority(ctx, pending, 1) }),
			undo: func(p *party) { _ = p.q.SetPriority(ctx, pending, client.DefaultPriority) }, on: func(p *party) { p.with(pending, succeed) }},
		{name: "MoveBatch", ready: do(func(p *party) error {
			return p.q.MoveBatch(ctx, f.batches["held"], newqueue.BatchHeld, newqueue.BatchPending)
		}), undo: func(p *party) {
			if p.d == newqueue.MrtZK {
				_ = p.q.MoveBatch(ctx, f.batches["held"], newqueue.BatchPending, newqueue.BatchHeld)
				return
			}
			p.withBatch(f.batches["held"], newqueue.BatchPending, func(b *client.Batch) error { return b.Hold(ctx, "") })
		}, on: func(p *party) {
			p.withBatch(f.batches["held"], newqueue.BatchPending, func(b *client.Batch) error { _, err := b.Process(ctx); return err })
		}},
		{name: "ReportWhenEmptied", ready: do(func(p *party) error {
			if fired, err := p.q.ReportWhenEmptied(ctx, f.batches["emptied"]); err != nil || fired {
				return err
			}
			return errNothing
		}), on: func(p *party) {
			p.withBatch(f.batches["emptied"], newqueue.BatchReporting, func(b *client.Batch) error { return b.MoveTo(ctx, states.Completed, "") })
		}},
		{name: "FailBatch", only: newqueue.MrtZK, ready: do(func(p *party) error { return p.q.FailBatch(ctx, f.batches["emptied"], "why") }), on: func(p *party) {
			_ = p.q.MoveBatch(ctx, f.batches["emptied"], newqueue.BatchFailed, newqueue.BatchUpdateReporting)
		}},
		{name: "DeleteBatch", ready: do(func(p *party) error { return errorOf(p.q.DeleteBatch(ctx, f.batches["failed"])) })},
		{name: "MoveRequest", ready: do(func(p *party) error {
			return p.q.MoveRequest(ctx, small, f.requests[states.Failed], newqueue.AccessFailed, newqueue.AccessProcessing)
		}), undo: func(p *party) {
			p.withRequest(f.requests[states.Failed], newqueue.AccessProcessing, func(a *client.Request) error { return a.Fail(ctx, "") })
		}, on: func(p *party) {
			p.withRequest(f.requests[states.Failed], newqueue.AccessProcessing, func(a *client.Request) error { return a.Succeed(ctx) })
		}},
		{name: "DeleteRequest", ready: do(func(p *party) error { return p.q.DeleteRequest(ctx, small, f.requests[states.Failed]) })},

		{name: "CleanupJobs", ready: some(func(p *party) ([]string, error) { return p.q.CleanupJobs(ctx) })},
		{name: "CleanupBatches", ready: some(func(p *party) ([]string, error) { return p.q.CleanupBatches(ctx) })},
		{name: "CleanupRequests", ready: some(func(p *party) ([]string, error) { return p.q.CleanupRequests(ctx, small) })},
		{name: "RepairBatches", ready: some(func(p *party) ([]string, error) { return p.q.RepairBatches(ctx) }), undo: func(p *party) {
			p.relock(newqueue.BatchPath(f.batches["repair"]))
		}, on: func(p *party) {
			_ = p.q.MoveBatch(ctx, f.batches["repair"], newqueue.BatchHeld, newqueue.BatchPending)
		}},
	}

	at := func(path string) func(*party) string { return func(*party) string { return path } }

	// What acquires something.
	type item interface {
		Path() string
		Unlock(context.Context) error
		Succeed(context.Context) error
	}
	for name, acquire := range map[string]func(p *party) (item, error){
		"AcquireJob":           func(p *party) (item, error) { return p.q.AcquireJob(ctx, newqueue.JobPending) },
		"AcquireBatch":         func(p *party) (item, error) { return p.q.AcquireBatch(ctx, newqueue.BatchReporting) },
		"AcquireBatch pending": func(p *party) (item, error) { return p.q.AcquireBatch(ctx, newqueue.BatchPending) },
		"AcquireRequest":       func(p *party) (item, error) { return p.q.AcquireRequest(ctx, small, newqueue.AccessPending) },
	} {
		all = append(all, operation{name: name, locks: true, item: map[string]func(*party) string{"AcquireJob": at(newqueue.JobPath(pending))}[name], ready: do(func(p *party) error {
			i, err := acquire(p)
			if err == nil {
				p.has(i.Path() + "/lock")
			}
			return err
		}), undo: func(p *party) {
			if i, err := acquire(p); err == nil {
				_ = i.Unlock(ctx)
			}
		}, on: func(p *party) {
			if i, err := acquire(p); err == nil {
				_ = i.Succeed(ctx)
			}
		}})
	}

	// What a worker does.
	job := func(name string, f func(*client.Job) error) operation {
		return operation{name: name, worker: true, ready: func(p *party) (func() ([]string, error), error) {
			j, err := p.q.AcquireJob(ctx, newqueue.JobPending)
			return func() ([]string, error) { return nil, f(j) }, err
		}, item: at(newqueue.JobPath(pending)), undo: func(p *party) { p.relock(newqueue.JobPath(pending)) }, on: func(p *party) { p.with(pending, succeed) }}
	}
	req := func(name string, f func(*client.Request) error) operation {
		return operation{name: name, worker: true, ready: func(p *party) (func() ([]string, error), error) {
			a, err := p.q.AcquireRequest(ctx, small, newqueue.AccessPending)
			return func() ([]string, error) { return nil, f(a) }, err
		}, item: at(newqueue.AccessRequestPath(small, request)), undo: func(p *party) { p.relock(newqueue.AccessRequestPath(small, request)) }, on: func(p *party) {
			p.withRequest(request, newqueue.AccessProcessing, func(a *client.Request) error { return a.Succeed(ctx) })
		}}
	}
	batch := func(name string, s newqueue.BatchState, bid string, f func(*client.Batch) ([]string, error), on func(*party)) operation {
		return operation{name: name, worker: true, ready: func(p *party) (func() ([]string, error), error) {
			b, err := p.q.AcquireBatch(ctx, s)
			return func() ([]string, error) { return f(b) }, err
		}, item: at(newqueue.BatchPath(bid)), undo: func(p *party) { p.relock(newqueue.BatchPath(bid)) }, on: on}
	}
	process := func(name string, jobs ...client.JobSpec) operation {
		return batch(name, newqueue.BatchPending, f.batches["pending"], func(b *client.Batch) ([]string, error) { return b.Process(ctx, jobs...) },
			func(p *party) { p.with(p.made(newqueue.JobsPath), succeed) })
	}
	large := slices.Repeat([]client.JobSpec{{Configuration: newqueue.Configuration{PayloadURL: strings.Repeat("x", 50_000)}}}, 21)
	all = append(all,
		job("Job.Succeed", succeed), job("Job.Fail", func(j *client.Job) error { return j.Fail(ctx, "why") }),
		job("Job.Hold", func(j *client.Job) error { return j.Hold(ctx, "") }), job("Job.Unlock", func(j *client.Job) error { return j.Unlock(ctx) }),
		job("Job.MoveTo", func(j *client.Job) error { return j.MoveTo(ctx, states.Estimating, "") }),
		job("Job.Save", func(j *client.Job) error { j.SpaceNeeded, j.Identifiers.PrimaryID = 1, "ark:/1"; return j.Save(ctx) }),
		req("Request.Succeed", func(a *client.Request) error { return a.Succeed(ctx) }), req("Request.Unlock", func(a *client.Request) error { return a.Unlock(ctx) }),
		process("Batch.Process"), process("Batch.Process with jobs", client.JobSpec{}, client.JobSpec{}), process("Batch.Process with large jobs", large...),
		batch("Batch.Unlock", newqueue.BatchPending, f.batches["pending"], func(b *client.Batch) ([]string, error) { return nil, b.Unlock(ctx) }, nil),
		batch("Batch.Finish", newqueue.BatchReporting, f.batches["reporting"], func(b *client.Batch) ([]string, error) {
			r, err := b.Report(ctx)
			if err != nil {
				return nil, err
			}
			return nil, b.Finish(ctx, r)
		}, func(p *party) { _, _ = p.q.CleanupBatches(ctx) }),
	)

	// The locks.
	for _, l := range []newqueue.Lock{newqueue.QueueLock(newqueue.HoldIngest), newqueue.CollectionLock("c"), newqueue.StorageLock("ark:/1"), newqueue.InventoryLock("ark:/1"), newqueue.LocalIDLock("x", "ark:/1")} {
		ephemeral, path := l.Ephemeral(f.d), l.Path(f.d)
		lock := func(p *party) error {
			err := p.q.Lock(ctx, l)
			if err == nil && ephemeral {
				p.has(path)
			}
			return err
		}
		unlock := func(p *party) error { delete(p.kept, path); return p.q.Unlock(ctx, l) }
		keep := func(p *party) { // takes it, or takes it over
			if p.q.Unlock(ctx, l); p.q.Lock(ctx, l) == nil {
				p.has(path)
			}
		}
		all = append(all, operation{name: "Lock " + l.String(), locks: ephemeral, ready: do(lock), undo: func(p *party) { _ = unlock(p) }, on: keep},
			operation{name: "Unlock " + l.String(), worker: ephemeral, ready: func(p *party) (func() ([]string, error), error) {
				err := p.q.Lock(ctx, l)
				if !ephemeral && errors.Is(err, client.ErrLocked) {
					err = nil
				}
				return func() ([]string, error) { return nil, unlock(p) }, err
			}, undo: func(p *party) {
				if p.q.Lock(ctx, l) == nil {
					p.has(path)
				}
			}, on: keep})
	}
	return all
}
