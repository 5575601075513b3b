package migration

import (
	"time"

	"mrtq/newqueue"
)

// LegacyActivity is what shows that a legacy worker may be at work: a consumed record, or a lock. A worker that died leaves
// these for ever, and nothing in ZooKeeper tells it from one that works for an hour. After a rollback it is also a record
// that waits, because the legacy workers have the work again.
type LegacyActivity struct {
	Path  string             `json:"path"`
	What  ActivityKind       `json:"what"`
	Since time.Time          `json:"since,omitzero"`
	Queue newqueue.QueueHold `json:"queue"`
}

// ActivityKind is how a record or lock shows that a worker may be at work.
type ActivityKind string

// The ways.
const (
	ActivityConsumed ActivityKind = "consumed" // a record is
	ActivityLocked   ActivityKind = "locked"   // an object is
	ActivityWaiting  ActivityKind = "waiting"  // a pending record does
)
