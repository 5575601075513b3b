// Package accept runs the scenarios of the new queue (features/*.feature)
// against a ZooKeeper, in both dialects, and says which documented transitions
// they have shown.
//
// A scenario plays in a world of its own: a chroot on the server, sessions for
// its workers and administrators (those that others have left, where there are
// any), and what they hold. Its Givens write znodes by hand, as the documents
// have them, so that no scenario depends on another transition than its own. Its
// Whens call the code under test, mrtq/newqueue, and judge nothing. Its Thens
// judge what a second session sees:
//
//	before ── what the tree was ──┐
//	                              ├─ settle: they are the same, node by node
//	want = before + what Thens say┘        ▲
//	seen ── what the tree is now ──────────┘
//
// A Then that says "the job is failed" writes that into want and looks for it
// in seen; "nothing else has changed" compares all the rest. A When that no
// Then has compared makes its scenario fail.
//
// What the documents say is written down here once more, and not taken from
// newqueue: which steps there are (documents.go), what a dialect spells how
// (spelling.go), what a step changes (seed.go, expect.go and the steps). Two that
// agree have both read the documents.
//
// The code under test gets no help from the server: children are listed in an
// order that nobody would want (sessions.go), and where a scenario says so,
// somebody else is quicker between its look and its write (steps_meddling.go).
//
// Coverage is what was seen: after every act the states of all batches, jobs
// and requests are compared with those before (observe.go). A row of the
// tables is covered when a scenario that carries its id has passed and has
// shown that very step; a step that no row allows fails the run wherever it is
// seen. A connection that breaks proves nothing, and ends the run.
package accept
