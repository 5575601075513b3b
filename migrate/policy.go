package migrate

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// Policies are the choices that only the operator can make
// (docs/migration.md, "What only you can decide").
type Policies struct {
	Consumed    string `json:"consumed"`    // block, pending or failed
	Completed   string `json:"completed"`   // migrate or skip
	Deleted     string `json:"deleted"`     // skip or migrate
	Undecodable string `json:"undecodable"` // block or quarantine
	// These matter only in dialect mrt-zk, which the deployed services read:
	InventoryRecords string `json:"inventory_records"` // block or migrate
	Unserviceable    string `json:"unserviceable"`     // block or migrate
}

// The values of [Policies].
const (
	Block      = "block"      // refuse the whole migration
	Quarantine = "quarantine" // keep the bytes in a file and go on
	Migrate    = "migrate"
	Skip       = "skip"
	AsPending  = "pending"
	AsFailed   = "failed"
)

// PolicyChoice is one policy with its allowed values. The default is first.
type PolicyChoice struct {
	Name   string
	Value  func(*Policies) *string // the field
	Values []string
}

// PolicyChoices are all policies. Callers must not change it.
var PolicyChoices = []PolicyChoice{
	{"consumed", func(p *Policies) *string { return &p.Consumed }, []string{Block, AsPending, AsFailed}},
	{"completed", func(p *Policies) *string { return &p.Completed }, []string{Migrate, Skip}},
	{"deleted", func(p *Policies) *string { return &p.Deleted }, []string{Skip, Migrate}},
	{"undecodable", func(p *Policies) *string { return &p.Undecodable }, []string{Block, Quarantine}},
	{"inventory-records", func(p *Policies) *string { return &p.InventoryRecords }, []string{Block, Migrate}},
	{"unserviceable", func(p *Policies) *string { return &p.Unserviceable }, []string{Block, Migrate}},
}

// DefaultPolicies are the defaults, which are the safe ones.
func DefaultPolicies() Policies {
	var p Policies
	for _, c := range PolicyChoices {
		*c.Value(&p) = c.Values[0]
	}
	return p
}

// Validate returns an error if a policy has an unknown value. The error names the policy
// and lists its values.
func (p Policies) Validate() error {
	for _, c := range PolicyChoices {
		if v := *c.Value(&p); !slices.Contains(c.Values, v) {
			return fmt.Errorf("policy %s: %q: want one of %s", c.Name, v, strings.Join(c.Values, ", "))
		}
	}
	return nil
}

// decision is what the policies decide about a record: [Migrate], [Skip], [Quarantine] or
// [Block].
type decision string

// initialState is the state in which a migrated record's job or request begins.
type initialState struct {
	job     newqueue.JobState    // ingest and inventory
	access  newqueue.AccessState // access
	next    newqueue.JobState    // the step that the job is ready for, "" for none; see [initialState.lastSuccessful]
	message string
	warning string
	// consumed is the policy that decided about a consumed record.
	consumed string
}

// lastSuccessful is the last_successful_status: the step whose success leads to next. Before
// recording, that is processing in dialect design and storing in mrt-zk. In mrt-zk a
// failed ingest job has pending there, as in the field's own script, so that the admin
// tool's requeue and ours both lead to estimating.
func (initial initialState) lastSuccessful(d newqueue.Dialect) newqueue.JobState {
	if d == newqueue.MrtZK && initial.job == newqueue.JobFailed && initial.next == "" {
		return newqueue.JobPending
	}
	for _, s := range d.JobStates() {
		if initial.next != "" && newqueue.Success(s, d) == initial.next {
			return s
		}
	}
	return ""
}

// initialStates is the whole rule: queue × legacy status. A consumed record has the
// initial state of the status that its policy chooses; see [decide].
//
// An inventory record is an object that is stored and not yet recorded, so its job begins
// at recording. If the record was held or failed, its job is failed. From there an
// administrator resumes it at recording. From held, the object would be ingested again.
var initialStates = map[QueueKind]map[legacy.Status]initialState{
	Ingest: {
		legacy.Pending:   {job: newqueue.JobPending},
		legacy.Held:      {job: newqueue.JobHeld},
		legacy.Failed:    {job: newqueue.JobFailed},
		legacy.Completed: {job: newqueue.JobCompleted},
		legacy.Deleted:   {job: newqueue.JobDeleted},
	},
	Inventory: {
		legacy.Pending:   {job: newqueue.JobRecording, next: newqueue.JobRecording},
		legacy.Held:      {job: newqueue.JobFailed, next: newqueue.JobRecording, message: "held in the legacy inventory queue", warning: "held in the legacy inventory queue: it becomes a failed job, which resumes at recording"},
		legacy.Failed:    {job: newqueue.JobFailed, next: newqueue.JobRecording},
		legacy.Completed: {job: newqueue.JobCompleted, next: newqueue.JobCompleted},
		legacy.Deleted:   {job: newqueue.JobDeleted, next: newqueue.JobRecording},
	},
	AccessSmall: accessInitialStates,
	AccessLarge: accessInitialStates,
}

var accessInitialStates = map[legacy.Status]initialState{
	legacy.Pending:   {access: newqueue.AccessPending},
	legacy.Held:      {access: newqueue.AccessPending, warning: "held in the legacy access queue: access requests have no held state, it becomes pending"},
	legacy.Failed:    {access: newqueue.AccessFailed},
	legacy.Completed: {access: newqueue.AccessCompleted},
	legacy.Deleted:   {access: newqueue.AccessDeleted},
}

// consumedMessage is the message of a job that is failed by policy.
const consumedMessage = "was consumed in the legacy queue when it was migrated"

// decide says what a migration does with one record. reason is "" for Migrate.
func decide(r Record, p Policies) (decided decision, initial initialState, reason string) {
	if r.Err != nil {
		// A record that can't be read has no bytes to keep.
		if p.Undecodable == Quarantine && r.Err.Kind != UnreadableRecord {
			return Quarantine, initialState{}, r.Err.Error()
		}
		return Block, initialState{}, r.Err.Error()
	}
	status := r.Legacy.Header.Status
	switch {
	case status == legacy.Completed && p.Completed == Skip:
		return Skip, initialState{}, "completed"
	case status == legacy.Deleted && p.Deleted == Skip:
		return Skip, initialState{}, "deleted"
	case status == legacy.Consumed && p.Consumed == Block:
		return Block, initialState{}, "consumed: a worker may be working on it"
	case status == legacy.Consumed && p.Consumed == AsPending:
		initial = initialStates[r.Queue][legacy.Pending]
		initial.consumed = AsPending
		return Migrate, initial, ""
	case status == legacy.Consumed:
		initial = initialStates[r.Queue][legacy.Failed]
		initial.message, initial.consumed = consumedMessage, AsFailed
		return Migrate, initial, ""
	}
	initial = initialStates[r.Queue][status]
	return Migrate, initial, ""
}
