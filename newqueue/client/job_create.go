package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// DefaultPriority is the client library's priority for a new job.
const DefaultPriority = 5

// JobSpec says what job to create.
type JobSpec struct {
	// Priority is 1 to [newqueue.MaxPriority]. Workers acquire the lowest number first. 0 means
	// [DefaultPriority]; only [Queue.SetPriority] gives a job the priority 0.
	Priority      int
	Configuration newqueue.Configuration // its BatchID is filled in
	Identifiers   newqueue.Identifiers   // written unless both are empty
	Metadata      newqueue.Metadata      // written unless all are empty
	SpaceNeeded   int64                  // bytes; 0 is unknown
}

// jobOps are the operations that create one job: first its own nodes, then the
// entries that refer to it.
type jobOps struct{ nodes, entries []znode.Op }

func (q *Queue) decideNewJob(jid, bid string, n JobSpec, now time.Time) (ops jobOps, err error) {
	t := q.creation(states.Job)
	n.Configuration.BatchID = bid
	n.Priority = cmp.Or(n.Priority, DefaultPriority)
	if err := cmp.Or(n.Configuration.Validate(), checkPriority(n.Priority)); err != nil {
		return ops, err
	}
	if n.SpaceNeeded < 0 {
		return ops, fmt.Errorf("space_needed %d: %w", n.SpaceNeeded, newqueue.ErrValue)
	}
	status := nextJobStatus(q.machines[states.Job], t, newqueue.JobStatus{}, "", now)
	path := newqueue.JobPath(jid)
	ops.nodes = []znode.Op{znode.Create(path, empty)}
	for _, p := range []struct {
		name    string
		has     bool
		content newqueue.Object
	}{
		{"configuration", true, newqueue.ToObject(q.dialect, n.Configuration)}, // the first, which never changes, is the evidence of the write
		{"status", true, newqueue.ToObject(q.dialect, status)},
		{"identifiers", n.Identifiers.PrimaryID != "" || len(n.Identifiers.LocalIDs) > 0, newqueue.ToObject(q.dialect, n.Identifiers)},
		{"metadata", n.Metadata != newqueue.Metadata{}, newqueue.ToObject(q.dialect, n.Metadata)},
	} {
		data, err := p.content.Marshal()
		if err != nil {
			return ops, fmt.Errorf("%s: %w", p.name, err)
		}
		if p.has {
			ops.nodes = append(ops.nodes, znode.Create(path+"/"+p.name, data))
		}
	}
	ops.nodes = append(ops.nodes,
		znode.Create(path+"/bid", []byte(bid)),
		znode.Create(path+"/priority", newqueue.FormatNumber(int64(n.Priority))),
		znode.Create(path+"/space_needed", newqueue.FormatNumber(n.SpaceNeeded)))
	to := newqueue.JobState(t.To)
	ops.entries = append(entryOps(t.QueueEntry, "", newqueue.JobEntryPath(to, n.Priority, jid)), entryOps(t.BatchEntry, "", newqueue.BatchEntryPath(bid, to.Folder(), jid))...)
	return ops, nil
}

func (q *Queue) creation(e states.Entity) states.Transition {
	return q.machines[e].From(states.Created)[0]
}

// CreateJob adds one job to a batch that is processing (J1), and returns the
// job's id. Usually a batch gets all its jobs at once: see [Batch.Process].
// Errors: [ErrNotFound], *[StateError] with the guard [states.InProcessing] if the batch is in another state, or if
// its jobs are not made yet ([Batch.Process]), [newqueue.ErrPriority], [newqueue.ErrValue].
func (q *Queue) CreateJob(ctx context.Context, bid string, n JobSpec) (jid string, err error) {
	b := q.newBatch(bid)
	defer wrap("create a job in", b.path, &err)
	return q.withID(ctx, newqueue.JobsPath, newqueue.JobPrefix, func(jid string, next int32) error {
		if err := b.loadAll(ctx); err != nil {
			return err
		}
		// In dialect mrt-zk a batch may be processing and still wait for a worker to make its jobs.
		waits, err := b.waits(ctx, states.Pending)
		if err != nil {
			return err
		}
		if waits || b.Status.State != newqueue.BatchProcessing {
			return b.guardError("having another job", states.InProcessing)
		}
		ops, err := q.decideNewJob(jid, bid, n, q.clock())
		if err != nil {
			return err
		}
		return q.commit(ctx, write{
			ops:      slices.Concat([]znode.Op{znode.Check(b.path+"/status", b.version)}, ops.nodes, ops.entries),
			happened: q.created(newqueue.JobPath(jid), next, ops.nodes[1]),
		})
	})
}

func (q *Queue) withID(ctx context.Context, parent, prefix string, try func(id string, next int32) error) (id string, err error) {
	err = q.withIDs(ctx, parent, prefix, 1, func(ids []string, next int32) error {
		id = ids[0]
		return try(id, next)
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// withIDs calls try with the next n ids of a parent, again and again until no
// other client uses them first. ZooKeeper numbers sequential children with a
// counter that every create advances. So withIDs takes the ids from the parent's
// Stat, and try can create the whole entity in one transaction, under its final
// name. ZooKeeper's own numbers continue after them (docs/migration.md, "One job,
// one transaction"). next is that counter.
func (q *Queue) withIDs(ctx context.Context, parent, prefix string, n int, try func(ids []string, next int32) error) error {
	var from int32
	for races := 1; ; {
		next, left, err := q.sequence(ctx, parent)
		if err != nil {
			return err
		}
		if left < int64(n) {
			return &NodeError{parent, fmt.Errorf("its sequence numbers are running out: %d are left", left)}
		}
		from = max(from, next)
		ids := make([]string, n)
		for i := range ids {
			ids[i] = newqueue.SequenceID(prefix, from+int32(i))
		}
		err = try(ids, next)
		var r *znode.MultiError
		if errors.As(err, &r) && errors.Is(err, zk.ErrNodeExists) && znode.Parent(r.Op.Path) == parent {
			// Another client used that id first. The loop needs no bound because
			// each such failure means that another client succeeded. Its create
			// has advanced the counter. If the counter is wrong because the tree
			// was put together by hand, skip the id.
			if taken, ok := newqueue.ParseSequenceID(prefix, znode.Name(r.Op.Path)); ok {
				from = max(from, taken+1)
			}
			continue
		}
		if races == attempts || !isRace(err) {
			return named(err)
		}
		races++
	}
}

// sequence returns the number that ZooKeeper gives a znode's next sequential child, and how many are left. A missing znode
// counts from 0.
func (q *Queue) sequence(ctx context.Context, parent string) (next int32, left int64, err error) {
	stat, ok, err := q.stat(ctx, parent)
	if err != nil || !ok {
		stat = &zk.Stat{}
	}
	next, left = znode.Stat{Cversion: stat.Cversion, NumChildren: stat.NumChildren}.NextSequence()
	return next, left, err
}
