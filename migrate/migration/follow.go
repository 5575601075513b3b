package migration

// Fate is what becomes of a record that is in the legacy queue after its queue was released (docs/life.md, "Follow").
type Fate string

// The fates.
const (
	FateMoves Fate = "moves" // to the new queue, in one transaction
	FateWaits Fate = "waits" // for something that ends by itself
	FateStays Fate = "stays" // until somebody does something
	FateLeft  Fate = "left"  // it has no work
)

// Followed is what became of a record.
type Followed struct {
	Record string `json:"record"`
	Fate   Fate   `json:"fate"` // never [FateLeft]
	// Job is what it became, and Batch the bid of that; both are "" if it did not move, and Batch also if it is an access request.
	Job   string `json:"job,omitempty"`
	Batch string `json:"batch,omitempty"`
	Why   string `json:"why,omitempty"` // it did not move
}
