// Package minizk is a ZooKeeper inside the test's own process, as miniredis is a Redis: it speaks
// the real protocol on a real socket, so that any client works, keeps everything in memory and
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
// Time is the test's: sessions expire, and container and TTL nodes are removed (once a minute, as by
// a real server, or as Options.ContainerInterval says), when Advance says so, unless Options.RealTime
// lets it pass by itself. Trouble is asked for with Inject: a
// connection cut before or after an operation, an operation delayed, held or refused. What
// happened is in Counts and in Log, which a failing test started with Run prints.
//
// It is one server with the behaviour of Apache ZooKeeper 3.8; README.md lists the differences
// that the conformance suite knows of. It is not for production: it keeps nothing.
//
// # Layers
//
// Package wire is the protocol as bytes. Package internal/ztree is the tree's meaning. This
// package joins them: connections, sessions, the table of operations (dispatch.go), the clock,
// and the test's controls. One lock guards everything but the sockets; a request is decoded
// before it is taken and its reply written after it is released.
package minizk
