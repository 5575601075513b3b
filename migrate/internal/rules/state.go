package rules

import (
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// State is the state in which a migrated record's job or request begins.
type State struct {
	Job    newqueue.JobState    // of an ingest or inventory record's job, else ""
	Access newqueue.AccessState // of an access record's request, else ""
	// next is the step that the job is ready for, "" for none: see [State.lastSuccessful].
	next    newqueue.JobState
	Message string // in the status
	Warning string // for the operator, "" for none
}

// Name returns the state's name, in lower case.
func (s State) Name() string { return string(s.Job) + string(s.Access) }

// Unfinished reports whether a service still has to work on the job, or an administrator
// to decide about it.
func (s State) Unfinished() bool {
	return s.Job != "" && s.Job != newqueue.JobCompleted && s.Job != newqueue.JobDeleted
}

// Finished reports whether the record was finished or deleted in the legacy queue, so that no service has to work on it.
func (s State) Finished() bool {
	return s.Job == newqueue.JobCompleted || s.Job == newqueue.JobDeleted || s.Access == newqueue.AccessCompleted || s.Access == newqueue.AccessDeleted
}

// lastSuccessful is the last_successful_status: the step whose success leads to next. Before
// recording, that is processing in dialect design and storing in mrt-zk. In mrt-zk a
// failed ingest job has pending there, as CDL's migration script writes it, so that the
// admin tool's requeue and ours both lead to estimating.
func (s State) lastSuccessful(d newqueue.Dialect) newqueue.JobState {
	if d == newqueue.MrtZK && s.Job == newqueue.JobFailed && s.next == "" {
		return newqueue.JobPending
	}
	for _, step := range d.JobStates() {
		if s.next != "" && newqueue.Success(step, d) == s.next {
			return step
		}
	}
	return ""
}

// states is the rule: queue × legacy status. For a consumed or failed record the operator
// chooses the status; see [chosen].
//
// An inventory record is an object that is stored and not yet recorded, so its job begins
// at recording. If the record was held or failed, its job is failed. From there an
// administrator resumes it at recording. From held, the object would be ingested again.
var states = map[migration.QueueKind]map[legacy.Status]State{
	migration.Ingest: {
		legacy.Pending:   {Job: newqueue.JobPending},
		legacy.Held:      {Job: newqueue.JobHeld},
		legacy.Failed:    {Job: newqueue.JobFailed},
		legacy.Completed: {Job: newqueue.JobCompleted},
		legacy.Deleted:   {Job: newqueue.JobDeleted},
	},
	migration.Inventory: {
		legacy.Pending: {Job: newqueue.JobRecording, next: newqueue.JobRecording},
		legacy.Held: {Job: newqueue.JobFailed, next: newqueue.JobRecording, Message: "held in the legacy inventory queue",
			Warning: "held in the legacy inventory queue: it becomes a failed job, which resumes at recording"},
		legacy.Failed:    {Job: newqueue.JobFailed, next: newqueue.JobRecording},
		legacy.Completed: {Job: newqueue.JobCompleted, next: newqueue.JobCompleted},
		legacy.Deleted:   {Job: newqueue.JobDeleted, next: newqueue.JobRecording},
	},
	migration.AccessSmall: accessStates,
	migration.AccessLarge: accessStates,
}

var accessStates = map[legacy.Status]State{
	legacy.Pending: {Access: newqueue.AccessPending},
	legacy.Held: {Access: newqueue.AccessPending,
		Warning: "held in the legacy access queue: access requests have no held state, it becomes pending"},
	legacy.Failed:    {Access: newqueue.AccessFailed},
	legacy.Completed: {Access: newqueue.AccessCompleted},
	legacy.Deleted:   {Access: newqueue.AccessDeleted},
}

// chosen is the state of a record for which the operator chooses to be pending, held or
// failed. Only an ingest job can be held: the others become failed, since as pending they
// would run without anybody's word.
func chosen(kind migration.QueueKind, choice string) State {
	switch {
	case choice == migration.AsPending:
		return states[kind][legacy.Pending]
	case choice == migration.AsHeld && kind == migration.Ingest:
		return states[kind][legacy.Held]
	case choice == migration.AsHeld:
		s := states[kind][legacy.Failed]
		s.Warning = "only ingest jobs can be held: it becomes failed"
		return s
	}
	return states[kind][legacy.Failed]
}
