// Package source reads a legacy queue: it lists the records, reads and decodes them, in the
// order that the caller wants. Only the records' names are in memory. It writes nothing.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
)

// Source is a legacy queue, as it was listed by [Open].
type Source struct {
	Queues  migration.Queues
	Options legacy.Options
	Nodes   []Node   // the queue nodes that are there
	Locks   []Lock   // outstanding legacy object locks
	Missing []string // queue nodes that are not there
	There   []string // if any is missing: the znodes at the top

	r    *zkconn.Reader
	kept map[string]string // see [Source.FetchKept]
	only map[string]bool   // see [Source.Only]; nil for all records
}

// Node is one znode whose children are records.
type Node struct {
	Path  string
	Kind  migration.QueueKind
	Names []string // of the records, in byte order
	Stat  znode.Stat
	ACL   []znode.ACL
}

// NextNumber returns the number that the next record of the queue gets. A dump without Stats does not
// say it; then it is the number after the highest one.
func (n Node) NextNumber() uint32 {
	counted, _ := n.Stat.NextSequence()
	next := uint32(counted)
	for _, name := range n.Names {
		if key, err := legacy.ParseKey(name); err == nil {
			next = max(next, uint32(key.Sequence)+1)
		}
	}
	return next
}

// Lock is one outstanding legacy object lock.
type Lock struct {
	Path string
	// Legacy is the decoded lock, if Err is nil.
	Legacy legacy.Lock
	Err    error
}

// Empty returns a source without queues, for a target of which nobody knows the legacy queue.
func Empty(r *zkconn.Reader) *Source { return &Source{r: r} }

// ErrNoQueues says that none of the queue nodes is in the source. Usually the chroot is
// wrong, or the nodes have other names.
var ErrNoQueues = errors.New("none of the legacy queue nodes is there")

// ErrUnlisted says that a queue node itself could not be read, so its records are not
// known.
var ErrUnlisted = errors.New("it can't be listed, so what is in it is not known")

// Open lists the records of the queues, and reads the locks. The caller closes r when the
// source is not needed any more. The error wraps [ErrNoQueues] or [ErrUnlisted], or comes
// from reading.
func Open(ctx context.Context, r *zkconn.Reader, queues migration.Queues, opt legacy.Options) (*Source, error) {
	s, err := OpenKnown(ctx, r, queues, opt)
	if err == nil && len(s.Missing) > 0 {
		there, unlisted := r.Children(ctx, "/") // for messages alone
		slices.Sort(there)
		for _, name := range there {
			s.There = append(s.There, "/"+name)
		}
		if len(s.Nodes) == 0 {
			top := "there is nothing"
			if len(s.There) > 0 {
				top = "there is " + strings.Join(s.There, ", ")
			} else if errors.Is(unlisted, znode.ErrNoNode) {
				top = "the chroot " + r.Address().Chroot + " does not exist; check the address"
			}
			return nil, fmt.Errorf("%w: looked for %s; %s", ErrNoQueues, strings.Join(s.Missing, ", "), top)
		}
	}
	return s, err
}

// OpenKnown is [Open] for a legacy queue of which something was migrated: it may have been removed since.
func OpenKnown(ctx context.Context, r *zkconn.Reader, queues migration.Queues, opt legacy.Options) (*Source, error) {
	s := &Source{Queues: queues, Options: opt, r: r.MarkUnreadable()}
	if err := r.Sync(ctx); err != nil { // the member of an ensemble may lag behind the others
		return nil, err
	}
	for _, kind := range migration.QueueKinds {
		for _, path := range queues.Nodes[kind] {
			if err := s.list(ctx, kind, path); err != nil {
				return nil, err
			}
		}
	}
	for _, root := range queues.Locks {
		if err := s.readLocks(ctx, root); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// list notes the names of a queue node's records. A queue node below another queue node
// is not a record.
func (s *Source) list(ctx context.Context, kind migration.QueueKind, path string) error {
	nodes, err := s.r.WithACLs().GetAll(ctx, []string{path})
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		s.Missing = append(s.Missing, path)
		return nil
	}
	n := nodes[0]
	if n.Unreadable != "" {
		return fmt.Errorf("%s: %w (%s)", path, ErrUnlisted, n.Unreadable)
	}
	names, err := s.r.Children(ctx, path)
	if err != nil {
		return err
	}
	roots := s.Queues.Roots()
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(roots, znode.Join(path, name)) })
	slices.Sort(names)
	s.Nodes = append(s.Nodes, Node{Path: path, Kind: kind, Names: names, Stat: n.Stat, ACL: n.ACL})
	return nil
}

func (s *Source) readLocks(ctx context.Context, root string) error {
	names, err := s.r.Children(ctx, root)
	if errors.Is(err, znode.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = znode.Join(root, name)
	}
	nodes, err := s.r.GetAll(ctx, paths)
	for _, n := range nodes {
		if n.Unreadable != "" {
			s.Locks = append(s.Locks, Lock{Path: n.Path, Err: errors.New(n.Unreadable)})
			continue
		}
		l, err := legacy.DecodeLock(n.Data, s.Options)
		s.Locks = append(s.Locks, Lock{Path: n.Path, Legacy: l, Err: err})
	}
	return err
}

