package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
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

// IsAccess reports whether the queue's records become access requests. The others become
// jobs.
func (k QueueKind) IsAccess() bool { return k == AccessSmall || k == AccessLarge }

// Hold returns the hold that keeps the workers away from what the queue's records become.
func (k QueueKind) Hold() newqueue.QueueHold {
	switch k {
	case AccessSmall:
		return newqueue.HoldAccessSmall
	case AccessLarge:
		return newqueue.HoldAccessLarge
	}
	return newqueue.HoldIngest
}

// AccessQueue returns the new queue of an access record.
func (k QueueKind) AccessQueue() newqueue.AccessQueue {
	if k == AccessLarge {
		return newqueue.AccessLarge
	}
	return newqueue.AccessSmall
}

// Queues names the znodes of a deployment's legacy queues. A kind may have none or several:
// older sites had one ingest queue for each worker.
type Queues struct {
	Nodes map[QueueKind][]string `json:"nodes"`
	Locks []string               `json:"locks"` // their children are outstanding legacy object locks
}

// DefaultQueues returns the usual names. The caller owns them.
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

// Changes says how other queues differ from these, whatever their order; "" if they don't.
func (q Queues) Changes(now Queues) string {
	var changes []string
	compare := func(what string, was, is []string) {
		if was, is := namesOf(was), namesOf(is); was != is {
			changes = append(changes, fmt.Sprintf("%s was %s and is now %s", what, was, is))
		}
	}
	for _, kind := range QueueKinds {
		compare(string(kind), q.Nodes[kind], now.Nodes[kind])
	}
	compare("locks", q.Locks, now.Locks)
	return strings.Join(changes, "; ")
}

func namesOf(paths []string) string {
	if len(paths) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(paths)), ",")
}

// Validate returns an error if ZooKeeper would refuse a path, or if a znode is given
// twice: its records would be migrated twice.
func (q Queues) Validate() error {
	roots := q.Roots()
	for i, root := range roots {
		if err := znode.ValidatePath(root); err != nil {
			return err
		}
		if slices.Contains(roots[:i], root) {
			return fmt.Errorf("queue node %s is given twice", root)
		}
	}
	return nil
}

// Record is one znode of a legacy queue.
type Record struct {
	Path  string
	Queue QueueKind
	Data  []byte // as it was read
	// Legacy is the decoded record, if Err is nil.
	Legacy legacy.Record
	Err    *legacy.Error
}

// Unreadable is the kind of error of a [Record] whose data could not be read, usually
// because the credentials don't allow it. Only its path is known.
const Unreadable legacy.Kind = "unreadable"

// SHA256 returns the digest of the record's bytes.
func (r Record) SHA256() [sha256.Size]byte {
	if r.Err == nil {
		return r.Legacy.SHA256
	}
	return sha256.Sum256(r.Data)
}

// Hash is the beginning of the SHA-256 of a record's data.
type Hash [8]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("%.40q is not a hash of %d hexadecimal digits", text, hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
