// Package accept runs the scenarios of the new queue (features/*.feature)
// against a ZooKeeper, in both dialects, and says which documented transitions
// they covered.
//
// A scenario has a world of its own: a chroot on the server, sessions for its
// workers and administrators (reused from earlier scenarios, if there are any),
// and what they hold. Its Givens write znodes by hand, as the documents have
// them. So a scenario depends on no transition but its own. Its Whens call the
// code under test, mrtq/newqueue, and judge nothing. Its Thens judge what a
// second session sees:
//
//	before ── what the tree was ──┐
//	                              ├─ settle: they are the same, node by node
//	want = before + what Thens say┘        ▲
//	seen ── what the tree is now ──────────┘
//
// A Then that says "the job is failed" writes that into want and looks for it
// in seen. "Nothing else has changed" compares all the rest. If no Then
// compares the tree after a When, the scenario fails.
//
// What the documents say is written here a second time, and not taken from
// newqueue: which steps there are (documents.go), how each dialect writes the
// layout (spelling.go), what a step changes (seed.go, expect.go and the steps).
// If the two agree, both agree with the documents.
//
// The server makes it hard for the code under test. Children are listed in an
// unhelpful order (sessions.go). If a scenario says so, somebody else acts
// between its read and its write (steps_meddling.go).
//
// Coverage is what was observed: after every act the states of all batches,
// jobs and requests are compared with those before (observe.go). A row of the
// tables is covered if a scenario with its id passed, and the row's step was
// observed during it. A step that no row allows fails the run, wherever it is
// observed. If a connection breaks, that proves nothing, and the run ends.
package accept
