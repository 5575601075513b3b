package client

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Batch is a batch as it was when it was read. An acquired one also holds the
// worker's lock. Use a Batch from one goroutine at a time.
type Batch struct {
	ID         string
	Status     newqueue.BatchStatus
	Submission newqueue.Submission
	// Submitted is the whole submission, including keys that the layout doesn't
	// know.
	Submitted newqueue.Object

	entity
}

func (q *Queue) newBatch(bid string) *Batch {
	return &Batch{ID: bid, entity: entity{q: q, kind: newqueue.EntityBatch, path: newqueue.BatchPath(bid)}}
}

func (b *Batch) state() string { return string(b.Status.State) }

func (b *Batch) properties() []property {
	return []property{
		{name: "status", parse: intoIn(b.q.dialect, &b.Status, newqueue.ParseBatchStatus)},
		{name: "submission", object: true, parse: func(data []byte) (err error) {
			if b.Submitted, err = newqueue.ParseObject(data); err == nil {
				b.Submission, err = newqueue.ParseSubmission(b.q.dialect, data)
			}
			return err
		}},
	}
}

// CreateBatch creates a pending batch from a submission (B1), with its entry in
// batch-uuids if the submission has a BatchID. It returns the batch's id.
// Errors: [ErrExists] if a batch with that BatchID exists, [newqueue.ErrValue] if no field is
// set or a value is not allowed, [ErrTooLarge].
func (q *Queue) CreateBatch(ctx context.Context, s newqueue.Submission) (string, error) {
	bid, err := q.createBatch(ctx, s)
	if err != nil {
		return "", &opError{"create a batch in", newqueue.BatchesPath, err}
	}
	return bid, nil
}

func (q *Queue) createBatch(ctx context.Context, s newqueue.Submission) (string, error) {
	if err := s.Validate(); err != nil {
		return "", err
	}
	submission, err := s.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	status, err := newqueue.BatchStatus{State: newqueue.BatchState(q.creation(newqueue.EntityBatch).To), LastModified: q.clock()}.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	var bid string
	err = q.withIDs(ctx, newqueue.BatchesPath, newqueue.BatchPrefix, 1, func(ids []string) error {
		bid = ids[0]
		path := newqueue.BatchPath(bid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/submission", submission),
			znode.Create(path+"/status", status),
		}
		if s.BatchID != "" {
			ops = append(ops, znode.Create(newqueue.BatchUUIDPath(s.BatchID), []byte(bid)))
		}
		err := q.commit(ctx, write{ops: ops, happened: q.created(ops)})
		var r *znode.MultiError
		if errors.As(err, &r) && errors.Is(err, zk.ErrNodeExists) && znode.Parent(r.Op.Path) == newqueue.BatchUUIDsPath {
			return &NodeError{r.Op.Path, ErrExists}
		}
		return err
	})
	return bid, err
}

// Batch reads a batch. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing, or is [ErrNoRoot] if the queue's root is. An unknown status is not an error: see [newqueue.BatchState.Known].
func (q *Queue) Batch(ctx context.Context, bid string) (*Batch, error) {
	return one(ctx, q.newBatch(bid))
}

// Batches reads all batches in the order of their ids. It returns the batches
// that it could read. The error joins one *[NodeError] for each of the others.
func (q *Queue) Batches(ctx context.Context) ([]*Batch, error) {
	entries, err := q.list(ctx, newqueue.BatchesPath)
	if err != nil {
		return nil, err
	}
	return all(ctx, entries, q.newBatch)
}

// folders lists the ids of a batch's jobs by folder, sorted. It has an entry
// for each folder that exists, even if the folder is empty.
func (q *Queue) folders(ctx context.Context, bid string) (map[newqueue.BatchFolder][]string, error) {
	names, err := q.children(ctx, newqueue.BatchStatesPath(bid))
	if err != nil {
		return nil, err
	}
	lists := make([][]string, len(names))
	err = each(ctx, len(names), func(ctx context.Context, i int) (err error) {
		lists[i], err = q.children(ctx, newqueue.BatchFolderPath(bid, newqueue.BatchFolder(names[i])))
		return err
	})
	jobs := map[newqueue.BatchFolder][]string{}
	for i, name := range names {
		jobs[newqueue.BatchFolder(name)] = lists[i]
	}
	return jobs, err
}
