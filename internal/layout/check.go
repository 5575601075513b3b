package layout

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"mrtq/internal/znode"
)

// TreeReader reads a tree to check: a server's, or one from a file.
type TreeReader interface {
	// Get returns one znode, without its children. The error wraps
	// [znode.ErrNoNode] if it doesn't exist.
	Get(ctx context.Context, path string) (znode.Node, error)
	// Walk yields root and everything below it, each znode after its parent, or
	// nothing if root doesn't exist. It ends after the first error.
	Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error]
	// LastZxid is the newest transaction that the reader knows of, anywhere on the server; 0 if it knows of none.
	LastZxid() int64
}

// InMemory reads a tree in memory. The tree must not change while it is
// checked.
func InMemory(t *znode.Tree) TreeReader { return inMemory{t} }

type inMemory struct{ t *znode.Tree }

func (s inMemory) Get(_ context.Context, path string) (znode.Node, error) {
	if n := s.t.Get(path); n != nil {
		return *n, nil
	}
	return znode.Node{}, fmt.Errorf("%s: %w", path, znode.ErrNoNode)
}

func (s inMemory) LastZxid() int64 { return 0 }

func (s inMemory) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		for n := range s.t.All(root) {
			if ctx.Err() != nil {
				yield(znode.Node{}, ctx.Err())
				return
			}
			if !yield(*n, nil) {
				return
			}
		}
	}
}

// Options say how a tree is checked.
type Options struct {
	// Now is when the tree was read, for rules about ages. If it is zero, the
	// check takes the time of the newest change in the tree.
	Now time.Time
	// MaxReads is how often the tree is read at most; 0 is once. A tree may change
	// while it is read. So if a look finds something, the check looks again, and
	// reports only what every look finds. It stops when nothing has changed
	// during a look, or between two. A session that is working on something is given the time of
	// [GracePeriod] to go on.
	MaxReads int
	// MaxFindings is how many findings of each rule and severity are kept: the first ones, by path. 0 is all.
	MaxFindings int
	// Progress is called now and then with the number of znodes checked.
	Progress func(nodes int)
}

// GracePeriod is how long a session that has locked an item is given to go on, before what it left is named.
const GracePeriod = 5 * time.Second

// GoRules are rules of a map that Go implements, for one look at a tree. Done and Session can be nil.
type GoRules struct {
	// Visit is called for every znode that the map describes, in the order of
	// [TreeReader.Walk].
	Visit func(v Visit)
	// Done is called after the last znode. now is the time by which ages are judged.
	Done func(now time.Time)
	// Session is the session that may be between two writes, if a finding is about that; 0 if none is.
	Session func(f Finding) int64
}

// NewGoRules makes Go rules for one look at a tree. They report what they find. What they leave
// out of a finding is as the rule of the map says. absent is the missing znode, if a znode is
// missing and it is not the one at the finding's path.
type NewGoRules func(report func(f Finding, absent string)) GoRules

// Visit is one znode, as a Go rule sees it.
type Visit struct {
	Node   *Node // of the map
	Params Params
	Znode  znode.Node
	Value  any // the value that its codec read, nil if none
}

// Report is the outcome of a check.
type Report struct {
	Map      *Map
	Nodes    int
	Findings []Finding // by path; see [Options.MaxFindings]
	// Counts has how many findings there are, kept or not.
	Counts map[Violation]int

	found map[uint64]bool // the findings' digests, if the tree can be looked at again
	work  bool            // a session may be about to mend some
	zxid  int64           // the newest transaction that a znode shows; 0 if none does
}

// Violation is a rule that is broken, and how bad that is.
type Violation struct {
	Rule     string
	Severity Severity
}

// Count returns how many findings have a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for of, times := range r.Counts {
		if of.Severity == s {
			n += times
		}
	}
	return n
}

// ErrNoMatch says that a tree has no znode of the layout.
var ErrNoMatch = errors.New("there is no znode of this layout")

// Check compares what is below the map's roots with the map. The error comes
// from the source, or wraps [ErrNoMatch].
//
// What a session that has locked something may leave there between two writes is
// information.
func (m *Map) Check(ctx context.Context, s TreeReader, opt Options) (*Report, error) {
	report, err := m.checkRepeatedly(ctx, s, opt)
	if err == nil && opt.MaxReads > 1 && report.work {
		select {
		case <-time.After(GracePeriod):
			report, err = m.checkRepeatedly(ctx, s, opt)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return report, err
}

// checkRepeatedly reads the tree as often as opt says. A finding that comes from a change during one
// look is not found again. Real damage is found by every look.
func (m *Map) checkRepeatedly(ctx context.Context, s TreeReader, opt Options) (*Report, error) {
	began := s.LastZxid()
	report, err := checkOnce(ctx, s, m, opt, nil)
	quiet := began != 0 && s.LastZxid() == began
	for again := 1; err == nil && again < opt.MaxReads && len(report.Counts) > 0 && !quiet; again++ {
		before := report
		report, err = checkOnce(ctx, s, m, opt, before.found)
		if err == nil && report.zxid == before.zxid && report.zxid != 0 {
			break // nothing changed between the two looks
		}
	}
	return report, err
}
