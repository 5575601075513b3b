package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// LegacyQueue is a legacy queue, read record by record. Only the records' names are in
// memory.
type LegacyQueue struct {
	Queues  Queues
	Locks   []Lock
	Missing []string // queue nodes that are not there
	There   []string // if any is missing: the znodes at the top

	side  side.Side
	opt   legacy.Options
	nodes []queueNode            // the queue nodes that are there
	kinds map[string]QueueKind   // of these nodes, by path
	roots map[string]*znode.Node // queue and lock nodes that are there, by path
	lists map[string]listLength  // of their children, by path
	locks []znode.Node           // the outstanding locks, with what is below them
	// vanished are records that were listed and then could not be found.
	vanished map[string]bool
}

// listLength is how long a list of children is.
type listLength struct {
	children int
	bytes    int // of names, as jute writes them
}

func (l *listLength) add(name string) {
	l.children++
	l.bytes += 4 + len(name)
}

// queueNode is one znode whose children are records.
type queueNode struct {
	path  string
	names []ref // of the records, in byte order
	texts *names
}

// OpenLegacyQueue lists the records of the queues, and reads the locks. The error
// wraps [ErrNoQueues] or [ErrUnlisted].
func OpenLegacyQueue(ctx context.Context, s side.Side, queues Queues, opt legacy.Options) (*LegacyQueue, error) {
	q := &LegacyQueue{Queues: queues, side: s, opt: opt, kinds: map[string]QueueKind{}, roots: map[string]*znode.Node{},
		lists: map[string]listLength{}, vanished: map[string]bool{}}
	for _, root := range queues.Roots() {
		n, err := s.Get(ctx, root)
		switch {
		case errors.Is(err, znode.ErrNoNode):
			continue
		case err != nil:
			return nil, err
		case n.Unreadable != "":
			return nil, fmt.Errorf("%s: %w (%s)", root, ErrUnlisted, n.Unreadable)
		}
		q.roots[root] = &n
	}
	for _, kind := range QueueKinds {
		for _, root := range queues.Nodes[kind] {
			if err := q.list(ctx, kind, root); err != nil {
				return nil, err
			}
		}
	}
	if len(q.Missing) > 0 {
		there, _ := s.Children(ctx, "/") // for messages alone
		for _, name := range there {
			q.There = append(q.There, "/"+name)
		}
		if len(q.nodes) == 0 {
			return nil, &NoQueuesError{Missing: q.Missing, There: there}
		}
	}
	for _, root := range queues.Locks {
		if err := q.readLocks(ctx, root); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// list notes the names of a queue node's records. A queue node below another queue node
// is not a record.
func (q *LegacyQueue) list(ctx context.Context, kind QueueKind, root string) error {
	names, err := q.children(ctx, root)
	if errors.Is(err, znode.ErrNoNode) {
		q.Missing = append(q.Missing, root)
		return nil
	}
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(q.Queues.Roots(), znode.Join(root, name)) })
	node := queueNode{path: root, names: make([]ref, len(names)), texts: newNames()}
	for i, name := range names {
		node.names[i] = node.texts.ref(name)
	}
	q.nodes, q.kinds[root] = append(q.nodes, node), kind
	return nil
}

// children lists the children of a queue node or a lock node that is there.
func (q *LegacyQueue) children(ctx context.Context, root string) ([]string, error) {
	if q.roots[root] == nil {
		return nil, fmt.Errorf("%s: %w", root, znode.ErrNoNode)
	}
	names, err := q.side.Children(ctx, root)
	var l listLength
	for _, name := range names {
		l.add(name)
	}
	q.lists[root] = l
	return names, err
}

