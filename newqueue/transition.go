package newqueue

import (
	"fmt"
	"slices"
)

// Entity is what has a state.
type Entity string

// The entities. Each has one table of transitions a dialect.
const (
	EntityJob    Entity = "job"
	EntityBatch  Entity = "batch"
	EntityAccess Entity = "access"
)

// Entities are all entities, in the order of the documents.
var Entities = []Entity{EntityJob, EntityBatch, EntityAccess}

// Created and Removed take the place of a state in a table: Created before the
// first state, Removed after the last.
const (
	Created = "create"
	Removed = "removed"
)

// Actor is who makes a transition. A worker holds the entity's ephemeral lock,
// and the transition releases it. The others hold no lock, and are refused while
// a worker holds it.
type Actor string

// The actors.
const (
	API         Actor = "API"          // the service that takes submissions
	BatchWorker Actor = "batch worker" // makes a batch's jobs while it holds the batch's lock
	Worker      Actor = "worker"
	Event       Actor = "event" // the watch on a batch's jobs
	Admin       Actor = "admin"
	Automatic   Actor = "automatic" // a cleaning pass
)

// holdsLock reports whether the actor holds the entity's lock.
func (a Actor) holdsLock() bool { return a == Worker || a == BatchWorker }

// LastSuccess is what a transition does to last_successful_status.
type LastSuccess string

// The rules for last_successful_status.
const (
	LSSNull LastSuccess = "null"
	LSSSame LastSuccess = "same"
	LSSLeft LastSuccess = "old state" // the state that the job leaves
	LSSNone LastSuccess = "–"         // the status is removed, or not written
	// LSSBefore is the step before the one that a job fails in or is resumed at;
	// null when there is none.
	LSSBefore LastSuccess = "step before"
)

// Retry is what a transition does to retry_count.
type Retry string

// The rules for retry_count.
const (
	RetryZero Retry = "0"
	RetrySame Retry = "same"
	RetryNext Retry = "+1"
	RetryNone Retry = "–"
)

// Place is what a transition does to one of a job's two entries: its queue entry
// and its batch entry.
type Place string

// The rules for an entry.
const (
	PlaceNew   Place = "created"
	PlaceMoves Place = "moves" // to the folder of the new state
	PlaceStays Place = "stays"
	PlaceGoes  Place = "removed"
)

// Nodes is what a transition does to the entity's own nodes.
type Nodes string

// The rules for an entity's own nodes.
const (
	NodesNew   Nodes = "created"
	NodesStay  Nodes = "stay"
	NodesGo    Nodes = "removed"   // the whole subtree, and everything that refers to it
	NodesAlone Nodes = "unchanged" // not even the status is written
)

// Transition is one row of a table: a step from one state to another, and
// everything that it does to the tree. The operations do what the row says and
// nothing else. A step that is in no row is refused.
type Transition struct {
	ID       string // "J14": the row's number in docs/transitions.md
	From, To string // states as dialect design spells them; [Created], [Removed]
	Who      Actor
	// Of a job only; "" for others.
	LastSuccess LastSuccess
	Retry       Retry
	QueueEntry  Place
	BatchEntry  Place

	Nodes Nodes
	// Note says what else there is to know.
	Note string
}

func (t Transition) String() string { return fmt.Sprintf("%s %s → %s", t.ID, t.From, t.To) }

// Transitions is the table of an entity in a dialect, in the order of the
// documents. The caller owns the slice.
func Transitions(e Entity, d Dialect) []Transition { return slices.Clone(tables[d][e]) }

// tables holds every table.
var tables = map[Dialect]map[Entity][]Transition{
	Design: {EntityJob: jobsDesign, EntityBatch: batchesDesign, EntityAccess: accessesDesign},
	MrtZK:  {EntityJob: jobsMrtZK, EntityBatch: batchesMrtZK, EntityAccess: accessesMrtZK},
}

// States are the states of an entity that a dialect's table names, in the
// order of its life, without [Created] and [Removed].
func States(e Entity, d Dialect) []string {
	switch e {
	case EntityJob:
		return names(d.JobStates()...)
	case EntityBatch:
		return slices.Clone(batchNames)
	case EntityAccess:
		return slices.Clone(accessNames)
	}
	return nil
}

// Next are the transitions out of a state. There are none for a final or an
// unknown state.
func Next(e Entity, d Dialect, from string) []Transition {
	return leaving(tables[d][e], from)
}

func leaving(table []Transition, from string) []Transition {
	var out []Transition
	for _, t := range table {
		if t.From == from {
			out = append(out, t)
		}
	}
	return out
}

// Find is the transition between two states. ok is false if the dialect has none.
func Find(e Entity, d Dialect, from, to string) (t Transition, ok bool) {
	return find(tables[d][e], from, to)
}

func find(table []Transition, from, to string) (Transition, bool) {
	for _, t := range table {
		if t.From == from && t.To == to {
			return t, true
		}
	}
	return Transition{}, false
}

// Pair is two states of one entity.
type Pair struct{ From, To string }

// Illegal are all pairs of an entity's states between which the dialect has no
// transition. A state and itself are a pair, too.
func Illegal(e Entity, d Dialect) []Pair {
	var out []Pair
	states := States(e, d)
	for _, from := range states {
		for _, to := range states {
			if _, ok := Find(e, d, from, to); !ok {
				out = append(out, Pair{from, to})
			}
		}
	}
	return out
}

// Success is the state that follows when a worker succeeds in a state. It is ""
// if a worker has nothing to do there.
func Success(s JobState, d Dialect) JobState {
	return JobState(success(tables[d][EntityJob], string(s)))
}

// success is the worker's transition that leads neither to failed nor, for a
// pending job or batch, to held.
func success(table []Transition, from string) string {
	for _, t := range leaving(table, from) {
		if t.Who == Worker && t.To != failed && t.To != held {
			return t.To
		}
	}
	return ""
}

// stepBefore is the step whose success leads a job to a state. It is "" for
// pending, and for a state that no step leads to.
func stepBefore(s JobState, d Dialect) JobState {
	for _, before := range d.JobStates() {
		if Success(before, d) == s {
			return before
		}
	}
	return ""
}

// automatic is the transition that a cleaning pass makes out of a state.
func automatic(table []Transition, from string) (Transition, bool) {
	for _, t := range leaving(table, from) {
		if t.Who == Automatic {
			return t, true
		}
	}
	return Transition{}, false
}

// The states' names again as plain strings, for the tables: jobs, batches and
// access requests share most of them.
const (
	pending         = string(JobPending)
	held            = string(JobHeld)
	estimating      = string(JobEstimating)
	provisioning    = string(JobProvisioning)
	downloading     = string(JobDownloading)
	processing      = string(JobProcessing)
	storing         = string(JobStoring)
	recording       = string(JobRecording)
	notify          = string(JobNotify)
	reporting       = string(BatchReporting)
	updateReporting = string(BatchUpdateReporting)
	completed       = string(JobCompleted)
	failed          = string(JobFailed)
	deleted         = string(JobDeleted)
)
