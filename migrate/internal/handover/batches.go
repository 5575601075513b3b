package handover

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// EmptyBatches makes the pieces that remove batches of which no job is left. A batch
// that is left without jobs would be reported as done, so it goes even if another client
// has changed it. One that a session has locked stays.
func EmptyBatches(ctx context.Context, t *target.Target, bids []string) (pieces []apply.Piece, err error) {
	var roots, uuids []string
	for _, bid := range bids {
		roots = append(roots, newqueue.BatchPath(bid))
		uuids = append(uuids, newqueue.BatchUUIDsPath+"/"+t.Ledger.Batch(bid).UUID)
	}
	there, err := t.Reader.GetAll(ctx, uuids, nil)
	if err != nil {
		return nil, err
	}
	for sub, err := range t.Reader.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return nil, err
		}
		if sub.Missing() || !isEmptyBatch(sub) {
			continue
		}
		bid := znode.Name(sub.Root)
		nodes := slices.Clone(sub.Nodes)
		if i := slices.IndexFunc(there, func(n znode.Node) bool {
			return n.Path == newqueue.BatchUUIDsPath+"/"+t.Ledger.Batch(bid).UUID && string(n.Data) == bid
		}); i >= 0 {
			nodes = append(nodes, there[i])
		}
		ops, line := target.Deletes(nodes), ledger.Line{Kind: ledger.BatchRemoved, Batch: bid}
		pieces = append(pieces, apply.Piece{Removed: ledger.Counts{Batches: 1},
			Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, []ledger.Line{line} }})
	}
	return pieces, nil
}

// isEmptyBatch reports whether a batch has neither an entry of a job nor a lock.
func isEmptyBatch(sub zkconn.Subtree) bool {
	return !slices.ContainsFunc(sub.Nodes, func(n znode.Node) bool {
		rest := strings.TrimPrefix(n.Path, sub.Root+"/")
		return n.Stat.EphemeralOwner != 0 || strings.HasPrefix(rest, "states/") && strings.Count(rest, "/") > 1
	})
}

// AddedFolders yields the pieces that remove the folders that a run, by its index, added to batches of other
// runs, if they are empty.
func AddedFolders(ctx context.Context, t *target.Target, run int) iter.Seq2[apply.Piece, error] {
	return func(yield func(apply.Piece, error) bool) {
		var states []string
		for b := range t.Ledger.Batches() {
			if b.Run != int32(run) {
				states = append(states, newqueue.BatchStatesPath(b.ID))
			}
		}
		slices.Sort(states)
		for part := range slices.Chunk(states, partSize) {
			nodes, err := addedFolders(ctx, t, run, part)
			if err != nil {
				yield(apply.Piece{}, err)
				return
			}
			for _, n := range nodes {
				ops := target.Deletes([]znode.Node{n})
				if !yield(apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, nil }}, nil) {
					return
				}
			}
		}
	}
}

// addedFolders are the empty folders below these parents that are not older than the run.
// The folder of unfinished jobs is never empty by a run.
func addedFolders(ctx context.Context, t *target.Target, run int, states []string) ([]znode.Node, error) {
	since := t.Ledger.Runs[run].Stat.Czxid
	parents, err := t.Reader.GetAll(ctx, states, nil)
	if err != nil {
		return nil, err
	}
	states = states[:0:0]
	for _, n := range parents {
		if n.Stat.Pzxid >= since {
			states = append(states, n.Path)
		}
	}
	lists, err := t.Reader.ChildrenAll(ctx, states)
	if err != nil {
		return nil, err
	}
	var folders []string
	for i, names := range lists {
		for _, name := range names {
			if f := newqueue.BatchFolder(name); f != newqueue.FolderProcessing && slices.Contains(newqueue.BatchFolders, f) {
				folders = append(folders, znode.Join(states[i], name))
			}
		}
	}
	slices.Sort(folders)
	nodes, err := t.Reader.GetAll(ctx, folders, nil)
	return slices.DeleteFunc(nodes, func(n znode.Node) bool {
		return n.Stat.Czxid < since || n.Stat.NumChildren > 0 || n.Stat.Version != 0
	}), err
}
