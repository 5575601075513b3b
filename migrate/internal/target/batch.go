package target

import (
	"context"
	"encoding/json"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Batch is what a plan must know of a batch that is there.
type Batch struct {
	There bool
	State newqueue.BatchState // "" if its status can't be read
	// StatusVersion is the version of its status.
	StatusVersion int32
	Folders       []newqueue.BatchFolder
	Locked        bool   // by a session
	Of            string // the batchID of its records, if its name is another one
}

// Open reports whether jobs can be added to the batch.
func (b Batch) Open() bool { return b.There && b.State == newqueue.BatchProcessing }

// HasFolder reports whether the batch has a folder for the entries of jobs.
func (b Batch) HasFolder(f newqueue.BatchFolder) bool { return slices.Contains(b.Folders, f) }

const batchesPerRead part.Size = 1000

// Batches reads batches by their bids.
func (t *Target) Batches(ctx context.Context, bids []string, d newqueue.Dialect) (map[string]Batch, error) {
	batches := map[string]Batch{}
	for some := range slices.Chunk(bids, batchesPerRead.N()) {
		var paths []string
		for _, bid := range some {
			root := newqueue.BatchPath(bid)
			paths = append(paths, root, root+"/status", root+"/lock")
			for _, f := range newqueue.BatchFolders {
				paths = append(paths, newqueue.BatchFolderPath(bid, f))
			}
		}
		nodes, err := t.Reader.GetAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		there := map[string]znode.Node{}
		for _, n := range nodes {
			there[n.Path] = n
		}
		for _, bid := range some {
			batches[bid] = batchOf(bid, there, d)
		}
	}
	return batches, nil
}

func batchOf(bid string, there map[string]znode.Node, d newqueue.Dialect) Batch {
	root := newqueue.BatchPath(bid)
	var b Batch
	var provenance struct {
		BatchID string `json:"batchID"`
	}
	if n, is := there[root]; is {
		b.There = true
		_ = json.Unmarshal(n.Data, &provenance) // another client's has none
		b.Of = provenance.BatchID
	}
	_, b.Locked = there[root+"/lock"]
	b.StatusVersion = there[root+"/status"].Stat.Version
	if status, err := newqueue.Parse[newqueue.BatchStatus](d, there[root+"/status"].Data); err == nil {
		b.State = status.State
	}
	for _, f := range newqueue.BatchFolders {
		if _, ok := there[newqueue.BatchFolderPath(bid, f)]; ok {
			b.Folders = append(b.Folders, f)
		}
	}
	return b
}
