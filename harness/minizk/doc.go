// Package minizk is a ZooKeeper inside the test's own process, as miniredis is a Redis. It speaks
// the real protocol on a real socket, so any client works. It keeps everything in memory and
// starts in well under a millisecond.
//
//	func TestQueue(t *testing.T) {
//		zk := minizk.Run(t)
//		conn, _, err := zkclient.Connect([]string{zk.Addr()}, 10*time.Second)
//		…
//		zk.ExpireSession(conn.SessionID())
//		zk.Advance(time.Minute)
//	}
//
// The test controls time with Advance: only then do sessions expire, and container and TTL nodes
// are removed (once a minute, as on a real server, or as often as Options.ContainerInterval says).
// With Options.RealTime, time passes by itself. Inject causes trouble: it cuts a connection before
// or after an operation, or it delays, holds or refuses an operation. Counts and Log say what
// happened. A failing test that was started with Run prints the log.
//
// It is one server that behaves as Apache ZooKeeper 3.8. README.md lists the known
// differences. It is not for production, because it keeps no data.
//
// # Layers
//
// Package wire is the protocol as bytes. Package internal/ztree is the tree and its rules.
// This package connects the two: connections, sessions, the table of operations (dispatch.go),
// the clock, and the test's controls. One lock guards everything but the sockets. A request is
// decoded before the lock is taken, and its reply is written after the lock is released.
package minizk
