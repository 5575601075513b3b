// Package library is the code under test, as the acceptance suite sees it: a [Library] opens
// sessions, and a [Session] does what a [Request] asks and returns an [Answer] or a [Refusal]. All of
// it is data, so the code under test may be written in any language: [Start] runs a program
// that speaks these requests and answers as JSON lines (docs/drivers.md).
//
//	library.go  requests, answers and refusals
//	verbs.go    the verbs, with what each asks and answers
//	process.go  a driver: a program that answers
//	serve.go    the other side, for a driver in Go
package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/newqueue"
)

// Library is an implementation of the new queue.
type Library interface {
	// Open opens a session with ZooKeeper for one actor. Paths are below root.
	Open(ctx context.Context, root string, d newqueue.Dialect) (Session, error)
	// Capabilities says what the implementation has told of itself.
	Capabilities() Capabilities
}

// Capabilities is what an implementation says of itself.
type Capabilities struct {
	Name string // and version
	// Dialects that it can. Nil means all.
	Dialects []newqueue.Dialect
	// Clock says that it takes the time from [Request.Now]. Otherwise it uses the machine's clock.
	Clock bool
	// Strict says that it keeps the promises of newqueue that no document makes. Otherwise the scenarios about these
	// (@newqueue) are left out.
	Strict bool
	// Without are the verbs that it has nothing for, "reasons" if its refusals do not say why, and
	// "warnings" if its deletions warn of nothing.
	Without []string
}

// Session is one actor's session with ZooKeeper.
type Session interface {
	// ID is ZooKeeper's id of the session. It owns the locks of the actor.
	ID() int64
	// Do does what a request asks. The error is a *[Refusal] if the implementation has refused; it wraps
	// [ErrLost] if the connection to ZooKeeper broke, or is a *[DriverError] if the driver has not
	// answered as it should.
	Do(ctx context.Context, r Request) (Answer, error)
	// End ends the session on the server, as if the client had died and its timeout had passed. It is called once.
	End() error
}

// Docs are the documents that a request has, by the names of the znodes that will hold them: an object
// of the layout, a number or a text.
type Docs map[string]any

// Request is what an actor asks. States are spelled as dialect design spells them, and documents as the
// dialect of the session does.
type Request struct {
	Verb string `json:"verb"`           // see [Verbs]
	What string `json:"what,omitempty"` // the kind of item, or of lock
	// Item is the path of a job, a batch or a request.
	Item    string `json:"item,omitempty"`
	From    string `json:"from,omitempty"` // states; "" means any
	To      string `json:"to,omitempty"`
	Message string `json:"message,omitempty"`
	Name    string `json:"name,omitempty"`  // of a lock, or of a queue of requests: small or large
	Owner   string `json:"owner,omitempty"` // of a local id
	Room    int64  `json:"room,omitempty"`  // bytes
	Docs    Docs   `json:"docs,omitempty"`
	Jobs    []Docs `json:"jobs,omitempty"` // of each job to create
	// Now is the time, for an implementation that takes it.
	Now time.Time `json:"now,omitzero"`
}

// Answer is what an implementation answers if it has done what was asked. Each verb has its own
// fields: see [Verbs].
type Answer struct {
	Item       string   `json:"item,omitempty"`         // the path of what was acquired
	Profile    string   `json:"profile_name,omitempty"` // of what was acquired
	Identifier string   `json:"primary_id,omitempty"`   // of the job that was acquired
	IDs        []string `json:"ids,omitempty"`          // of what was created, or cleaned up
	Warnings   []string `json:"warnings,omitempty"`
	Looked     []string `json:"looked,omitempty"` // the ids of the jobs that were looked at
	Yes        bool     `json:"yes,omitempty"`    // the lock is taken; the watch has fired
	Report     *Report  `json:"report,omitempty"`
}

