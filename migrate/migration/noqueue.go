package migration

// NoQueue is what is at an address instead of a new queue. It shows an operator that the
// address was mistyped.
type NoQueue struct {
	Missing bool     `json:"missing"` // the znode of the chroot is missing too
	Znodes  []string `json:"znodes"`  // the names of the znodes that are there, in order
	// Legacy are the znodes that are legacy queues: they hold records, or have the name of one.
	// Queues are those that hold a new queue.
	Legacy []string `json:"legacy"`
	Queues []string `json:"queues"`
}
