package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// QueueKind is the kind of a legacy queue.
type QueueKind string

// The kinds of legacy queues (docs/legacy-format.md, "Where the records are").
const (
	Ingest      QueueKind = "ingest"
	Inventory   QueueKind = "inventory"
	AccessSmall QueueKind = "accessSmall"
	AccessLarge QueueKind = "accessLarge"
)

// QueueKinds are all kinds, in the order in which their records are migrated.
var QueueKinds = []QueueKind{Ingest, Inventory, AccessSmall, AccessLarge}

// Queues names the znodes of a deployment's legacy queues. A kind may have none or several:
// older sites had one ingest queue for each worker.
type Queues struct {
	Nodes map[QueueKind][]string `json:"nodes"`
	Locks []string               `json:"locks"` // their children are outstanding legacy object locks
}

// DefaultQueues are the usual names.
func DefaultQueues() Queues {
	return Queues{
		Nodes: map[QueueKind][]string{
			Ingest:      {"/ingest"},
			Inventory:   {"/mrt.inventory.full"},
			AccessSmall: {"/accessSmall.1"},
			AccessLarge: {"/accessLarge.1"},
		},
		Locks: []string{"/mrt.lock"},
	}
}

// Roots returns the paths of all queue nodes and lock nodes. Their subtrees are the legacy
// queue.
func (q Queues) Roots() []string {
	var roots []string
	for _, kind := range QueueKinds {
		roots = append(roots, q.Nodes[kind]...)
	}
	return append(roots, q.Locks...)
}

// withoutEmpty are the queues without the kinds that have none.
func (q Queues) withoutEmpty() Queues {
	out := Queues{Nodes: map[QueueKind][]string{}, Locks: q.Locks}
	for kind, nodes := range q.Nodes {
		if len(nodes) > 0 {
			out.Nodes[kind] = nodes
		}
	}
	return out
}

// Validate returns an error if ZooKeeper would refuse a path, or if a znode is given
// twice: its records would be migrated twice.
func (q Queues) Validate() error {
	seen := map[string]bool{}
	for _, root := range q.Roots() {
		if err := znode.ValidatePath(root); err != nil {
			return err
		}
		if seen[root] {
			return fmt.Errorf("queue node %s is given twice", root)
		}
		seen[root] = true
	}
	return nil
}

// Record is one znode of a legacy queue.
type Record struct {
	Path  string
	Queue QueueKind
	Data  []byte // as it was read; shared with the tree
	// Legacy is the decoded record, if Err is nil.
	Legacy legacy.Record
	Err    *legacy.Error
}

// UnreadableRecord is the kind of error of a [Record] whose data could not be read, usually
// because the credentials don't allow it. Only its path is known.
const UnreadableRecord legacy.Kind = "unreadable"

// Lock is one outstanding legacy object lock.
type Lock struct {
	Path string
	// Legacy is the decoded lock, if Err is nil.
	Legacy legacy.Lock
	Err    error
}

// Source is a legacy queue, decoded.
type Source struct {
	Queues  Queues
	Records []Record // sorted by path
	Locks   []Lock
	Missing []string // queue nodes that are not there
	Below   []string // znodes below records; a record has none
	Tree    *znode.Tree
}

// ErrNoQueues says that none of the queue nodes is in the source. Usually the chroot is
// wrong, or the nodes have other names. The error is a [*NoQueuesError].
var ErrNoQueues = errors.New("none of the legacy queue nodes is there")

// ErrUnlisted says that a queue node itself could not be read, so its records are not
// known.
var ErrUnlisted = errors.New("it can't be listed, so what is in it is not known")

// NoQueuesError says which queue nodes are missing, and what is at the top of the source
// instead. It is an [ErrNoQueues].
type NoQueuesError struct{ Missing, There []string }

// Error lists the queue nodes and what is at the top of the source instead.
func (e *NoQueuesError) Error() string {
	there := "nothing"
	if len(e.There) > 0 {
		there = "/" + strings.Join(e.There, ", /")
	}
	return fmt.Sprintf("%v: looked for %s; there is %s", ErrNoQueues, strings.Join(e.Missing, ", "), there)
}

// Is makes it an [ErrNoQueues].
func (e *NoQueuesError) Is(target error) bool { return target == ErrNoQueues }

const giveCredentials = "give credentials that may read it, or have its ACL changed; if this is a dump, make it again with them"

// ReadSource decodes every record of the queues in a tree. A bad record has an Err and does
// not stop the others. The error wraps [ErrNoQueues] or [ErrUnlisted].
func ReadSource(tree *znode.Tree, queues Queues, opt legacy.Options) (*Source, error) {
	src := &Source{Queues: queues, Tree: tree}
	for _, root := range queues.Roots() {
		if n := tree.Get(root); n != nil && n.Unreadable != "" {
			return nil, fmt.Errorf("%s: %w (%s)", root, ErrUnlisted, n.Unreadable)
		}
	}
	found := 0
	for _, kind := range QueueKinds {
		for _, root := range queues.Nodes[kind] {
			if tree.Get(root) == nil {
				src.Missing = append(src.Missing, root)
				continue
			}
			found++
			src.readQueue(kind, root, opt)
		}
	}
	if found == 0 {
		return nil, &NoQueuesError{Missing: src.Missing, There: tree.Children("/")}
	}
	for _, root := range queues.Locks {
		for _, name := range tree.Children(root) {
			src.Locks = append(src.Locks, readLock(tree.Get(znode.Join(root, name)), opt))
		}
	}
	slices.SortFunc(src.Records, func(a, b Record) int { return cmp.Compare(a.Path, b.Path) })
	return src, nil
}

func (src *Source) readQueue(kind QueueKind, root string, opt legacy.Options) {
	for _, name := range src.Tree.Children(root) {
		path := znode.Join(root, name)
		if slices.Contains(src.Queues.Roots(), path) {
			continue // a queue node below another one is not a record
		}
		src.Records = append(src.Records, decodeRecord(kind, src.Tree.Get(path), opt))
		src.Below = append(src.Below, below(src.Tree, path)...)
	}
}

// unreadable is the error of a znode that could not be read; nil if it was read.
func unreadable(n *znode.Node) *legacy.Error {
	if n.Unreadable == "" {
		return nil
	}
	return &legacy.Error{Kind: UnreadableRecord, Offset: -1, Msg: n.Unreadable}
}

func below(tree *znode.Tree, path string) []string {
	if len(tree.Children(path)) == 0 {
		return nil
	}
	return tree.Paths(path)[1:]
}
