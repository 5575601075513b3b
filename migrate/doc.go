// Package migrate takes a legacy queue to the new layout. Each use case is a function, and
// a file: [MakePlan], [Migrate], [Verify], [Release], [Rollback], [Hold], [ReadStatus],
// [Find], [ReadRecords]. advice.go decides what an operator should do next. [OpenSide] and
// [OpenWritableSide] open what an operator names: a server or a dump.
//
// A migration is a chain of transactions, and its ledger in the target says which record
// became which job (docs/migration.md). What each function does depends on what happened to
// the run (docs/life.md). Every function can be interrupted, and the same call finishes it.
package migrate
