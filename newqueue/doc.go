// Package newqueue is the new queue: a tree of batches, jobs, access requests
// and locks in ZooKeeper.
//
// The layout (02-new-layout, "Paths") is in paths.go, the states in state.go,
// the two spellings of one layout in dialect.go, and what the znodes hold in
// content.go. A batch holds jobs; a job stands in three places at once, and a
// worker finds it by the third:
//
//	/jobs/JID                                 what it is, and its status
//	/batches/BID/states/batch-processing/JID  what its batch still waits for
//	/jobs/states/pending/PP-JID               the queue of its state, by priority
package newqueue
