// Package migrate takes a legacy queue to the new layout: plan, apply, verify,
// roll back.
//
// A record's way is a straight line through the files of this package:
//
//	source.go     the znodes of the legacy queues, decoded
//	policy.go     what becomes of each: a table of queue × status
//	mapping.go    the new znodes of one record: a table of fields
//	batch.go      the batches that the jobs are put into
//	plan.go       what should exist, less what the target's provenance says does
//	unit.go       the operations for each thing to be made
//	pack.go       ... packed into transactions
//	apply.go      ... sent, in order, many under way at once
//	verify.go     both sides read anew, and everything derived again
//	rollback.go   what a run made and nobody changed, taken back
//
// Everything up to pack.go is a function of two trees and the options: no
// server, no clock, no randomness. The source is never written.
//
// # Why the transactions form a chain
//
// Each transaction of a run also sets /migration/runs/RUN, demanding the
// version that the one before left. So they take effect in order or not at
// all, though many are under way at once; the node's version says exactly how
// many were done, which answers every "was it done?" after a lost connection;
// and a migrator that was taken over can do nothing more.
//
// # Why versions tell what was touched
//
// A migrated znode is only ever created, never set: where it must change it is
// deleted and created in one transaction. So a migrated znode at version 0
// whose children's count equals its cversion is as the run left it, and
// anything else was touched by somebody. Rollback and repeated runs rely on it.
package migrate
