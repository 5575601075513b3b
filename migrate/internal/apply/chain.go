package apply

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// Piece is what must be in one transaction: a job with its entries and, before these, what
// its batch needs first. Pieces are carried out in order. One transaction has several.
type Piece struct {
	// Parents are the parents of new sequential znodes, one for each id that Build needs.
	Parents []string
	// Build returns the operations with these ids, and the lines of the ledger. It is
	// called again with other ids if other clients took these.
	Build func(ids []string) ([]znode.Op, []ledger.Line)
	// Created and Removed are what it creates and removes.
	Created, Removed migration.Counts
	// Done, if not nil, is called when it was carried out.
	Done func()
	// Optional says that it is left out if the server refuses it, because another client has changed a znode, and that the
	// others are sent all the same. Nothing that comes later may rely on it, but what is in its Group.
	Optional bool
	// Group are pieces of which each relies on those before it: if one is left out, so are the later ones. nil is none.
	Group *Group
}

// Group is what pieces are in together.
type Group struct{ leftOut bool }

func (g *Group) isLeftOut() bool { return g != nil && g.leftOut }

// DefaultBytes is what a transaction has at most, unless one piece is larger. Larger ones
// were not faster on one JVM server and on three, and they keep
// other clients waiting for longer.
const DefaultBytes = 64 << 10

// maxPieces is how many pieces one transaction has at most, so that other clients don't wait for long.
const maxPieces part.Size = 1000

// Chain is a row of transactions of one run. Each sets the run's record, and succeeds only
// if the record has the version that the transaction before it left. So the transactions
// take effect in order or not at all, the version shows whether the last one was done, and
// a migrator whose run was taken over can write nothing more.
type Chain struct {
	w        *zkconn.Writer
	run      migration.Run
	limits   migration.TransactionLimits // no transaction is larger
	counters *counters
	encoder  ledger.Encoder
	guards   []znode.Op // checked by each transaction
	acl      []znode.ACL
	failures failures
	steps    int
	leftOut  int
	by       *znode.MultiError // why the first was left out

	// Progress, if not nil, is called after each transaction with how many pieces it and
	// the ones before it have carried out.
	Progress func(pieces int)
	records  int
}

// NewChain returns the chain of a run's next transactions. The run's record is as it was
// read, or new with version -1. counts has the next number and the lowest free one of
// each parent of sequential znodes that pieces need.
func NewChain(w *zkconn.Writer, run migration.Run, limits migration.TransactionLimits, counts map[string]target.Counter) *Chain {
	if limits.Bytes == 0 {
		limits.Bytes = DefaultBytes
	}
	return &Chain{w: w, run: run, limits: limits, counters: &counters{of: counts}, acl: run.ACL}
}

// Run returns the run's record after the last transaction.
func (c *Chain) Run() migration.Run { return c.run }

// Transactions returns how many transactions were done.
func (c *Chain) Transactions() int { return c.steps }

// LeftOut returns how many optional pieces were left out.
func (c *Chain) LeftOut() int { return c.leftOut }

// LeftOutBy returns why the first of them was left out; nil if none was.
func (c *Chain) LeftOutBy() *znode.MultiError { return c.by }

// Guard adds checks to each transaction from now on.
func (c *Chain) Guard(checks ...znode.Op) { c.guards = append(c.guards, checks...) }

// End is [Chain.Do] without the guards, for the last transaction.
func (c *Chain) End(ctx context.Context, ops []znode.Op, change func(*migration.Run)) error {
	c.guards = nil
	return c.Do(ctx, ops, change)
}

// Do carries out one transaction: ops, and a change of the run's record. The error wraps
// one of this package's errors.
func (c *Chain) Do(ctx context.Context, ops []znode.Op, change func(*migration.Run)) error {
	next := c.run
	change(&next)
	for {
		err := c.commit(ctx, ops, next)
		if err == nil {
			return nil
		}
		if err = c.failed(ctx, err); !errors.Is(err, errSmaller) {
			return err
		}
	}
}

// Send carries out the pieces. If it was interrupted, or if the target has changed, some of
// them were carried out: all up to one, and none after it. The error wraps one of this
// package's errors, or is the first of pieces.
func (c *Chain) Send(ctx context.Context, pieces iter.Seq2[Piece, error]) error {
	next, stop := iter.Pull2(pieces)
	defer stop()
	var waiting []Piece // read from pieces and not yet done
	more, limit := true, c.limits
	for {
		t := transaction{limits: limit, chroot: len(c.w.Address().Chroot), ops: len(c.guards)}
		fits := 0
		for fits < len(waiting) || more {
			if fits == len(waiting) {
				p, err, ok := next()
				if err != nil {
					return err
				}
				if more = ok; !ok {
					break
				}
				if p.Group.isLeftOut() {
					c.leftOut++
					continue
				}
				waiting = append(waiting, p)
			}
			if !t.add(c.counters, waiting[fits]) {
				break
			}
			fits++
		}
		if fits == 0 {
			return nil
		}
		switch err := c.send(ctx, &t, waiting[:fits]); {
		case err == nil:
			waiting = append(waiting[:0], waiting[fits:]...)
			limit.Bytes = min(limit.Bytes*2, c.limits.Bytes)
		case errors.Is(err, errSmaller):
			limit.Bytes = max(min(limit.Bytes, t.bytes)/4, 1)
		case c.refusedPiece(&t, waiting[:fits], err) >= 0:
			i, before := c.refusedPiece(&t, waiting[:fits], err), len(waiting)
			if g := waiting[i].Group; g != nil {
				g.leftOut = true
			}
			waiting = slices.DeleteFunc(slices.Delete(waiting, i, i+1), func(p Piece) bool { return p.Group.isLeftOut() })
			c.leftOut += before - len(waiting)
			if c.by == nil {
				errors.As(err, &c.by)
			}
		default:
			return err
		}
	}
}

