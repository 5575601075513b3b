package newqueue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mrtq/internal/znode"
)

// The fixed znodes of the layout (docs/new-layout.md, "Paths").
const (
	BatchesPath    = "/batches"
	BatchUUIDsPath = "/batch-uuids"
	JobsPath       = "/jobs"
	JobStatesPath  = "/jobs/states"
	AccessPath     = "/access"
	LocksPath      = "/locks"
	QueueLocksPath = "/locks/queue"

	StorageLocksPath    = "/locks/storage"
	InventoryLocksPath  = "/locks/inventory"
	CollectionLocksPath = "/locks/collections"
)

// The prefixes of ids.
const (
	BatchPrefix  = "bid"
	JobPrefix    = "jid"
	AccessPrefix = "qid"
)

// SequenceID returns the name that ZooKeeper gives a sequential child: the prefix and
// the number.
func SequenceID(prefix string, n int32) string { return fmt.Sprintf("%s%010d", prefix, n) }

// ParseSequenceID is the reverse of [SequenceID]. ok is false if id has another
// form.
func ParseSequenceID(prefix, id string) (n int32, ok bool) {
	digits, found := strings.CutPrefix(id, prefix)
	if !found || len(digits) < 10 {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 32)
	n = int32(number)
	return n, err == nil && SequenceID(prefix, n) == id
}

// BatchPath returns /batches/BID.
func BatchPath(bid string) string { return BatchesPath + "/" + bid }

// BatchStatesPath returns /batches/BID/states. A batch has this node unless it is
// pending or held.
func BatchStatesPath(bid string) string { return BatchPath(bid) + "/states" }

// BatchFolderPath returns a folder of a batch's states.
func BatchFolderPath(bid string, f BatchFolder) string { return BatchStatesPath(bid) + "/" + string(f) }

// BatchEntryPath returns a job's entry in its batch.
func BatchEntryPath(bid string, f BatchFolder, jid string) string {
	return BatchFolderPath(bid, f) + "/" + jid
}

// BatchUUIDPath returns /batch-uuids/UUID, which holds the BID. A UUID is the name
// that the depositor's side gave the batch. It becomes the znode's name
// unchanged, even with blanks, percent signs and other scripts, because the
// client library does the same (Batch.batchUuidPath). Only bytes that a znode's
// name may not have are written as %XX. The library can't find such a batch: see
// [CheckBatchID].
func BatchUUIDPath(uuid string) string { return BatchUUIDsPath + "/" + escapeName(uuid) }

// CheckBatchID returns an error that wraps [ErrValue] if a batch's UUID can't be
// a znode's name. The client library can't find a batch with such a UUID.
func CheckBatchID(uuid string) error {
	if !isName(uuid) {
		return fmt.Errorf("batchID %.80q: %w: no znode can have this name", uuid, ErrValue)
	}
	return nil
}

func isName(s string) bool {
	return !strings.Contains(s, "/") && znode.ValidatePath("/"+s) == nil && s != ""
}

// escapeName writes bytes that a znode's name may not have as %XX.
func escapeName(s string) string {
	switch {
	case isName(s):
		return s
	case s == ".", s == "..":
		return strings.ReplaceAll(s, ".", "%2E")
	}
	var b strings.Builder
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		if c := s[:size]; c == "." || isName(c) {
			b.WriteString(c)
		} else {
			for i := range size {
				fmt.Fprintf(&b, "%%%02X", c[i])
			}
		}
		s = s[size:]
	}
	return b.String()
}

// JobPath returns /jobs/JID.
func JobPath(jid string) string { return JobsPath + "/" + jid }

// JobStatePath returns the queue of a state, /jobs/states/STATE. It is in lower case
// in both dialects.
func JobStatePath(s JobState) string { return JobStatesPath + "/" + string(s) }

// JobEntryPath returns a job's entry in the queue of a state, PP-JID.
func JobEntryPath(s JobState, priority int, jid string) string {
	return fmt.Sprintf("%s/%02d-%s", JobStatePath(s), priority, jid)
}

// AccessQueue is one of the two queues of access requests.
type AccessQueue string

// The access queues.
const (
	AccessSmall AccessQueue = "small"
	AccessLarge AccessQueue = "large"
)

// AccessQueues are all access queues.
var AccessQueues = []AccessQueue{AccessSmall, AccessLarge}

// Validate returns an error that wraps [ErrValue] if there is no such queue.
func (q AccessQueue) Validate() error {
	if !slices.Contains(AccessQueues, q) {
		return fmt.Errorf("queue %q: %w: expected one of %v", string(q), ErrValue, AccessQueues)
	}
	return nil
}

// AccessQueuePath returns /access/QUEUE.
func AccessQueuePath(q AccessQueue) string { return AccessPath + "/" + string(q) }

// AccessRequestPath returns /access/QUEUE/QID.
func AccessRequestPath(q AccessQueue, qid string) string { return AccessQueuePath(q) + "/" + qid }

// QueueHold is an administrator's hold on a queue, a node under /locks/queue.
type QueueHold string

// The holds on queues.
const (
	HoldIngest      QueueHold = "ingest"
	HoldAccessSmall QueueHold = "accessSmall"
	HoldAccessLarge QueueHold = "accessLarge"
)

// QueueHolds are all holds.
var QueueHolds = []QueueHold{HoldIngest, HoldAccessSmall, HoldAccessLarge}

// QueueHoldPath returns /locks/queue/HOLD. The queue is held while this node exists.
func QueueHoldPath(h QueueHold) string { return QueueLocksPath + "/" + string(h) }

// ParseJobEntry parses the name of a queue entry, PP-JID.
func ParseJobEntry(name string) (priority int, jid string, err error) {
	pp, jid, found := strings.Cut(name, "-")
	if _, ok := ParseSequenceID(JobPrefix, jid); !found || len(pp) != 2 || !ok {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: expected two digits of priority, - and a job's id", name)
	}
	n, err := ParseNumber([]byte(pp))
	if err != nil {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: its priority %w", name, err)
	}
	return int(n), jid, nil
}
