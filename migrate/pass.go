package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// handoverPass passes the records and jobs of one run from one queue to the other, in the chain of the run's record.
type handoverPass struct {
	w     *Writer
	t     *target.Target
	run   int // index
	chain *apply.Chain
	look  *standing.Reader
	save  func([]znode.Node) error
	// seen is called with each record, and done with each that was passed.
	seen, done func(*standing.Standing)
	left       int // how many records have left the legacy queue since it was listed
}

// send carries out what is decided about records. The error wraps [apply.ErrChanged] if nothing was carried out, because
// other clients have changed all of it.
func (p *handoverPass) send(ctx context.Context, entries []*ledger.Migrated) error {
	pieces, err := p.pieces(ctx, entries)
	if err != nil {
		return err
	}
	err = p.chain.Send(ctx, pieces)
	switch {
	case err == nil && p.left > 0:
		return fmt.Errorf("%w: %d records have left the legacy queue", apply.ErrChanged, p.left)
	case err == nil && p.chain.Transactions() == 0 && p.chain.LeftOut() > 0:
		return fmt.Errorf("%w: %d of the records or jobs, first %w", apply.ErrChanged, p.chain.LeftOut(), p.chain.LeftOutBy())
	}
	return err
}

func (p *handoverPass) pieces(ctx context.Context, entries []*ledger.Migrated) (iter.Seq2[apply.Piece, error], error) {
	makeKept, err := p.keptParents(ctx)
	if err != nil {
		return nil, err
	}
	return func(yield func(apply.Piece, error) bool) {
		for part, err := range p.look.Parts(ctx, entries) {
			if err == nil {
				listed := len(part)
				part = slices.DeleteFunc(part, func(c standing.Standing) bool { return c.Left })
				p.left += listed - len(part)
				err = p.saveLost(part)
			}
			if err != nil {
				yield(apply.Piece{}, err)
				return
			}
			for _, c := range part {
				p.seen(&c)
				piece, ok := handover.Piece(&c)
				if !ok {
					continue
				}
				if c.Action == standing.HandOver && len(makeKept) > 0 {
					ops := makeKept
					makeKept = nil
					if !yield(apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, nil }}, nil) {
						return
					}
				}
				// A worker may take the record, or the job, at this moment. The next look says what then becomes of it.
				piece.Optional, piece.Done = true, func() { p.done(&c) }
				if !yield(piece, nil) {
					return
				}
			}
		}
	}, nil
}

// saveLost saves the last copies of what a part removes, before any of it is removed.
func (p *handoverPass) saveLost(part []standing.Standing) error {
	var nodes []znode.Node
	for _, c := range part {
		nodes = append(nodes, c.Lost()...)
	}
	if len(nodes) == 0 {
		return nil
	}
	if p.save == nil {
		return fmt.Errorf("%w: the first is %s", ErrNotSaved, nodes[0].Path)
	}
	return p.save(nodes)
}

func (p *handoverPass) keptParents(ctx context.Context) ([]znode.Op, error) {
	run := &p.t.Ledger.Runs[p.run]
	if !run.Origin.OneEnsemble {
		return nil, nil // nothing can be handed over
	}
	folder := run.Origin.KeptRunPath()
	ops, err := toCreate(ctx, p.w, run.ACL, znode.Parent(folder), folder)
	for i := range ops {
		if ops[i].Path == folder {
			ops[i].Data = keptOwner(p.w, run.ID)
		}
	}
	return ops, err
}

// keptOwner is the data of a folder for kept bytes: the path of its run's record, on the server.
func keptOwner(w *Writer, run string) []byte {
	return []byte(chrooted(w.Address().Chroot, ledger.RunPath(run)))
}

func toCreate(ctx context.Context, w *Writer, acl []ACL, paths ...string) (ops []znode.Op, err error) {
	for _, path := range paths {
		_, there, err := w.WithChroot("/").Exists(ctx, path)
		if err != nil {
			return nil, err
		}
		if !there {
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: []byte{}, ACL: acl, Outside: true})
		}
	}
	return ops, nil
}

func (p *handoverPass) sendEmpty(ctx context.Context, bids []string) error {
	for part := range slices.Chunk(bids, maxRead.N()) {
		pieces, err := handover.EmptyBatches(ctx, p.t, part)
		if err != nil {
			return err
		}
		err = p.chain.Send(ctx, func(yield func(apply.Piece, error) bool) {
			for _, piece := range pieces {
				if !yield(piece, nil) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const maxRead part.Size = 1000

// Decisions are what somebody decided about records of which nothing shows whether the job or the legacy queue has
// the work.
type Decisions struct {
	// RecordIs has the queue that single records belong to, by their paths, or by those of their jobs: two records can have had one name.
	RecordIs map[string]migration.Answer
	// Vanished is about all records that are not there any more and whose jobs nobody has begun.
	Vanished migration.Answer
	// Save is called with znodes that nothing else keeps, before they are removed: by a decision, or because their record was overwritten. If
	// it returns an error, they are not. nil refuses to remove any.
	Save func([]znode.Node) error
}

// check refuses decisions about records that were never migrated. Those whose jobs were withdrawn are decided.
func (d Decisions) check(t *target.Target) error {
	for path := range d.RecordIs {
		if !t.Ledger.Knows(path) && !t.Ledger.MayHaveGiven(path) {
			return fmt.Errorf("%s: %w", path, ErrNotFound)
		}
	}
	return nil
}

// missing are the records of a ledger that are not in the legacy queue under their names; nil if nobody has decided about them. An error comes
// from reading.
func (d Decisions) missing(ctx context.Context, t *target.Target, src *Source) (map[string]bool, error) {
	if d.Vanished == migration.AnswerNone || src == nil {
		return nil, nil
	}
	gone, _, err := standing.FindGone(ctx, t, src)
	missing := map[string]bool{}
	for _, e := range gone {
		missing[e.Record] = true
	}
	return missing, cancelled(err)
}

// maxIdle is how often in a row both queues are read again before any work was done.
const maxIdle = 6

// untilDone calls try until it has nothing left to do, or fails. If the znodes have changed meanwhile, it reads them again. The error
// wraps [ErrRefused] if the server refuses the same again then.
func untilDone(ctx context.Context, w *Writer, say func(string), read func(context.Context) error, try func(context.Context) (steps int, err error)) error {
	var last *znode.MultiError
	for idle := 0; ; {
		steps, err := try(ctx)
		switch {
		case err == nil && steps == 0:
			return nil
		case err != nil && !errors.Is(err, apply.ErrChanged) && !errors.Is(err, plan.ErrSourceChanged):
			return cancelled(err)
		}
		by := refusal(err)
		if isSame(last, by) {
			return cancelled(refused(ctx, &w.Reader, by))
		}
		last = by
		if idle++; steps > 0 {
			idle = 0
		}
		if idle == maxIdle {
			return fmt.Errorf("%w: %w", ErrContended, err)
		}
		if err != nil {
			say(fmt.Sprintf("reading both queues again: %v", err))
		}
		if err := read(ctx); err != nil {
			return err
		}
	}
}
