package migration

import (
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// HoldOwner is one owner of a hold: a run, a person, or a client that did not say who it is.
type HoldOwner struct {
	By  string    `json:"by"` // a run's id, who ran mrtq hold, or [UnknownOwner]
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why,omitempty"`
}

// UnknownOwner is the owner of a hold that mrtq did not set, such as one that the admin tool
// set.
const UnknownOwner = "unknown"

// HoldOwners are the owners of a hold. The queue is held while the hold's znode exists. The
// services don't read its data; newqueue names the owners in an error.
type HoldOwners []HoldOwner

// Has reports whether by is one of the owners.
func (o HoldOwners) Has(by string) bool {
	return slices.ContainsFunc(o, func(owner HoldOwner) bool { return owner.By == by })
}

// With returns the owners and one more. An owner that is there already is replaced.
func (o HoldOwners) With(owner HoldOwner) HoldOwners {
	return append(o.Without(owner.By), owner)
}

// Without returns the owners but these.
func (o HoldOwners) Without(by ...string) HoldOwners {
	return slices.DeleteFunc(slices.Clone(o), func(owner HoldOwner) bool { return slices.Contains(by, owner.By) })
}

// Hold is a hold on a queue or on a collection.
type Hold struct {
	Path       string             `json:"path"`
	Owners     HoldOwners         `json:"owners"`
	Queue      newqueue.QueueHold `json:"-"` // "" for a hold on a collection
	Collection string             `json:"-"` // "" for a hold on a queue
	Stat       znode.Stat         `json:"-"`
}

// OfRun reports whether a run is one of the owners.
func (h Hold) OfRun() bool {
	return slices.ContainsFunc(h.Owners, func(o HoldOwner) bool { return IsRunID(o.By) })
}
