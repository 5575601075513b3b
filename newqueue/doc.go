// Package newqueue is the vocabulary of the new queue: the paths and ids of its
// znodes, the states of batches, jobs and access requests, its two dialects, and the
// documents that znodes hold. It does no I/O. Package client stands on it, and so does
// everything else that reads or writes such a tree.
//
// A batch holds jobs. A job has three places in the tree, and a worker finds it
// by the third:
//
//	/jobs/JID                                 the job: its properties and its status
//	/batches/BID/states/batch-processing/JID  its batch entry: the batch waits for it
//	/jobs/states/pending/PP-JID               its queue entry: priority and id
package newqueue
