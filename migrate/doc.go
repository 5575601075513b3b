// Package migrate takes a legacy queue to the new layout. Each use case is a function, and
// a file; advice.go decides what an operator should do next. Package migration has
// what they take and return, beside their own options and results.
//
// A migration is a chain of transactions, and its ledger in the target says which record
// became which job (docs/migration.md). What each function does depends on what happened to
// the run (docs/life.md). Every function can be interrupted, and the same call finishes it.
package migrate