type transaction struct {
	limits migration.TransactionLimits
	chroot int
	bytes  int // of the pieces' operations
	ops    int // of all operations
	pieces []built
	ids    map[string]int // how many new ids it has, by parent
}

type built struct {
	ops   []znode.Op
	lines []ledger.Line
}

// add adds a piece if it fits. The first piece always fits.
func (t *transaction) add(ids *counters, p Piece) bool {
	if t.ids == nil {
		t.ids = map[string]int{}
	}
	var names []string
	taken := map[string]int{}
	for _, parent := range p.Parents {
		names = append(names, ids.name(parent, t.ids[parent]+taken[parent]))
		taken[parent]++
	}
	var b built
	b.ops, b.lines = p.Build(names)
	bytes := znode.MultiSize(b.ops, t.chroot)
	if len(t.pieces) > 0 && (len(t.pieces) == maxPieces.N() || t.bytes+bytes > t.limits.Bytes || t.limits.Ops > 0 && t.ops+len(b.ops) > t.limits.Ops) {
		return false
	}
	for parent, n := range taken {
		t.ids[parent] += n
	}
	t.bytes, t.ops, t.pieces = t.bytes+bytes, t.ops+len(b.ops), append(t.pieces, b)
	return true
}

// send carries out one transaction of some pieces. The error is errSmaller if the same
// pieces can be sent again, in smaller transactions and with other ids.
func (c *Chain) send(ctx context.Context, t *transaction, pieces []Piece) error {
	var ops []znode.Op
	var lines []ledger.Line
	for _, b := range t.pieces {
		ops, lines = append(ops, b.ops...), append(lines, b.lines...)
	}
	next := c.run
	for _, p := range pieces {
		next.Created.Add(p.Created)
		next.Removed.Add(p.Removed)
	}
	next.Total = max(next.Total, next.Created.Records()) // follow adds to a run that is done
	if len(lines) > 0 {
		ops = append(ops, c.entry(lines)...)
		next.Entries++
	}
	if err := c.commit(ctx, ops, next); err != nil {
		if errors.Is(err, errNotDone) { // the server may drop the connection because the transaction is too large
			c.limits.Bytes = max(min(c.limits.Bytes, t.bytes)/2, 1)
		}
		return c.failed(ctx, err)
	}
	c.counters.took(t.ids)
	for _, p := range pieces {
		c.records++
		if p.Done != nil {
			p.Done()
		}
	}
	if c.Progress != nil {
		c.Progress(c.records)
	}
	return nil
}

// refusedPiece is the index of the optional piece that made the server refuse a transaction; -1 if none did.
func (c *Chain) refusedPiece(t *transaction, pieces []Piece, err error) int {
	var refused *znode.MultiError
	if !errors.Is(err, ErrChanged) || !errors.As(err, &refused) {
		return -1
	}
	at := refused.Index - 1 - len(c.guards) // the run's record and the guards come first
	for i, b := range t.pieces {
		if at >= 0 && at < len(b.ops) && pieces[i].Optional {
			return i
		}
		at -= len(b.ops)
	}
	return -1
}

func (c *Chain) entry(lines []ledger.Line) []znode.Op {
	path, group, first := ledger.EntryPath(c.run.ID, c.run.Entries)
	var ops []znode.Op
	if first {
		ops = append(ops, c.create(group, []byte{}))
	}
	return append(ops, c.create(path, c.encoder.Encode(lines)))
}

func (c *Chain) create(path string, data []byte) znode.Op {
	return znode.Op{Kind: znode.OpCreate, Path: path, Data: data, ACL: c.acl}
}

// errSmaller says that the same pieces should be sent again, in smaller transactions.
var errSmaller = errors.New("smaller")

func (c *Chain) failed(ctx context.Context, err error) error {
	var refused *znode.MultiError
	switch {
	case errors.Is(err, ErrTakenOver):
		return err
	case errors.Is(err, zkconn.ErrThrottled), errors.Is(err, errNotDone):
		return errSmaller // commit has waited
	case errors.Is(err, zkconn.ErrNoAuth):
		return fmt.Errorf("nothing of a transaction was done: %w; then run the same command again", err)
	case errors.As(err, &refused) && errors.Is(refused.Err, znode.ErrNodeExists) && c.counters.gives(refused.Op.Path):
		return c.counters.catchUp(ctx, c.w, znode.Parent(refused.Op.Path))
	case errors.As(err, &refused):
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}