// WithTimes returns the same source, with the records' times read in this unit.
func (s *Source) WithTimes(unit legacy.TimeChoice) *Source {
	other := *s
	other.Options.Time = unit
	return &other
}

// WithACLs returns the same source, with the records' ACLs read too.
func (s *Source) WithACLs() *Source {
	other := *s
	other.r = s.r.WithACLs()
	return &other
}

// Only returns the same source, with no other records than these.
func (s *Source) Only(records map[string]bool) *Source {
	other := *s
	other.only, other.Nodes = records, slices.Clone(s.Nodes)
	for i, n := range other.Nodes {
		other.Nodes[i].Names = slices.DeleteFunc(slices.Clone(n.Names), func(name string) bool { return !records[znode.Join(n.Path, name)] })
	}
	return &other
}

// Czxids returns the czxids of the queue nodes that are there, by path.
func (s *Source) Czxids() map[string]int64 {
	czxids := map[string]int64{}
	for _, n := range s.Nodes {
		czxids[n.Path] = n.Stat.Czxid
	}
	return czxids
}

// Len returns the number of records, as they were listed.
func (s *Source) Len() int {
	n := 0
	for _, node := range s.Nodes {
		n += len(node.Names)
	}
	return n
}

// NextNumbers returns [Node.NextNumber] of each queue node that is there, by path.
func (s *Source) NextNumbers() map[string]uint32 {
	next := map[string]uint32{}
	for _, n := range s.Nodes {
		next[n.Path] = n.NextNumber()
	}
	return next
}

// Kind returns the kind of the queue that a record is in; "" if its parent is no queue node.
func (s *Source) Kind(record string) migration.QueueKind {
	parent := znode.Parent(record)
	for _, kind := range migration.QueueKinds {
		if slices.Contains(s.Queues.Nodes[kind], parent) {
			return kind
		}
	}
	return ""
}

// Has reports whether the source had a record when it was listed.
func (s *Source) Has(record string) bool {
	parent, name := znode.Parent(record), znode.Name(record)
	for _, n := range s.Nodes {
		if n.Path == parent {
			_, there := slices.BinarySearch(n.Names, name)
			return there
		}
	}
	return false
}

// Paths yields the paths of all records, in byte order.
func (s *Source) Paths() iter.Seq[string] {
	nodes := slices.SortedFunc(slices.Values(s.Nodes), func(a, b Node) int { return cmp.Compare(a.Path, b.Path) })
	return func(yield func(string) bool) {
		for _, n := range nodes {
			for _, name := range n.Names {
				if !yield(znode.Join(n.Path, name)) {
					return
				}
			}
		}
	}
}

// InOrder yields the paths of all records in the order in which they are migrated: kind by
// kind, and within a kind as the old queue would have handed them out (docs/migration.md,
// "Order").
func (s *Source) InOrder() iter.Seq[string] {
	type place struct {
		rank       int64 // of the record's key among its kind
		node, name int32
	}
	return func(yield func(string) bool) {
		for _, kind := range migration.QueueKinds {
			var order []place
			for i, n := range s.Nodes {
				if n.Kind != kind {
					continue
				}
				for j, name := range n.Names {
					order = append(order, place{rankOf(name), int32(i), int32(j)})
				}
			}
			path := func(p place) string { return znode.Join(s.Nodes[p.node].Path, s.Nodes[p.node].Names[p.name]) }
			slices.SortFunc(order, func(a, b place) int {
				if c := cmp.Compare(a.rank, b.rank); c != 0 {
					return c
				}
				return compareTied(path(a), path(b))
			})
			for _, p := range order {
				if !yield(path(p)) {
					return
				}
			}
		}
	}
}

// Compare orders two records of one kind as the old queue would have handed them out, by their paths.
func Compare(a, b string) int {
	return cmp.Or(cmp.Compare(rankOf(znode.Name(a)), rankOf(znode.Name(b))), compareTied(a, b))
}

// compareTied orders two records whose keys have the same rank. If two nodes of a kind have
// the same key, the paths decide.
func compareTied(a, b string) int {
	keyA, _ := legacy.ParseKey(znode.Name(a))
	keyB, _ := legacy.ParseKey(znode.Name(b))
	return cmp.Or(keyA.Compare(keyB), strings.Compare(a, b))
}

// rankOf orders the names of one kind as the old queue would have handed the records out.
// A name that is no key, and so no record, comes first.
func rankOf(name string) int64 {
	key, err := legacy.ParseKey(name)
	if err != nil {
		return math.MinInt64
	}
	return key.Rank()
}

// Relist lists the same queues again, as they are now. The error is that of [OpenKnown].
func (s *Source) Relist(ctx context.Context) (*Source, error) {
	again, err := OpenKnown(ctx, s.r, s.Queues, s.Options)
	if err == nil && s.only != nil {
		again = again.Only(s.only)
	}
	return again, err
}

// Reader returns the session that reads the source.
func (s *Source) Reader() *zkconn.Reader { return s.r }
