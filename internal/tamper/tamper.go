// Package tamper gives a queue a wrong table. Tests use it to prove that a wrong
// table is detected. Nothing else may use it, so it is not an option of package
// newqueue.
package tamper

// Table replaces the table of an entity. queue is a *newqueue.Queue that is
// being opened, so a newqueue.Option can call Table. table is a states.Table.
// Package newqueue sets this variable.
var Table func(queue any, entity string, table any)
