package client

import (
	"context"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
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

	Item
}

func (q *Queue) newBatch(bid string) *Batch {
	b := &Batch{ID: bid, Item: Item{q: q, kind: states.Batch, path: newqueue.BatchPath(bid)}}
	b.of = b
	return b
}

func (b *Batch) state() string { return string(b.Status.State) }

func (b *Batch) properties() []property {
	return []property{
		{name: "status", parse: intoIn(b.q.dialect, &b.Status, newqueue.Parse)},
		{name: "submission", object: true, parse: func(data []byte) (err error) {
			if b.Submitted, err = newqueue.ParseObject(data); err == nil {
				b.Submission, err = newqueue.Parse[newqueue.Submission](b.q.dialect, data)
			}
			return err
		}},
	}
}

// CreateBatch creates a pending batch from a submission (B1), with its entry in
// batch-uuids if the submission has a BatchID. It returns the batch's id.
// Errors: [ErrExists] if a batch with that BatchID exists, [newqueue.ErrValue] if no field is
// set or a value is not allowed.
func (q *Queue) CreateBatch(ctx context.Context, s newqueue.Submission) (bid string, err error) {
	defer wrap("create a batch in", newqueue.BatchesPath, &err)
	if err := s.Validate(); err != nil {
		return "", err
	}
	submission, err := newqueue.ToObject(q.dialect, s).Marshal()
	if err != nil {
		return "", err
	}
	status, err := newqueue.ToObject(q.dialect, newqueue.BatchStatus{State: newqueue.BatchState(q.creation(states.Batch).To), LastModified: q.clock()}).Marshal()
	if err != nil {
		return "", err
	}
	return q.withID(ctx, newqueue.BatchesPath, newqueue.BatchPrefix, func(bid string, next int32) error {
		path := newqueue.BatchPath(bid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/submission", submission),
			znode.Create(path+"/status", status),
		}
		if s.BatchID != "" {
			ops = append(ops, znode.Create(newqueue.BatchUUIDPath(s.BatchID), []byte(bid)))
		}
		err := q.commit(ctx, write{ops: ops, happened: q.created(path, next, ops[1])})
		if s.BatchID != "" && refusedAt(err, newqueue.BatchUUIDPath(s.BatchID)) {
			return named(err)
		}
		return err
	})
}

// Batch reads a batch. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing. An unknown status is not an error: see [newqueue.BatchState.Known].
func (q *Queue) Batch(ctx context.Context, bid string) (*Batch, error) {
	b := q.newBatch(bid)
	if err := b.loadAll(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// jobs lists the ids of a batch's jobs by folder, sorted. It has an entry
// for each folder that exists, even if the folder is empty.
func (b *Batch) jobs(ctx context.Context) (map[newqueue.BatchFolder][]string, error) {
	names, err := b.q.children(ctx, newqueue.BatchStatesPath(b.ID))
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = newqueue.BatchFolderPath(b.ID, newqueue.BatchFolder(name))
	}
	lists, err := b.q.folders(ctx, paths)
	jobs := map[newqueue.BatchFolder][]string{}
	for i, name := range names {
		jobs[newqueue.BatchFolder(name)] = lists[i]
	}
	return jobs, err
}
