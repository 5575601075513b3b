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

// Created and Removed stand in a table where a state would, before there is
// one and after the last.
const (
	Created = "create"
	Removed = "removed"
)

// Actor is who makes a transition. A worker holds the entity's ephemeral lock,
// and the transition gives it back; the others hold none, and are refused
// while a worker does.
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

// holdsLock reports whether the actor works under the entity's lock.
func (a Actor) holdsLock() bool { return a == Worker || a == BatchWorker }

// LastSuccess is what a transition does to last_successful_status.
type LastSuccess string

// The rules for last_successful_status.
const (
	LSSNull LastSuccess = "null"
	LSSSame LastSuccess = "same"
	LSSLeft LastSuccess = "left" // the state that was just left
	LSSNone LastSuccess = "–"    // there is no status any more, or it isn't touched
	// LSSBefore is the step before the one that a job fails in or goes on at;
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

// Place is what a transition does to one of the two places where a job stands
// besides /jobs/JID: its queue entry and its batch entry.
type Place string

// The rules for a place.
const (
	PlaceNew   Place = "new"
	PlaceMoves Place = "moves" // to the folder that the new state wants
	PlaceStays Place = "stays"
	PlaceGoes  Place = "goes"
)

// Nodes is what a transition leaves of the entity's own nodes.
type Nodes string

// The rules for an entity's own nodes.
const (
	NodesNew   Nodes = "new"
	NodesStay  Nodes = "stay"
	NodesGo    Nodes = "go"    // the whole subtree, and all that refers to it
	NodesAlone Nodes = "alone" // not even the status is written
)

// Transition is one row of a table: a step that an entity may make, and all
// that it does to the tree. The operations do what the row says and nothing
// else, and every step that no row allows is refused.
type Transition struct {
	ID       string // "J14": the row's number in 03-transitions
	From, To string // states as dialect design spells them; [Created], [Removed]
	Who      Actor
	// Of a job only; "" for others.
	LastSuccess LastSuccess
	Retry       Retry
	QueueEntry  Place
	BatchEntry  Place

	Nodes Nodes
	// Note says what else there is to know, in the documents' words.
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

// Next are the transitions that leave a state; none for one that is final or
// that nobody knows.
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

// Find is the transition between two states; ok is false when the dialect
// doesn't have it.
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

// Illegal are all pairs of an entity's states, a state with itself included,
// that no transition of the dialect joins.
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

// Success is the state that follows when a worker's step in a state succeeds;
// "" when a worker has nothing to do there.
func Success(s JobState, d Dialect) JobState {
	return JobState(success(tables[d][EntityJob], string(s)))
}

// success is the worker's way on: the one that leads neither to failed nor,
// for a pending job or batch, aside to held.
func success(table []Transition, from string) string {
	for _, t := range leaving(table, from) {
		if t.Who == Worker && t.To != failed && t.To != held {
			return t.To
		}
	}
	return ""
}

// stepBefore is the step whose success leads a job to a state; "" for pending,
// and for what no step leads to.
func stepBefore(s JobState, d Dialect) JobState {
	for _, before := range d.JobStates() {
		if Success(before, d) == s {
			return before
		}
	}
	return ""
}

// automatic is the step that a cleaning pass takes from a state.
func automatic(table []Transition, from string) (Transition, bool) {
	for _, t := range leaving(table, from) {
		if t.Who == Automatic {
			return t, true
		}
	}
	return Transition{}, false
}

// The states' names once more as plain strings, for the tables: job, batch and
// access request share most of the words.
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
