package newqueue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrtq/newqueue/states"
)

// Dialect is one of the two forms of the layout that are in use
// (docs/new-layout.md, "Two dialects").
type Dialect string

const (
	// Design is the published Merritt design (docs/new-layout.md).
	Design Dialect = "design"
	// MrtZK is the layout as the deployed Java and Ruby client library reads
	// and writes it.
	MrtZK Dialect = "mrt-zk"
)

// Dialects are all dialects. There is no default: the caller chooses one.
var Dialects = []Dialect{Design, MrtZK}

// ParseDialect returns the dialect with that name, design or mrt-zk. The error
// lists the names.
func ParseDialect(s string) (Dialect, error) {
	if d := Dialect(s); slices.Contains(Dialects, d) {
		return d, nil
	}
	return "", fmt.Errorf("unknown dialect %q: expected design or mrt-zk", s)
}

// stateName is a state as JSON has it: "update-reporting" or "UpdateReporting".
// An unknown state is written as it was read (see parseState).
func (d Dialect) stateName(s string, known []string) string {
	if !slices.Contains(known, s) {
		if raw, err := strconv.Unquote(s); err == nil {
			return raw
		}
		return s
	}
	if d != MrtZK {
		return s
	}
	var b strings.Builder
	for _, word := range strings.Split(s, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// parseState is the state that a name in JSON means. It keeps a name that the
// dialect doesn't have. If that name is a state of the other dialect, parseState
// quotes it, so that no caller takes it for a known state.
func (d Dialect) parseState(name string, known []string) string {
	for _, s := range known {
		if d.stateName(s, known) == name {
			return s
		}
	}
	if slices.Contains(known, name) || strings.HasPrefix(name, `"`) {
		return strconv.Quote(name)
	}
	return name
}

// mrtZKTime is the client library's time format, in Java yyyy-MM-dd HH:mm:ss Z.
const mrtZKTime = "2006-01-02 15:04:05 -0700"

// FormatTime formats a time as the dialect writes it. The zero time, which means
// unknown, becomes "".
func (d Dialect) FormatTime(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case d == MrtZK:
		return t.Format(mrtZKTime)
	}
	return t.Format(time.RFC3339Nano)
}

// ParseTime parses a time as [Dialect.FormatTime] formats it. "" is the zero time.
func (d Dialect) ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	layout := time.RFC3339Nano
	if d == MrtZK {
		layout = mrtZKTime
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %.60q: expected the format %s", s, layout)
	}
	return t, nil
}

// JobTimeKey returns the key of the time in a job's status. For a batch and an
// access request it is last_modified in both dialects.
func (d Dialect) JobTimeKey() string {
	if d == MrtZK {
		return "last_modified"
	}
	return "last_modification_date"
}

// JobStates returns the states that a job can be in, in the order of its life.
func (d Dialect) JobStates() []JobState {
	names := states.States(states.Job, string(d))
	out := make([]JobState, len(names))
	for i, s := range names {
		out[i] = JobState(s)
	}
	return out
}

// KeepsDeleted reports whether a deleted job keeps a queue entry, under
// states/deleted. In dialect design a deletion removes the entry.
func (d Dialect) KeepsDeleted() bool { return d == MrtZK }

// KeepsReports reports whether a batch keeps its last report, in status-report. The
// client library has only a name for that znode (ZKKey.BATCH_STATUS_REPORT).
func (d Dialect) KeepsReports() bool { return d != MrtZK }

// LocalIDLocksPath returns the folder of the locks on local ids.
func (d Dialect) LocalIDLocksPath() string {
	if d == MrtZK {
		return LocksPath + "/localid"
	}
	return QueueLocksPath + "/localid"
}

// IsEmptyObject reports whether data is how the dialect writes an empty object without
// JSON. The client library writes no data for an empty object, and reads no data
// as one (QueueItem.serialize and optJsonProperty).
func (d Dialect) IsEmptyObject(data []byte) bool { return d == MrtZK && len(data) == 0 }

// StartNodes returns the znodes that exist before any batch or job, parents first.
// According to the published design, a folder is created when it is needed. The
// client library creates all of them when it starts (Job.initNodes,
// Access.initNodes and MerrittLocks.initLocks) and does not check later: if the
// folder of a lock is missing, its lock methods always report that another client
// holds the lock.
func (d Dialect) StartNodes() []string {
	nodes := []string{BatchesPath, BatchUUIDsPath, JobsPath, JobStatesPath}
	if d != MrtZK {
		return nodes
	}
	for _, s := range d.JobStates() {
		nodes = append(nodes, JobStatePath(s))
	}
	nodes = append(nodes, AccessPath)
	for _, q := range AccessQueues {
		nodes = append(nodes, AccessQueuePath(q))
	}
	return append(nodes, LocksPath, QueueLocksPath, d.LocalIDLocksPath(), StorageLocksPath, InventoryLocksPath, CollectionLocksPath)
}

// Readers says which services can read a queue of the dialect; "" for an unknown one.
func (d Dialect) Readers() string {
	switch d {
	case Design:
		return "services built on the published Merritt design, such as those that use mrtq's newqueue. None of the deployed services can read it: they need dialect mrt-zk"
	case MrtZK:
		return "the deployed services: mrt-ingest, mrt-store, mrt-inventory and the Ruby admin tool"
	}
	return ""
}
