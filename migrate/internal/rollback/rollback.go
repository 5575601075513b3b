// Package rollback decides what a rollback removes: the jobs and requests of a run that are
// as the run left them (docs/life.md, "States"), and its batches that have no job then. It
// looks at them part by part, and makes pieces that remove them. Each delete demands the versions that were read.
package rollback

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Options are the options of a rollback.
type Options struct {
	// Force also removes jobs and requests that were acted on, unless a session has locked
	// them.
	Force bool
	// Source, if not nil, is the legacy queue. A job of a released queue is kept if its
	// record is not there any more, because the job is the only copy.
	Source *source.Source
}

// Rollback is the rollback of one run.
type Rollback struct {
	t   *target.Target
	run *ledger.Run
	of  int // index of the run
	opt Options
}

// New prepares the rollback of a run, by its index in the target's ledger.
func New(t *target.Target, run int, opt Options) *Rollback {
	return &Rollback{t: t, run: &t.Ledger.Runs[run], of: run, opt: opt}
}

// partSize is how many jobs are read together.
const partSize = 1000

// Items yields every job and request of the run, with what becomes of it.
func (r *Rollback) Items(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for l, err := range r.looks(ctx) {
			if err != nil {
				yield(Item{}, err)
				return
			}
			if !yield(r.item(l), nil) {
				return
			}
		}
	}
}

// Pieces yields the pieces that remove the jobs and requests, newest first.
func (r *Rollback) Pieces(ctx context.Context) iter.Seq2[apply.Piece, error] {
	return func(yield func(apply.Piece, error) bool) {
		for l, err := range r.looks(ctx) {
			if err != nil {
				yield(apply.Piece{}, err)
				return
			}
			if r.item(l).Action == Remove && !yield(piece(l.entry, deletes(slices.Concat(l.nodes, l.entries))), nil) {
				return
			}
		}
	}
}

// piece is the piece that removes a job or request.
func piece(e *ledger.Migrated, ops []znode.Op) apply.Piece {
	line := ledger.Line{Kind: ledger.JobRemoved, Record: e.Record, Job: e.Job}
	piece := apply.Piece{Removed: ledger.Counts{Jobs: 1}}
	if znode.Within(e.Job, newqueue.AccessPath) {
		piece.Removed = ledger.Counts{Access: 1}
	}
	piece.Build = func([]string) ([]znode.Op, []ledger.Line) { return ops, []ledger.Line{line} }
	return piece
}

// deletes are the operations that delete znodes as they were read. The nodes are in path
// order, so their reverse has children before their parents.
func deletes(nodes []znode.Node) []znode.Op {
	ops := make([]znode.Op, 0, len(nodes))
	for _, n := range slices.Backward(nodes) {
		ops = append(ops, znode.Delete(n.Path, n.Stat.Version))
	}
	return ops
}