// Report is what a batch's report lists: ids of jobs.
type Report struct {
	NewlyCompleted []string `json:"newly_completed"`
	NewlyFailed    []string `json:"newly_failed"`
	StillFailed    []string `json:"still_failed"`
	Resumed        []string `json:"resumed"`
	Changed        bool     `json:"changed"` // there is something to send
}

// RefusalKind says why something was refused.
type RefusalKind string

// The kinds: see [RefusalKinds]. The last three never are what a scenario expects.
const (
	Locked        RefusalKind = "locked"
	NotLocked     RefusalKind = "not-locked"
	Held          RefusalKind = "held"
	None          RefusalKind = "none"
	State         RefusalKind = "state"
	NotResumable  RefusalKind = "not-resumable"
	Processing    RefusalKind = "processing"
	HasJobs       RefusalKind = "has-jobs"
	Exists        RefusalKind = "exists"
	NotProcessing RefusalKind = "not-processing"
	Priority      RefusalKind = "priority"
	Value         RefusalKind = "value"
	Conflict      RefusalKind = "conflict"
	Unsupported   RefusalKind = "unsupported"
	Lost          RefusalKind = "lost"
	Other         RefusalKind = "other"
)

// RefusalKinds are all kinds, with what each means.
var RefusalKinds = []struct {
	Kind  RefusalKind
	Means string
}{
	{Locked, "somebody else holds a lock that the caller must take or respect"},
	{NotLocked, "the caller does not hold the lock; also an administrator who asks for a step that is a worker's, even while a worker holds the lock"},
	{Held, "the queue is held"},
	{None, "there is nothing to acquire"},
	{State, "no transition leads there, or `from` is not the state of the item: with `from`, `to`, and `allowed`, the states that can follow, in any order"},
	{NotResumable, "no step of the job has succeeded yet"},
	{Processing, "the batch has unfinished jobs"},
	{HasJobs, "the batch already has jobs"},
	{Exists, "there already is a batch with that UUID"},
	{NotProcessing, "only a batch that is processing takes jobs"},
	{Priority, "a priority has two digits"},
	{Value, "the layout does not allow the value"},
	{Conflict, "another client changed it first"},
	{Unsupported, "the implementation has nothing that does this: the scenario is not offered"},
	{Lost, "the connection to ZooKeeper broke"},
	{Other, "anything else"},
}

// Refusal says that an implementation has refused a request. Nothing was written.
type Refusal struct {
	Kind    RefusalKind `json:"kind"`
	From    string      `json:"from,omitempty"` // this and the next two: of a step that is none
	To      string      `json:"to,omitempty"`
	Allowed []string    `json:"allowed,omitempty"`
	Text    string      `json:"text,omitempty"` // for people
}

// Error returns the text, or else the kind.
func (r *Refusal) Error() string {
	return cmp.Or(r.Text, string(r.Kind))
}

// Is reports whether a refusal is of the same kind, or wraps [ErrLost].
func (r *Refusal) Is(target error) bool {
	return r.Kind == Lost && target == ErrLost
}

// ErrLost says that the connection of the code under test to ZooKeeper broke.
var ErrLost = errors.New("the connection was lost")

// Role is a kind of actor. Each can have an implementation of its own.
type Role string

// The roles.
const (
	Worker        Role = "worker"
	Administrator Role = "administrator"
	API           Role = "API"     // takes submissions and requests
	Watcher       Role = "watcher" // waits for the last job of a batch
	CleaningPass  Role = "pass"    // cleans up, and repairs
)

// Roles are all roles.
var Roles = []Role{Worker, Administrator, API, Watcher, CleaningPass}

// RoleOf returns the role of an actor by its name in a scenario, such as "other worker".
func RoleOf(actor string) Role {
	i := slices.IndexFunc(Roles, func(r Role) bool { return strings.Contains(actor, string(r)) })
	if i < 0 {
		panic(fmt.Sprintf("no role of %q", actor)) // the names are those of steps
	}
	return Roles[i]
}
