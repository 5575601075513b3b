package states

import "slices"

// Entity is a kind of thing that has a state.
type Entity string

// The entities.
const (
	Job    Entity = "job"
	Batch  Entity = "batch"
	Access Entity = "access"
)

// Entities are all entities, in the order of the published design.
var Entities = []Entity{Job, Batch, Access}

// Created and Removed stand for a state in a table: Created is before the first
// state, Removed after the last.
const (
	Created = "create"
	Removed = "removed"
)

// The states' names. Jobs, batches and access requests share most of them.
const (
	Pending         = "pending"
	Held            = "held"
	Estimating      = "estimating"
	Provisioning    = "provisioning"
	Downloading     = "downloading"
	Processing      = "processing"
	Storing         = "storing"
	Recording       = "recording"
	Notify          = "notify"
	Reporting       = "reporting"
	UpdateReporting = "update-reporting"
	Failed          = "failed"
	Completed       = "completed"
	Deleted         = "deleted"
)

// lives are the states of each entity in either dialect, in the order of its
// life.
var lives = map[Entity][]string{
	Job: {Pending, Held, Estimating, Provisioning, Downloading, Processing, Storing, Recording, Notify,
		Failed, Completed, Deleted},
	Batch:  {Pending, Held, Processing, Reporting, UpdateReporting, Completed, Failed, Deleted},
	Access: {Pending, Processing, Completed, Failed, Deleted},
}

// All returns the states that an entity has in either dialect, in the order of its
// life. The caller owns the slice.
func All(e Entity) []string { return slices.Clone(lives[e]) }
