// Package migrate takes a legacy queue to the new layout, in four steps:
//
//	MakePlan            reads both sides and says what a migration would do
//	Migrator.Migrate    carries the plan out, or finishes an interrupted run
//	Verify              reads both sides again, derives everything again, and compares
//	Migrator.Rollback   removes what a run created and nobody has changed since
//
// The source is never written. A plan depends on the two sides and the options alone,
// not on the clock or on chance, so the same input gives the same plan.
//
// Each migration is a run, with an id such as run0000000003 and a [Run] as its record.
// While a run is under way, its holds keep the workers away from the new queues.
//
// A source or a target is a [Side]: a server, a dump or a data directory. The target to
// which a [Migrator] writes is a [Target]. The examples show all four steps.
//
// # How a record is migrated
//
// A record passes through these files, in this order.
//
// Read both sides:
//
//	legacyqueue.go  lists the legacy queues, reads and decodes their records
//	survey.go       reads what the target already holds
//
// Decide:
//
//	reading.go      the order in which the records are read: that of their jobs' ids
//	policy.go       what becomes of each record: a table of queue × status
//	decide.go       which jobs are new, changed, or already there, as the ledger says
//	gone.go         records that were migrated and have no job any more
//	batch.go        the batches that the jobs belong to
//	ids.go          the ids of new jobs and batches
//	lists.go        the lists of children that would be too long for some clients
//	plan.go         all of this together
//
// Write:
//
//	load.go         reads the records a second time
//	mapping.go      the znodes that a record becomes: a table of fields
//	unitmaker.go    the operations for one job after the other
//	pack.go         joins these operations into transactions
//	apply.go        sends the transactions in order, many under way at once
//	ledger.go       writes in the same transactions which records were migrated
//
// Check, and roll back:
//
//	verify.go       reads both sides again, derives everything again, and compares
//	rollback.go     removes what a run created and nobody has changed since
//
// # Why the source is read twice
//
// A plan keeps a few hundred bytes for each record. It does not keep the record's data,
// because a queue can be larger than memory. So the record is read again when its job
// is created. If the record has changed in the meantime, the run stops between two
// transactions and the rest is planned again, because the plan decided about the old record.
//
// # Why rows and parts
//
// What must be remembered for every record is in rows, which are small and hold no
// pointers:
//
//	custodyrows.go  what the ledger says of the record
//	jobrows.go      the job that was made from it
//	entryrows.go    that job's entries in queues and batches
//	records.go      what a plan does with the record
//	names.go        paths and names, each as a stem and a number
//
// Everything else is read part by part (part.go). A part is a small tree with some of the
// jobs and everything that belongs to them, together with the records that these jobs were
// made from. The functions that check a znode get such a tree, and need not know that it
// is only a part. A rollback notes which znodes each job has (rollback_look.go), and makes
// its transactions from these notes (rollback_units.go).
//
// # Why the transactions form a chain
//
// Each transaction of a run also sets /migration/runs/RUN. It succeeds only if that znode
// has the version that the transaction before it left. So:
//
//   - The transactions take effect in order or not at all, though many are under way at
//     once.
//   - The znode's version says how many were done. After a lost connection, that shows
//     whether the last one was.
//   - When another migrator has taken the run over, the first one can write nothing more.
//
// # Why a ledger outlives the jobs
//
// A job's own znode says which record the job was made from. When the job is deleted,
// that is lost, but the record may still be in the legacy queue. It would look like a
// new record and run a second time. So each run also keeps a log of the records that it
// migrated, the ledger (ledger.go). A short trace of the runs is the data of /jobs,
// outside of /migration, so that a lost ledger is noticed (trace.go). What the ledger
// says of a record, after all runs and rollbacks, is the record's custody (custody.go).
//
// # How versions and transactions show what was touched
//
// A migration never sets a znode that it created: to change one, it deletes it and
// recreates it in one transaction. So if a migrated znode has version 0 and as many
// children as its cversion says, it is as the run left it. Otherwise another client
// touched it.
//
// If another client deleted a znode and recreated it, its versions look untouched, but
// its transaction is not one of the run's. All znodes of a job come from one transaction,
// and the ledger's entries show which ones it can be. Everything else that a run creates
// comes from between its first transaction and its last.
//
// Rollback, verify and repeated runs rely on this.
package migrate
