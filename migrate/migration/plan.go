package migration

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// PlanOptions are what a plan depends on, beside the two sides.
type PlanOptions struct {
	// Dialect is the dialect of the new queue. If it is "", a plan takes that of the queue
	// that the target holds. If it holds none, the plan has the problem [ProblemNoDialect].
	Dialect newqueue.Dialect `json:"-"`
	// Choices that are "" are those of the newest run; if there is none, they are the defaults.
	Choices Choices `json:"-"`
	// ACL is the ACL of every znode that a migration creates. nil is that of the newest run; if there is none, it
	// is open to all.
	ACL []znode.ACL `json:"acl"`
	// MaxBuffer is the server's jute.maxbuffer in bytes; 0 means its default.
	MaxBuffer int `json:"packet"`
	// These are the operator's explicit words. NewQueue allows to create a queue where none
	// is. Restored says that the operator knows that the target was restored from a backup.
	NewQueue bool `json:"new_queue"`
	Restored bool `json:"restored"`
	// Note is kept with the run, for people: who migrates, and why.
	Note string `json:"note,omitempty"`
	// Source and Target are names for reports. They must hold no credentials.
	Source string `json:"-"`
	Target string `json:"-"`
}

// DefaultMaxBuffer is ZooKeeper's default jute.maxbuffer: the longest request
// that a server takes, and the longest answer that a Java client takes.
const DefaultMaxBuffer = 0xfffff

// Action is what a plan does with one record.
type Action string

// The actions.
const (
	ActionCreate     Action = "create"     // it becomes a new job or access request
	ActionUnchanged  Action = "unchanged"  // it was migrated before, and has not changed
	ActionChanged    Action = "changed"    // it was migrated before, and has changed since; it is left as it is
	ActionRemoved    Action = "removed"    // it was migrated before, and its job was removed: finished and cleaned up, or deleted
	ActionSkip       Action = "skip"       // a choice leaves it out
	ActionQuarantine Action = "quarantine" // it can't be decoded; its bytes go to a file
	ActionBlock      Action = "block"      // it keeps the plan from being carried out; see the problems
)

// Actions are all actions, in the order in which tables show them.
var Actions = []Action{ActionCreate, ActionUnchanged, ActionChanged, ActionRemoved, ActionSkip, ActionQuarantine, ActionBlock}

// PlanRecord is one record's line in a plan. Every record has exactly one.
type PlanRecord struct {
	Path   string    `json:"path"`
	Queue  QueueKind `json:"queue"`
	Hash   Hash      `json:"hash"`             // the beginning of its SHA-256
	Status string    `json:"status,omitempty"` // legacy status; none if the record can't be decoded
	Action Action    `json:"action"`
	State  string    `json:"state,omitempty"` // in which its new job or request begins
	Job    string    `json:"job,omitempty"`   // the job or request that it became before
	Reason string    `json:"reason,omitempty"`
	// Batch is the batch of a new job; nil for an access request.
	Batch *PlanBatch `json:"-"`
}

// PlanBatch is a batch that a plan creates or adds jobs to.
type PlanBatch struct {
	UUID  string `json:"uuid"`         // the legacy batchID, or what the run calls its own batch
	ID    string `json:"id,omitempty"` // its bid, if it exists
	New   bool   `json:"new"`          // the plan creates it
	Adds  int    `json:"adds"`         // how many jobs the plan adds to it
	State string `json:"state"`        // in which it is then
}

// Plan is what a migration would do. A plan changes nothing.
type Plan struct {
	Run      string           `json:"run"`     // that it begins or finishes
	Resumes  bool             `json:"resumes"` // it finishes a run
	Source   string           `json:"source"`
	Target   string           `json:"target"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Choices  Choices          `json:"choices"`
	Settings Settings         `json:"settings"`
	Records  []PlanRecord     `json:"records"` // in the order in which they are migrated
	Batches  []*PlanBatch     `json:"batches"` // in the order in which the records name them
	Layout   []string         `json:"layout"`  // znodes of the layout that it creates
	Problems []Problem        `json:"problems"`
	Findings []Finding        `json:"findings"`
	Locks    []LegacyLock     `json:"locks"`   // outstanding legacy locks; they are never migrated
	Missing  []string         `json:"missing"` // legacy queue nodes that are not there
	Readers  string           `json:"readers"` // which services can read the dialect

	// Unfinished is the run that it finishes, if Resumes.
	Unfinished Run `json:"-"`
	// Quarantined are the records that can't be decoded and whose bytes are to be kept.
	Quarantined []Record `json:"-"`
	// Previous is the newest run before this plan's; nil if there is none.
	Previous *Run `json:"-"`
}

// Settings are how the source was read, and the other options that a plan was made with. Without an ACL, it is open to all.
type Settings struct {
	Queues Queues `json:"queues"`
	Time   string `json:"time"`
	PlanOptions
}

// Empty reports whether there is nothing to do. The first run, and the one after a rollback, begins without a record, too: its release lets follow
// move what comes later.
func (p *Plan) Empty() bool {
	return !p.Resumes && p.Previous != nil && p.Previous.State != RunRolledBack && p.Count(ActionCreate) == 0
}

// Blocked reports whether the plan has problems.
func (p *Plan) Blocked() bool { return len(p.Problems) > 0 }

// Count returns how many records have an action.
func (p *Plan) Count(a Action) int { return p.Counts()[a] }

// Counts returns how many records have each action.
func (p *Plan) Counts() map[Action]int {
	counts := map[Action]int{}
	for i := range p.Records {
		counts[p.Records[i].Action]++
	}
	return counts
}

// LegacyLock is an outstanding legacy object lock.
type LegacyLock struct {
	Path string `json:"path"`
	Time string `json:"time"`
	Data string `json:"data"`
	// Record is the consumed record that the lock's data names, "" if none.
	Record string `json:"record,omitempty"`
}