func (q *LegacyQueue) readLocks(ctx context.Context, root string) error {
	names, err := q.children(ctx, root)
	if errors.Is(err, znode.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	paths := func(yield func(string) bool) {
		for _, name := range names {
			if !yield(znode.Join(root, name)) {
				return
			}
		}
	}
	for sub, err := range q.side.Subtrees(ctx, paths) {
		if err != nil {
			return err
		}
		if !sub.Missing() {
			q.Locks = append(q.Locks, readLock(&sub.Nodes[0], q.opt))
			q.locks = append(q.locks, sub.Nodes...)
		}
	}
	return nil
}

func readLock(n *znode.Node, opt legacy.Options) Lock {
	if err := unreadable(n); err != nil {
		return Lock{Path: n.Path, Err: err}
	}
	l, err := legacy.DecodeLock(n.Data, opt)
	return Lock{Path: n.Path, Legacy: l, Err: err}
}

// Len is the number of records, as they were listed.
func (q *LegacyQueue) Len() int {
	n := 0
	for _, node := range q.nodes {
		n += len(node.names)
	}
	return n
}

// Paths yields the paths of all records in byte order.
func (q *LegacyQueue) Paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range listRecords(q).inPathOrder() {
			if !yield(path) {
				return
			}
		}
	}
}

// record is the path of a record, "" after the last.
func (n queueNode) record(i int) string {
	if i >= len(n.names) {
		return ""
	}
	return znode.Join(n.path, n.name(i))
}

func (n queueNode) name(i int) string { return n.texts.text(n.names[i]) }

// find returns the index of a record's name.
func (n queueNode) find(name string) (i int, there bool) {
	r, known := n.texts.find(name)
	if !known {
		return 0, false
	}
	return slices.BinarySearchFunc(n.names, r, n.texts.compare)
}

// has reports whether a record is there.
func (q *LegacyQueue) has(path string) bool {
	parent, name := znode.Parent(path), znode.Name(path)
	for _, n := range q.nodes {
		if n.path == parent {
			_, there := n.find(name)
			return there && !q.vanished[path]
		}
	}
	return false
}

// Records reads and decodes the records in path order. A bad record has an Err. A record
// that has been removed since it was listed is left out.
func (q *LegacyQueue) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		report, read, total := phases(ctx), 0, q.Len()
		report(ReadingSource, 0, total)
		for f, err := range q.fetch(ctx, q.Paths()) {
			read++
			report(ReadingSource, read, total)
			if err != nil {
				yield(Record{}, err)
				return
			}
			if f.there() && !yield(f.Record, nil) {
				return
			}
		}
	}
}

// fetched is a record as it was read, with what lies below it.
type fetched struct {
	Record
	nodes []znode.Node // the record's own znode first; none if it is not there
}

func (f fetched) there() bool { return len(f.nodes) > 0 }

// decodeWindow is how many records are decoded together, on all cores.
const decodeWindow = 128

// fetch reads and decodes the records at paths, in their order.
func (q *LegacyQueue) fetch(ctx context.Context, paths iter.Seq[string]) iter.Seq2[fetched, error] {
	return func(yield func(fetched, error) bool) {
		var window []fetched
		flush := func() bool {
			q.decodeAll(window)
			for _, f := range window {
				if !f.there() {
					q.vanished[f.Path] = true
				}
				if !yield(f, nil) {
					return false
				}
			}
			window = window[:0]
			return true
		}
		for sub, err := range q.side.Subtrees(ctx, paths) {
			if err != nil {
				if flush() {
					yield(fetched{}, err)
				}
				return
			}
			window = append(window, fetched{Record: Record{Path: sub.Root, Queue: q.kinds[znode.Parent(sub.Root)]}, nodes: sub.Nodes})
			if len(window) == decodeWindow && !flush() {
				return
			}
		}
		flush()
	}
}

// decodeAll decodes the records of a window, on all cores.
func (q *LegacyQueue) decodeAll(window []fetched) {
	var cores sync.WaitGroup
	each := max(1, (len(window)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(window, each) {
		cores.Go(func() {
			for i := range part {
				if f := &part[i]; f.there() {
					f.Record = decodeRecord(f.Queue, &f.nodes[0], q.opt)
				}
			}
		})
	}
	cores.Wait()
}

// decodeRecord decodes one znode of a legacy queue.
func decodeRecord(kind QueueKind, n *znode.Node, opt legacy.Options) Record {
	r := Record{Path: n.Path, Queue: kind, Data: n.Data}
	if r.Err = unreadable(n); r.Err != nil {
		return r
	}
	rec, err := legacy.Decode(znode.Name(n.Path), r.Data, opt)
	if err == nil {
		r.Legacy = rec
	} else if !errors.As(err, &r.Err) {
		r.Err = &legacy.Error{Kind: legacy.BadPayload, Offset: -1, Err: err}
	}
	return r
}
