// Package accept runs the scenarios of the new queue (features/*.feature)
// against a ZooKeeper, in both dialects, and reports which documented
// transitions they covered.
//
// Each scenario has its own world: a chroot on the server, and workers and
// administrators, each with a session and with what it has acquired. Its Givens
// write znodes by hand, as the published design describes them, so a scenario depends on no
// transition but its own. Its Whens call the code under test, and
// check nothing. Its Thens check what a second connection reads. They compare three
// trees:
//
//	before                the tree before the When
//	want                  before, and the changes that the Thens name
//	seen                  the tree after the When
//
// For example, "the job is failed" writes that into want and looks for it in seen.
// "Nothing else has changed" compares all of want with all of seen. If no Then
// compares the whole tree after a When, the scenario fails.
//
// Which steps there are, it reads from package states, whose tables are docs/transitions.md: a row counts only if a scenario
// with its id shows its step, and no other step may be seen. What a step changes, it states a second time
// (steps_given.go, steps_then.go, expect.go), and so it does how each dialect writes the layout (spelling.go). If the two
// agree, both agree with the published design.
//
// An act is data: a [request] names a verb, an item and states. One function sends all
// of them to the code under test, which is a library.Library: newqueue/client (package goqueue), or a program
// in any language (package library).
//
// Coverage is what the second connection has observed. After every act it compares
// the states of all batches, jobs and requests with those before (observe.go). A
// row of the tables is covered if a scenario with its id passed, and the second
// connection observed the row's step during that scenario. If it observes a step that
// is in no row, the run fails. If a connection breaks, the run ends, because it
// can't prove anything any more.
package accept
