package newqueue

import (
	"context"
	"errors"
	"slices"

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

	q       *Queue
	version int32 // of the status
	lock    lock  // zero when not acquired
}

// Locked reports whether the batch was acquired, and neither unlocked nor moved
// since.
func (b *Batch) Locked() bool { return b.lock != lock{} }

// Path is the batch's znode.
func (b *Batch) Path() string { return BatchPath(b.ID) }

// CreateBatch creates a pending batch from a submission (B1), with its entry in
// batch-uuids if the submission has a BatchID. It returns the batch's id.
// Errors: [ErrExists] if a batch with that BatchID exists, [ErrValue],
// [ErrTooLarge].
func (q *Queue) CreateBatch(ctx context.Context, s Submission) (string, error) {
	bid, err := q.createBatch(ctx, s)
	if err != nil {
		return "", &opError{"create a batch in", BatchesPath, err}
	}
	return bid, nil
}

func (q *Queue) createBatch(ctx context.Context, s Submission) (string, error) {
	t, err := q.creation(EntityBatch)
	if err != nil {
		return "", err
	}
	if err := s.validate(); err != nil {
		return "", err
	}
	submission, err := s.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	status, err := BatchStatus{State: BatchState(t.To), LastModified: q.now().Round(0)}.Object(q.dialect).Marshal()
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
		if errors.As(err, &r) && errors.Is(err, znode.ErrNodeExists) && s.BatchID != "" && r.Op.Path == BatchUUIDPath(s.BatchID) {
			return &NodeError{r.Op.Path, ErrExists}
		}
		return err
	})
	return bid, err
}

// Batch reads a batch. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing. An unknown status is not an error: see [BatchState.Known].
func (q *Queue) Batch(ctx context.Context, bid string) (*Batch, error) {
	b := &Batch{ID: bid, q: q}
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Batch) load(ctx context.Context) error {
	path := b.Path()
	n, err := b.q.get(ctx, path+"/status")
	if err != nil {
		return err
	}
	if b.Status, err = ParseBatchStatus(b.q.dialect, n.data); err != nil {
		return &NodeError{path + "/status", err}
	}
	b.version = n.version
	if n, err = b.q.get(ctx, path+"/submission"); err != nil {
		return err
	}
	if b.q.dialect.noObject(n.data) {
		return nil
	}
	if b.Submitted, err = ParseObject(n.data); err == nil {
		b.Submission, err = ParseSubmission(b.q.dialect, n.data)
	}
	if err != nil {
		return &NodeError{path + "/submission", err}
	}
	return nil
}

// FindBatch reads the batch of a UUID. The error wraps [ErrNotFound] if there
// is none.
func (q *Queue) FindBatch(ctx context.Context, uuid string) (*Batch, error) {
	path := BatchUUIDPath(uuid)
	n, err := q.get(ctx, path)
	if err != nil {
		return nil, err
	}
	b, err := q.Batch(ctx, string(n.data))
	if err == nil && b.Submission.BatchID != uuid && BatchUUIDPath(b.Submission.BatchID) == path {
		// Two UUIDs share this name: "a/b" is escaped to "a%2Fb".
		return nil, &NodeError{path, ErrNotFound}
	}
	return b, err
}

// Batches reads all batches in the order of their ids. It returns the batches
// that it could read. The error joins one *[NodeError] for each of the others.
func (q *Queue) Batches(ctx context.Context) ([]*Batch, error) {
	ids, err := q.batchIDs(ctx)
	if err != nil {
		return nil, err
	}
	var batches []*Batch
	var bad []error
	for _, bid := range ids {
		b, err := q.Batch(ctx, bid)
		switch {
		case err == nil:
			batches = append(batches, b)
		case errors.Is(err, ErrNotFound) && !q.there(ctx, BatchPath(bid)): // deleted meanwhile
		default:
			bad = append(bad, err)
		}
	}
	return batches, errors.Join(bad...)
}

func (q *Queue) batchIDs(ctx context.Context) ([]string, error) {
	ids, err := q.children(ctx, BatchesPath)
	slices.Sort(ids)
	return ids, err
}

// BatchJobs lists the ids of a batch's jobs by folder, sorted. It has an entry
// for each folder that exists, even if the folder is empty. If the batch does not
// exist, the error is [ErrNotFound].
func (q *Queue) BatchJobs(ctx context.Context, bid string) (map[BatchFolder][]string, error) {
	if _, err := q.get(ctx, BatchPath(bid)); err != nil {
		return nil, err
	}
	return q.folders(ctx, bid)
}

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

// AcquireBatch locks the oldest unlocked batch in a state: pending, reporting, or
// update-reporting. The lock ends with the batch's transition, with
// [Batch.Unlock], or with the session. Errors as for [Queue.AcquireJob]. A
// pending batch that already has jobs is skipped, and the error names it
// ([ErrHasJobs]).
func (q *Queue) AcquireBatch(ctx context.Context, s BatchState) (*Batch, error) {
	if err := q.workersState(EntityBatch, string(s)); err != nil {
		return nil, err
	}
	ids, err := q.batchIDs(ctx)
	if err != nil {
		return nil, err
	}
	return firstOf(ctx, q, ids, func(bid string) (b *Batch, err error) {
		b = &Batch{ID: bid, q: q}
		b.lock, b.version, err = q.acquired(ctx, b.Path(), func(data []byte) error {
			st, err := ParseBatchStatus(q.dialect, data)
			err = fits(b.Path(), st.State == s, err)
			if err == nil && s == BatchPending {
				_, err = q.leftStates(ctx, bid)
			}
			return err
		}, b.load)
		return b, err
	})
}

// AcquirePendingBatch is [Queue.AcquireBatch] for a pending batch.
func (q *Queue) AcquirePendingBatch(ctx context.Context) (*Batch, error) {
	return q.AcquireBatch(ctx, BatchPending)
}

// AcquireReportingBatch is [Queue.AcquireBatch] for a batch to be reported.
func (q *Queue) AcquireReportingBatch(ctx context.Context) (*Batch, error) {
	return q.AcquireBatch(ctx, BatchReporting)
}

// AcquireUpdateReportingBatch is [Queue.AcquireBatch] for a batch to be reported
// again.
func (q *Queue) AcquireUpdateReportingBatch(ctx context.Context) (*Batch, error) {
	return q.AcquireBatch(ctx, BatchUpdateReporting)
}

// Unlock releases the batch's lock and changes nothing else, so that another
// worker can acquire the batch. The error wraps [ErrNotLocked] if the lock was
// already lost. After any other error the caller still holds the lock, and may
// try again.
func (b *Batch) Unlock(ctx context.Context) error {
	return b.q.release(ctx, &b.lock, b.Path(), b.version)
}
