package newqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// DefaultPriority is the client library's priority for a new job.
const DefaultPriority = 5

// NewJob says what job to create.
type NewJob struct {
	// Priority is 0 to [MaxPriority]. Workers acquire the lowest number first, so
	// the zero value is the most urgent. See [DefaultPriority].
	Priority      int
	Configuration Configuration // its BatchID is filled in
	Identifiers   Identifiers   // written unless both are empty
	Metadata      Metadata      // written unless all are empty
	SpaceNeeded   int64         // bytes; 0 is unknown
}

// jobOps are the operations that create one job: first its own nodes, then the
// entries that refer to it.
type jobOps struct{ nodes, places []znode.Op }

// decideNewJob turns J1 into operations.
func decideNewJob(t states.Transition, jid, bid string, n NewJob, d Dialect, q *Queue) (jobOps, error) {
	n.Configuration.BatchID = bid
	if err := n.Configuration.validate(); err != nil {
		return jobOps{}, err
	}
	priority, err := checkedPriority(n.Priority)
	if err != nil {
		return jobOps{}, err
	}
	if n.SpaceNeeded < 0 {
		return jobOps{}, fmt.Errorf("space_needed %d: %w", n.SpaceNeeded, ErrValue)
	}
	status := nextJobStatus(t, JobStatus{}, "", d, q.now().Round(0))
	path := JobPath(jid)
	ops := jobOps{nodes: []znode.Op{
		znode.Create(path, empty),
		znode.Create(path+"/bid", []byte(bid)),
		znode.Create(path+"/priority", Number(int64(priority))),
		znode.Create(path+"/space_needed", Number(n.SpaceNeeded)),
	}}
	type property struct {
		name    string
		content Object
	}
	props := []property{{"configuration", n.Configuration.Object(d)}, {"status", status.Object(d)}}
	if n.Identifiers.PrimaryID != "" || len(n.Identifiers.LocalIDs) > 0 {
		props = append(props, property{"identifiers", n.Identifiers.Object()})
	}
	if n.Metadata != (Metadata{}) {
		props = append(props, property{"metadata", n.Metadata.Object()})
	}
	for _, p := range props {
		data, err := p.content.Marshal()
		if err != nil {
			return jobOps{}, fmt.Errorf("%s: %w", p.name, err)
		}
		ops.nodes = append(ops.nodes, znode.Create(path+"/"+p.name, data))
	}
	if t.QueueEntry == states.PlaceNew {
		ops.places = append(ops.places, znode.Create(JobEntryPath(JobState(t.To), priority, jid), empty))
	}
	if t.BatchEntry == states.PlaceNew {
		ops.places = append(ops.places, znode.Create(BatchEntryPath(bid, JobState(t.To).Folder(), jid), empty))
	}
	return ops, nil
}

// creation is the transition that creates an entity.
func (q *Queue) creation(e Entity) (states.Transition, error) {
	t, ok := q.machines[e].Creation()
	if !ok {
		return t, &StateError{Entity: e, From: states.Created, To: states.Pending}
	}
	return t, nil
}

// CreateJob adds one job to a batch that is processing (J1), and returns the
// job's id. Usually a batch gets all its jobs at once: see [Batch.Process].
// Errors: [ErrNotFound], [ErrNotProcessing] if the batch is in another state,
// [ErrPriority], [ErrValue], [ErrTooLarge].
func (q *Queue) CreateJob(ctx context.Context, bid string, n NewJob) (string, error) {
	var jid string
	t, err := q.creation(EntityJob)
	if err == nil {
		err = q.withIDs(ctx, JobsPath, JobPrefix, 1, func(ids []string) error {
			jid = ids[0]
			b, err := q.Batch(ctx, bid)
			if err != nil {
				return err
			}
			if b.Status.State != BatchProcessing {
				return fmt.Errorf("batch %s is %s: %w", bid, b.Status.State, ErrNotProcessing)
			}
			ops, err := decideNewJob(t, jid, bid, n, q.dialect, q)
			if err != nil {
				return err
			}
			return q.commit(ctx, write{
				ops:  append(append([]znode.Op{znode.Check(b.Path()+"/status", b.version)}, ops.nodes...), ops.places...),
				done: q.created(ops.nodes),
			})
		})
	}
	if err != nil {
		return "", &opError{"create a job in", BatchPath(bid), err}
	}
	return jid, nil
}

// created finds out whether this write created an entity's nodes. It did if they
// exist and hold what it wrote. Nodes that workers have changed since show
// nothing, but an entity also has nodes that never change. (The answer is wrong
// only if another client created an entity with the same number and content.)
func (q *Queue) created(ops []znode.Op) func(context.Context) (bool, error) {
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
	for _, prefix := range []string{BatchPrefix, JobPrefix, AccessPrefix} {
		n, ok := ParseSequenceID(prefix, znode.Name(path))
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
	m := move{path: parent}
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
			ids[i] = SequenceID(prefix, next+int32(i))
		}
		err = try(ids)
		var r *znode.MultiError
		if errors.As(err, &r) && errors.Is(err, znode.ErrNodeExists) && znode.Parent(r.Op.Path) == parent {
			// Another client used that id first. The loop needs no bound because
			// each such failure means that another client succeeded. Its create
			// has advanced the counter. If the counter is wrong because the tree
			// was put together by hand, skip the id.
			if taken, ok := ParseSequenceID(prefix, znode.Name(r.Op.Path)); ok {
				next = max(next, taken+1)
			}
			continue
		}
		again, err := m.refused(err, races)
		if !again {
			return err
		}
		races++
	}
}
