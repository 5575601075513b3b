package follow

import (
	"fmt"

	"mrtq/newqueue"
)

// Batch is what is known of a batch that has a name.
type Batch struct {
	// Used says that a run or another client has given the name to a batch, which may be gone.
	Used bool
	// ID is its bid; "" if it is not there. Of is the batchID of its records.
	ID, Of string
	State  newqueue.BatchState
	// Locked says that a session has it.
	Locked bool
	// Unfinished is how many entries of unfinished jobs it has. Witness is one that the look before saw, too; "" if there is none. While it is
	// there, no reporter can have found the batch finished.
	Unfinished int
	Witness    string
}

// Placement says where the job of a record goes.
type Placement string

// The placements.
const (
	New       Placement = "a new batch of this name"
	Add       Placement = "this batch"
	LookAgain Placement = "this batch, if the next look finds it as it is"
	NextName  Placement = "the next name"
)

// Place returns where the jobs of a batchID's records go, if the batch of one of its names is this (docs/life.md, "Follow"). The
// transaction checks what it relies on.
func (b Batch) Place(batchID string) Placement {
	switch {
	case !b.Used:
		return New
	case b.ID == "", b.Of != batchID, b.State != newqueue.BatchProcessing, b.Locked, b.Unfinished == 0:
		return NextName
	case b.Witness == "":
		return LookAgain
	}
	return Add
}

// Name is the n-th name of a batch, counted from 1: NAME, NAME-2, NAME-3. No name is used twice: a cleanup that was killed removes the name of
// a batch after the batch itself, and so would remove it from another one.
func Name(batchID string, n int) string {
	if n == 1 {
		return batchID
	}
	return fmt.Sprintf("%s-%d", batchID, n)
}
