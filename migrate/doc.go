// Package migrate takes a legacy queue to the new layout: plan, apply, verify,
// roll back.
//
// A record's way is a straight line through the files of this package:
//
//	legacyqueue.go  the znodes of the legacy queues, read one after the other and decoded
//	survey.go       what the target holds already, in rows
//	reading.go      ... in the order of the ids that they have or get
//	policy.go       what becomes of each: a table of queue × status
//	decide.go       what should exist, less what the ledger says was migrated
//	batch.go        the batches that the jobs are put into
//	gone.go         records whose job is gone: not made again
//	records.go      a plan's line for each record; planned.go, each job that it makes
//	plan.go         all that together
//	lists.go        which lists of children a client will not take
//	load.go         the records, read a second time
//	mapping.go      the new znodes of one record: a table of fields
//	unit.go         the operations for each thing to be made
//	making.go       ... handed out in order, and again from where others' ids came between
//	pack.go         ... packed into transactions
//	apply.go        ... sent, in order, many under way at once
//	ledger.go       what was taken over, written in the same transactions
//	verify.go       both sides read anew, part by part, and everything derived again
//	rollback.go     what a run made and nobody changed, taken back
//
// Everything up to pack.go depends on the two sides and the options alone: no
// clock, no randomness. The source is never written.
//
// # Why the source is read twice
//
// What a record holds is let go of once it is decided what becomes of it; a plan
// keeps some hundred bytes of each. It is read again when its job is made. One that
// is another by then ends the run at a transaction's edge, and the rest is planned
// anew: what was decided was decided of another record.
//
// # Why rows and parts
//
// A queue can be larger than memory. What there is one of for each record is
// remembered in rows, which are small and have no pointers: what the ledger says of
// it (heldrows.go), the job that claims it (jobrows.go), that job's entries in
// queues and batches (entryrows.go), what a plan does with it (records.go). Names are kept in them as a stem and a number
// (names.go). All else is read part by part (part.go): some jobs with all that
// belongs to them as a tree of their own, beside the records that they were made
// from. What is decided of a znode is decided by functions on such trees, which
// know nothing of parts. A rollback notes of each job that goes which znodes it
// has (rollback_look.go), and makes of that what it sends (rollback_units.go).
//
// # Why the transactions form a chain
//
// Each transaction of a run also sets /migration/runs/RUN, demanding the
// version that the one before left. So they take effect in order or not at
// all, though many are under way at once; the node's version says exactly how
// many were done, which answers every "was it done?" after a lost connection;
// and a migrator that was taken over can do nothing more.
//
// # Why a ledger outlives the jobs
//
// A job says in its own znode which record it was made from. That dies with the
// job, and the record may still stand in the legacy queue: without more it would
// look like a new one, and be run a second time. So each run also keeps a log of
// what it took over (ledger.go), a second trace of which stands on /jobs, outside
// of /migration (trace.go). What the log says of a record, through all runs and
// rollbacks, is its custody (custody.go).
//
// # Why versions and transactions tell what was touched
//
// A migrated znode is only ever created, never set: where it must change it is
// deleted and created in one transaction. So a migrated znode at version 0
// whose children's count equals its cversion is as the run left it, and
// anything else was touched by somebody. One that somebody deleted and made
// again looks the same; but it is from another transaction than its run's.
// All znodes of one job are from one transaction, which lies where the ledger
// has the job's entry, and everything else that a run makes is from between its
// first transaction and its last. Rollback, verify and repeated runs rely on it.
package migrate
