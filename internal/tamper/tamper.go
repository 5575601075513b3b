// Package tamper gives a queue a wrong table, for the tests that prove that a
// wrong table is detected. Nothing else may use it, and so it is not an option
// of package newqueue.
package tamper

// Table puts a table in the place of an entity's. queue is a *newqueue.Queue
// that is being opened, so a newqueue.Option can call it, and table is a
// states.Table. Package newqueue sets it.
var Table func(queue any, entity string, table any)
