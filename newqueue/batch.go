package newqueue

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Batch is a batch as it was when it was read. An acquired one also holds the
// worker's lock. Use a Batch from one goroutine at a time.
type Batch struct {
	ID         string
	Status     BatchStatus
	Submission Submission
	// Submitted is the whole submission, including keys that the layout doesn't
	// know.
	Submitted Object

	item
}

func (q *Queue) newBatch(bid string) *Batch {
	return &Batch{ID: bid, item: item{q: q, path: BatchPath(bid)}}
}

// CreateBatch creates a pending batch from a submission (B1), with its entry in
// batch-uuids if the submission has a BatchID. It returns the batch's id.
// Errors: [ErrExists] if a batch with that BatchID exists, [ErrValue] if no field is
// set or a value is not allowed, [ErrTooLarge].
func (q *Queue) CreateBatch(ctx context.Context, s Submission) (string, error) {
	bid, err := q.createBatch(ctx, s)
	if err != nil {
		return "", &opError{"create a batch in", BatchesPath, err}
	}
	return bid, nil
}

func (q *Queue) createBatch(ctx context.Context, s Submission) (string, error) {
	if err := s.validate(); err != nil {
		return "", err
	}
	submission, err := s.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	status, err := BatchStatus{State: BatchState(q.creation(EntityBatch).To), LastModified: q.clock()}.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	var bid string
	err = q.withIDs(ctx, BatchesPath, BatchPrefix, 1, func(ids []string) error {
		bid = ids[0]
		path := BatchPath(bid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/submission", submission),
			znode.Create(path+"/status", status),
		}
		if s.BatchID != "" {
			ops = append(ops, znode.Create(BatchUUIDPath(s.BatchID), []byte(bid)))
		}
		err := q.commit(ctx, write{ops: ops, done: q.created(ops)})
		var r *znode.MultiError
		if errors.As(err, &r) && errors.Is(err, zk.ErrNodeExists) && znode.Parent(r.Op.Path) == BatchUUIDsPath {
			return &NodeError{r.Op.Path, ErrExists}
		}
		return err
	})
	return bid, err
}

// Batch reads a batch. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing, or is [ErrNoRoot] if the queue's root is. An unknown status is not an error: see [BatchState.Known].
func (q *Queue) Batch(ctx context.Context, bid string) (*Batch, error) {
	b := q.newBatch(bid)
	if err := b.load(ctx); err != nil {
		return nil, q.orNoRoot(ctx, err)
	}
	return b, nil
}

func (b *Batch) load(ctx context.Context) error {
	return together(ctx, b.loadStatus, b.loadSubmission)
}

func (b *Batch) loadSubmission(ctx context.Context) error {
	_, err := parsed(ctx, b.q, b.path+"/submission", &b.Submitted, orNoObject(b.q.dialect, func(data []byte) (o Object, err error) {
		if o, err = ParseObject(data); err == nil {
			b.Submission, err = ParseSubmission(b.q.dialect, data)
		}
		return o, err
	}))
	return err
}

func (b *Batch) loadStatus(ctx context.Context) (err error) {
	b.version, err = parsed(ctx, b.q, b.path+"/status", &b.Status, by(b.q.dialect, ParseBatchStatus))
	return err
}

// Batches reads all batches in the order of their ids. It returns the batches
// that it could read. The error joins one *[NodeError] for each of the others.
func (q *Queue) Batches(ctx context.Context) ([]*Batch, error) {
	entries, err := q.list(ctx, BatchesPath)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, q, entries, BatchPath, q.Batch)
}

// folders lists the ids of a batch's jobs by folder, sorted. It has an entry
// for each folder that exists, even if the folder is empty.
func (q *Queue) folders(ctx context.Context, bid string) (map[BatchFolder][]string, error) {
	names, err := q.children(ctx, BatchStatesPath(bid))
	if err != nil {
		return nil, err
	}
	jobs := map[BatchFolder][]string{}
	for _, name := range names {
		f := BatchFolder(name)
		jids, err := q.children(ctx, BatchFolderPath(bid, f))
		if err != nil {
			return nil, err
		}
		slices.Sort(jids)
		jobs[f] = jids
	}
	return jobs, nil
}