// looks reads the run's jobs and requests, newest first.
func (r *Rollback) looks(ctx context.Context) iter.Seq2[look, error] {
	entries := slices.Collect(r.t.Ledger.OfRun(r.of))
	slices.Reverse(entries)
	return func(yield func(look, error) bool) {
		for part := range slices.Chunk(entries, partSize) {
			looks, err := r.read(ctx, part)
			if err != nil {
				yield(look{}, err)
				return
			}
			for _, l := range looks {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// read reads some jobs and requests with their entries.
func (r *Rollback) read(ctx context.Context, part []*ledger.Migrated) ([]look, error) {
	looks := make([]look, len(part))
	var jobs []string
	for _, e := range part {
		jobs = append(jobs, e.Job)
	}
	reader := r.t.Reader.MarkUnreadable()
	places := make([][]string, len(part)) // where the jobs should have their entries
	i := 0
	for sub, err := range reader.Subtrees(ctx, slices.Values(jobs)) {
		if err != nil {
			return nil, err
		}
		looks[i] = look{entry: part[i], nodes: sub.Nodes}
		places[i], _ = target.Entries(r.run.Dialect, part[i].Job, sub.Nodes, part[i].Batch)
		i++
	}
	nodes, err := reader.GetAll(ctx, slices.Concat(places...), nil)
	if err != nil {
		return nil, err
	}
	for i := range looks {
		for _, path := range places[i] {
			if len(nodes) > 0 && nodes[0].Path == path {
				looks[i].entries, nodes = append(looks[i].entries, nodes[0]), nodes[1:]
			} else {
				looks[i].missing = path
			}
		}
	}
	if r.opt.Force {
		return looks, r.findEntries(ctx, looks)
	}
	return looks, nil
}

// findEntries finds the entries of jobs that don't say where these are, wherever they are.
func (r *Rollback) findEntries(ctx context.Context, looks []look) error {
	for i := range looks {
		l := &looks[i]
		if len(l.nodes) == 0 || l.missing == "" && len(l.entries) > 1 || znode.Within(l.entry.Job, newqueue.AccessPath) {
			continue
		}
		var err error
		if l.entries, err = r.t.Reader.MarkUnreadable().GetAll(ctx, target.AllEntries(l.entry.Batch, znode.Name(l.entry.Job)), nil); err != nil {
			return err
		}
	}
	return nil
}

// Batches yields the pieces that remove the run's batches of which no job is left. A batch
// that is left without jobs would be reported as done, so it goes even if another client
// has changed it. One that a session has locked stays.
func (r *Rollback) Batches(ctx context.Context) iter.Seq2[apply.Piece, error] {
	return func(yield func(apply.Piece, error) bool) {
		var bids []string
		for b := range r.t.Ledger.Batches() {
			if b.Run == int32(r.of) {
				bids = append(bids, b.ID)
			}
		}
		slices.Sort(bids)
		slices.Reverse(bids)
		for part := range slices.Chunk(bids, partSize) {
			pieces, err := r.batchPieces(ctx, part)
			for _, p := range pieces {
				if err == nil && !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(apply.Piece{}, err)
				return
			}
		}
	}
}

func (r *Rollback) batchPieces(ctx context.Context, bids []string) (pieces []apply.Piece, err error) {
	var roots, uuids []string
	for _, bid := range bids {
		roots = append(roots, newqueue.BatchPath(bid))
		uuids = append(uuids, newqueue.BatchUUIDsPath+"/"+r.t.Ledger.Batch(bid).UUID)
	}
	there, err := r.t.Reader.GetAll(ctx, uuids, nil)
	if err != nil {
		return nil, err
	}
	for sub, err := range r.t.Reader.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return nil, err
		}
		if sub.Missing() || !isEmptyBatch(sub) {
			continue
		}
		bid := znode.Name(sub.Root)
		nodes := slices.Clone(sub.Nodes)
		if i := slices.IndexFunc(there, func(n znode.Node) bool {
			return n.Path == newqueue.BatchUUIDsPath+"/"+r.t.Ledger.Batch(bid).UUID && string(n.Data) == bid
		}); i >= 0 {
			nodes = append(nodes, there[i])
		}
		ops, line := deletes(nodes), ledger.Line{Kind: ledger.BatchRemoved, Batch: bid}
		pieces = append(pieces, apply.Piece{Removed: ledger.Counts{Batches: 1},
			Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, []ledger.Line{line} }})
	}
	return pieces, nil
}

// Folders yields the pieces that remove the folders that the run added to batches of other
// runs, if they are empty.
func (r *Rollback) Folders(ctx context.Context) iter.Seq2[apply.Piece, error] {
	return func(yield func(apply.Piece, error) bool) {
		var states []string
		for b := range r.t.Ledger.Batches() {
			if b.Run != int32(r.of) {
				states = append(states, newqueue.BatchStatesPath(b.ID))
			}
		}
		slices.Sort(states)
		for part := range slices.Chunk(states, partSize) {
			nodes, err := r.addedFolders(ctx, part)
			if err != nil {
				yield(apply.Piece{}, err)
				return
			}
			for _, n := range nodes {
				ops := deletes([]znode.Node{n})
				if !yield(apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, nil }}, nil) {
					return
				}
			}
		}
	}
}

// addedFolders are the empty folders below these parents that are not older than the run.
// The folder of unfinished jobs is never empty by a run.
func (r *Rollback) addedFolders(ctx context.Context, states []string) ([]znode.Node, error) {
	since := r.run.Stat.Czxid
	parents, err := r.t.Reader.GetAll(ctx, states, nil)
	if err != nil {
		return nil, err
	}
	states = states[:0:0]
	for _, n := range parents {
		if n.Stat.Pzxid >= since {
			states = append(states, n.Path)
		}
	}
	lists, err := r.t.Reader.ChildrenAll(ctx, states)
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
	nodes, err := r.t.Reader.GetAll(ctx, folders, nil)
	return slices.DeleteFunc(nodes, func(n znode.Node) bool {
		return n.Stat.Czxid < since || n.Stat.NumChildren > 0 || n.Stat.Version != 0
	}), err
}

// isEmptyBatch reports whether a batch has neither an entry of a job nor a lock.
func isEmptyBatch(sub zkconn.Subtree) bool {
	return !slices.ContainsFunc(sub.Nodes, func(n znode.Node) bool {
		rest := strings.TrimPrefix(n.Path, sub.Root+"/")
		return n.Stat.EphemeralOwner != 0 || strings.HasPrefix(rest, "states/") && strings.Count(rest, "/") > 1
	})
}
