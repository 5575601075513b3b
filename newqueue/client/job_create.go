package client

import (
	"bytes"
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

// NewJob says what job to create.
type NewJob struct {
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

// decideNewJob turns J1 into operations.
func (q *Queue) decideNewJob(jid, bid string, n NewJob, now time.Time) (ops jobOps, err error) {
	t := q.creation(newqueue.EntityJob)
	n.Configuration.BatchID = bid
	n.Priority = cmp.Or(n.Priority, DefaultPriority)
	if err := cmp.Or(n.Configuration.Validate(), checkPriority(n.Priority)); err != nil {
		return ops, err
	}
	if n.SpaceNeeded < 0 {
		return ops, fmt.Errorf("space_needed %d: %w", n.SpaceNeeded, newqueue.ErrValue)
	}
	status := nextJobStatus(q.machines[newqueue.EntityJob], t, newqueue.JobStatus{}, "", now)
	path := newqueue.JobPath(jid)
	ops.nodes = []znode.Op{
		znode.Create(path, empty),
		znode.Create(path+"/bid", []byte(bid)),
		znode.Create(path+"/priority", newqueue.Number(int64(n.Priority))),
		znode.Create(path+"/space_needed", newqueue.Number(n.SpaceNeeded)),
	}
	for _, p := range []struct {
		name    string
		has     bool
		content newqueue.Object
	}{
		{"configuration", true, n.Configuration.Object(q.dialect)},
		{"status", true, status.Object(q.dialect)},
		{"identifiers", n.Identifiers.PrimaryID != "" || len(n.Identifiers.LocalIDs) > 0, n.Identifiers.Object()},
		{"metadata", n.Metadata != newqueue.Metadata{}, n.Metadata.Object()},
	} {
		data, err := p.content.Marshal()
		if err != nil {
			return ops, fmt.Errorf("%s: %w", p.name, err)
		}
		if p.has {
			ops.nodes = append(ops.nodes, znode.Create(path+"/"+p.name, data))
		}
	}
	to := newqueue.JobState(t.To)
	ops.entries = append(entryOps(t.QueueEntry, "", newqueue.JobEntryPath(to, n.Priority, jid)), entryOps(t.BatchEntry, "", newqueue.BatchEntryPath(bid, to.Folder(), jid))...)
	return ops, nil
}

// creation is the transition that creates an entity.
func (q *Queue) creation(e newqueue.Entity) states.Transition {
	t, _ := q.machines[e].Creation()
	return t
}

// CreateJob adds one job to a batch that is processing (J1), and returns the
// job's id. Usually a batch gets all its jobs at once: see [Batch.Process].
// Errors: [ErrNotFound], [ErrNotProcessing] if the batch is in another state,
// [newqueue.ErrPriority], [newqueue.ErrValue], [ErrTooLarge].
func (q *Queue) CreateJob(ctx context.Context, bid string, n NewJob) (string, error) {
	var jid string
	err := q.withIDs(ctx, newqueue.JobsPath, newqueue.JobPrefix, 1, func(ids []string) error {
		jid = ids[0]
		b, err := q.Batch(ctx, bid)
		if err != nil {
			return err
		}
		if b.Status.State != newqueue.BatchProcessing {
			return fmt.Errorf("batch %s is %s: %w", bid, b.Status.State, ErrNotProcessing)
		}
		ops, err := q.decideNewJob(jid, bid, n, q.clock())
		if err != nil {
			return err
		}
		return q.commit(ctx, write{
			ops:      slices.Concat([]znode.Op{znode.Check(b.path+"/status", b.version)}, ops.nodes, ops.entries),
			happened: q.created(ops.nodes),
		})
	})
	if err != nil {
		return "", &opError{"create a job in", newqueue.BatchPath(bid), err}
	}
	return jid, nil
}

// created is evidence of a write that created an entity's nodes. It did if they
// exist and hold what it wrote. Nodes that workers have changed since show
// nothing, but an entity also has nodes that never change. (The answer is wrong
// only if another client created an entity with the same number and content.)
func (q *Queue) created(ops []znode.Op) evidence {
	return func(ctx context.Context) (bool, error) {
		for _, op := range ops {
			n, ok, err := q.maybe(ctx, op.Path)
			switch {
			case err != nil:
				return false, err
			case !ok:
				return false, q.neverMade(ctx, op.Path)
			case n.version == 0 && !bytes.Equal(n.data, op.Data):
				return false, nil
			}
		}
		return true, nil
	}
}

// neverMade returns [ErrUnknownOutcome] unless it is certain that an entity with
// this number was never created. If it was created and removed since, the
// parent's counter is past the number.
func (q *Queue) neverMade(ctx context.Context, path string) error {
	for _, prefix := range []string{newqueue.BatchPrefix, newqueue.JobPrefix, newqueue.AccessPrefix} {
		n, ok := newqueue.ParseSequenceID(prefix, znode.Name(path))
		if !ok {
			continue
		}
		stat, there, err := q.stat(ctx, znode.Parent(path))
		if err != nil || !there {
			return err
		}
		if next, _ := (znode.Stat{Cversion: stat.Cversion, NumChildren: stat.NumChildren}).NextSequence(); next > n {
			return ErrUnknownOutcome
		}
	}
	return nil
}

// withIDs calls try with the next n ids of a parent, again and again until no
// other client uses them first. ZooKeeper numbers sequential children with a
// counter that every create advances. So withIDs takes the ids from the parent's
// Stat, and try can create the whole entity in one transaction, under its final
// name. ZooKeeper's own numbers continue after them (docs/migration.md, "One job,
// one transaction").
func (q *Queue) withIDs(ctx context.Context, parent, prefix string, n int, try func(ids []string) error) error {
	var next int32
	var none entity
	for races := 1; ; {
		stat, ok, err := q.stat(ctx, parent)
		if err != nil {
			return err
		}
		if ok {
			seq, left := znode.Stat{Cversion: stat.Cversion, NumChildren: stat.NumChildren}.NextSequence()
			if left < int64(n) {
				return &NodeError{parent, fmt.Errorf("its sequence numbers are running out: %d are left", left)}
			}
			next = max(next, seq)
		}
		ids := make([]string, n)
		for i := range ids {
			ids[i] = newqueue.SequenceID(prefix, next+int32(i))
		}
		err = try(ids)
		var r *znode.MultiError
		if errors.As(err, &r) && errors.Is(err, zk.ErrNodeExists) && znode.Parent(r.Op.Path) == parent {
			// Another client used that id first. The loop needs no bound because
			// each such failure means that another client succeeded. Its create
			// has advanced the counter. If the counter is wrong because the tree
			// was put together by hand, skip the id.
			if taken, ok := newqueue.ParseSequenceID(prefix, znode.Name(r.Op.Path)); ok {
				next = max(next, taken+1)
			}
			continue
		}
		again, err := none.refused(false, err, races)
		if !again {
			return err
		}
		races++
	}
}
