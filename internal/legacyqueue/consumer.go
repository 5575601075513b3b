package legacyqueue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Consumer is a worker of a legacy queue. It works as cdl-zk-queue's
// DistributedQueue does (orderedChildren, doesWorkerMatch, isHighPriority). It
// reads names in the same way, and does not use package legacy.
type Consumer struct {
	// Worker is the worker's digit in the names of the records that it takes.
	// "" means "0", as in the library's consume() without arguments, which the
	// consumers of the inventory and access queues call. Names there have no such
	// digit: the second one of their number is in its place.
	Worker string
	// HighPriority takes only those that are flagged as high priority. Each
	// ingest worker ran a second consumer that did this.
	HighPriority bool
}

// flagAt is where the names of the ingest queue, mrtQ-PPHW…, have the flag for
// high priority. The worker's digit comes next.
const (
	prefix = "mrtQ-"
	flagAt = len(prefix) + 2
)

// Candidates returns the names of records that this consumer may take, in the order in
// which it looks at them: as a number, what follows the prefix. It skips names without
// one.
func (c Consumer) Candidates(names []string) []string {
	return slices.DeleteFunc(walk(names), func(name string) bool { return !c.takes(name) })
}

func (c Consumer) takes(name string) bool {
	if len(name) < flagAt+2 {
		return false // the library's substring call throws, and it treats that as no match
	}
	return name[flagAt+1:flagAt+2] == cmp.Or(c.Worker, "0") && (!c.HighPriority || name[flagAt] == '1')
}

// walk is the order in which a consumer looks at a queue's children. It takes
// everything after the prefix as a number, and skips names without one.
func walk(names []string) []string {
	type numbered struct {
		name   string
		number int64
	}
	found := make([]numbered, 0, len(names))
	for _, name := range names {
		suffix, ok := strings.CutPrefix(name, prefix)
		if n, err := strconv.ParseInt(suffix, 10, 64); ok && err == nil {
			found = append(found, numbered{name, n})
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	order := make([]string, len(found))
	for i, f := range found {
		order[i] = f.name
	}
	return order
}
