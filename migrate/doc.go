// Package migrate takes a legacy queue to the new layout: plan, apply, verify,
// roll back.
//
// A record passes through the files of this package in this order:
//
//	legacyqueue.go  the znodes of the legacy queues, read one after the other and decoded
//	survey.go       what the target already holds, in rows
//	reading.go      ... in the order of the ids that they have or get
//	policy.go       what to do with each: a table of queue × status
//	decide.go       what should exist, less what the ledger says was migrated
//	batch.go        the batches that the jobs are put into
//	gone.go         records whose job is gone: not created again
//	records.go      a plan's line for each record; planned.go, each job that it creates
//	plan.go         all that together
//	lists.go        which lists of children are too long for a client
//	load.go         the records, read a second time
//	mapping.go      the new znodes of one record: a table of fields
//	unit.go         the operations that create each item
//	making.go       ... in order; again if another client used an id first
//	pack.go         ... packed into transactions
//	apply.go        ... sent, in order, many under way at once
//	ledger.go       what was migrated, written in the same transactions
//	verify.go       both sides read again, part by part, and everything derived again
//	rollback.go     removes what a run created and nobody changed
//
// Everything up to pack.go depends on the two sides and the options alone: no
// clock, no randomness. The source is never written.
//
// # Why the source is read twice
//
// A plan does not keep the content of the records, only about a hundred bytes of
// each. So a record is read again when its job is created. If it has changed since
// it was planned, the decision was about another record. Then the run stops between
// two transactions, and the rest is planned again.
//
// # Why rows and parts
//
// A queue can be larger than memory. What must be remembered about each record is
// in rows, which are small and have no pointers: what the ledger says about it
// (heldrows.go), the job that claims it (jobrows.go), that job's entries in queues
// and batches (entryrows.go), what a plan does with it (records.go). Rows store a
// name as a stem and a number (names.go).
//
// Everything else is read part by part (part.go). A part is a tree of some jobs
// with all that belongs to them, and the records that they were made from. The
// functions that decide about a znode work on such trees, and don't know of parts.
// A rollback remembers which znodes each job to remove has (rollback_look.go), and
// makes its transactions from that (rollback_units.go).
//
// # Why the transactions form a chain
//
// Each transaction of a run also sets /migration/runs/RUN, and requires the version
// that the one before left. So they take effect in order or not at all, though many
// are under way at once. The node's version says how many were done, which answers
// every "was it done?" after a lost connection. And a migrator that another one has
// replaced can do nothing more.
//
// # Why a ledger outlives the jobs
//
// A job's own znode says from which record it was made. When the job is removed,
// the record may still be in the legacy queue. Without a ledger, it would look like
// a new one, and run a second time. So each run also keeps a log of the records that
// it migrated (ledger.go). A second trace of the log is on /jobs, outside of
// /migration (trace.go). What the log says about a record, through all runs and
// rollbacks, is its custody (custody.go).
//
// # Why versions and transactions show what was changed
//
// A run only creates znodes, and never sets them: to change one, it deletes and
// creates it in one transaction. So a migrated znode is as the run left it if its
// version is 0 and it has as many children as its cversion says. Otherwise another
// client has changed it. If another client deleted it and created it again, it looks
// the same, but it is from another transaction than its run's. All znodes of a job
// are from one transaction: the one that wrote the job's entry in the ledger.
// Everything else that a run creates is from between its first transaction and its
// last. Rollback, verify and repeated runs rely on this.
package migrate
