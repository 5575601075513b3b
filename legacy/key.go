package legacy

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	keyPrefix = "mrtQ-"

	// Widths of the parts after the prefix (docs/legacy-format.md, "The key").
	priorityWidth = 2
	flagWidth     = 1
	workerWidth   = 1
	sequenceWidth = 10 // %010d, which does not cut a sign and ten digits
)

// Key is a record's znode name: mrtQ-, the priority, perhaps a high-priority flag, perhaps
// a worker, and ZooKeeper's sequence number.
type Key struct {
	Priority     int    // 0 to 99, 0 first
	Flagged      bool   // has a high-priority flag, as ingest's keys have since May 2023
	HighPriority bool   // the flag; false without one
	Worker       string // the owning ingest worker, one digit, "0" when unknown; "" in a key without one
	Sequence     int32  // ZooKeeper's number; negative once its signed counter has wrapped
}

// ParseKey reads the last element of a record's path. Every error is an [*Error]
// of kind [BadKey]. [Key.String] gives the same name back.
//
// How many characters come before the sequence decides which form it is. The sequence has ten, or
// eleven with a sign.
func ParseKey(name string) (Key, error) {
	bad := func(format string, a ...any) (Key, error) {
		return Key{}, &Error{Kind: BadKey, Offset: noOffset, Msg: fmt.Sprintf("name %.100q ", name) + fmt.Sprintf(format, a...)}
	}
	rest, ok := strings.CutPrefix(name, keyPrefix)
	if !ok {
		return bad("doesn't begin with %q", keyPrefix)
	}
	var k Key
	head := len(rest) - sequenceWidth
	if sign := head - 1; sign >= priorityWidth && rest[sign] == '-' {
		head = sign
	}
	switch head {
	case priorityWidth:
	case priorityWidth + flagWidth, priorityWidth + flagWidth + workerWidth:
		k.Flagged = true
	default:
		return bad("has %d characters after %q: expected 14 or 13 digits (ingest), or 12 (inventory, access, old ingest)", len(rest), keyPrefix)
	}
	if i := strings.IndexFunc(rest[:head], func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		return bad("has %q where a digit should be", rest[i:i+1])
	}
	k.Priority = int(rest[0]-'0')*10 + int(rest[1]-'0')
	if k.Flagged {
		switch rest[2] {
		case '0':
		case '1':
			k.HighPriority = true
		default:
			return bad("has high-priority flag %q: expected 0 or 1", rest[2:3])
		}
		k.Worker = rest[priorityWidth+flagWidth : head]
	}
	sequence, err := strconv.ParseInt(rest[head:], 10, 32)
	if err != nil {
		return bad("has sequence %q: expected ZooKeeper's %%010d of a signed 32-bit number", rest[head:])
	}
	k.Sequence = int32(sequence)
	if k.String() != name { // "+1", "-0", or a width that %010d doesn't print
		return bad("has sequence %q: ZooKeeper writes that number as %q", rest[head:], fmt.Sprintf("%010d", k.Sequence))
	}
	return k, nil
}

// String returns the name, byte for byte as [ParseKey] read it.
func (k Key) String() string {
	flag := ""
	if k.Flagged {
		flag = "0"
		if k.HighPriority {
			flag = "1"
		}
	}
	return fmt.Sprintf(keyPrefix+"%02d%s%s%010d", k.Priority, flag, k.Worker, k.Sequence)
}

// Skipped reports whether the legacy consumer skipped this record every time,
// because it couldn't parse the sign of a wrapped sequence.
func (k Key) Skipped() bool { return k.Sequence < 0 }

// number is everything after the prefix, as the legacy consumer reads it. It
// means nothing when the key is skipped.
func (k Key) number() int64 {
	n := int64(k.Priority)
	if k.Flagged {
		n *= 10
		if k.HighPriority {
			n++
		}
	}
	if k.Worker != "" {
		n = n*10 + int64(k.Worker[0]-'0')
	}
	return n*1e10 + int64(k.Sequence)
}

// Rank returns a number that a sort can use before [Key.Compare]: if two keys have
// different ranks, the key with the lower rank comes first. Keys with equal ranks
// can differ in Compare.
func (k Key) Rank() int64 {
	if k.Skipped() {
		return math.MaxInt64
	}
	return k.number()
}

// Compare orders keys as the legacy queue hands out its records. A legacy
// consumer reads everything after the prefix as one number
// (docs/legacy-format.md, "The key"; orderedChildren of cdl-zk-queue's
// DistributedQueue, a TreeMap of Long). So the order is: priority,
// high-priority flag, worker, sequence.
//
// A consumer takes the first pending record that it may take. An ingest worker
// takes the records with its digit, and its second consumer takes only those of
// high priority (consume, doesWorkerMatch, isHighPriority). So the records of one
// consumer are in this order. Between the records of two workers the legacy queue
// had no order.
//
// Keys that every consumer skips come last. They are sorted by what is before the
// sequence, and then by the sequence as an unsigned number, which is the order in
// which ZooKeeper gave it out. Compare is 0 for equal keys only.
func (k Key) Compare(l Key) int {
	if k.Skipped() != l.Skipped() {
		if k.Skipped() {
			return 1
		}
		return -1
	}
	if c := cmp.Compare(k.number(), l.number()); c != 0 {
		return c
	}
	// Two forms can name one number, differing only in leading zeros.
	return cmp.Compare(k.String(), l.String())
}
