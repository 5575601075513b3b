// Package migration is the vocabulary of a migration: what the functions of package migrate take and return, beside their own
// options and results. docs/json.md has it as JSON. It has no I/O.
package migration
