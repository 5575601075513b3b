// Package minizk is a ZooKeeper server inside the test's own process. It speaks the real protocol
// on a real socket, so any client works. It keeps everything in memory and starts in well under a
// millisecond.
//
//	func TestQueue(t *testing.T) {
//		zk := minizk.Run(t)
//		conn, _, err := zkclient.Connect([]string{zk.Addr()}, 10*time.Second)
//		…
//		zk.ExpireSession(conn.SessionID())
//		zk.Advance(time.Minute)
//	}
//
// In this example zkclient is github.com/go-zookeeper/zk. [Run] starts a server for one test and
// closes it with the test. If the test fails, Run prints the server's log. [Start] starts a server
// for a program.
//
// The test controls time with [Server.Advance]. The server expires sessions only then, and removes
// container and TTL nodes only then: once a minute, as a real server does, or as often as
// Options.ContainerInterval says. With Options.RealTime the server uses the machine's clock.
//
// [Server.Inject] makes operations go wrong: it cuts the connection before or after an operation,
// or it holds or refuses the operation. [Server.Counts] and [Server.Log] say what clients
// have done. [Server.Snapshot] returns the tree, and [Server.Load] replaces it.
//
// It is one server, and it behaves like Apache ZooKeeper 3.8. README.md lists the known
// differences. It is not for production, because it writes nothing to disk.
//
// Package jute encodes and decodes the protocol. Package ztree has the database and its rules. This
// package connects the two: it has the connections, the sessions, the table of operations
// (dispatch.go), the clock, and the methods by which a test controls the server. One lock guards
// everything but the sockets. A connection decodes its request before it takes the lock, and writes
// the reply after it has released the lock. mrtq also serves dumps with it (package sides).
package minizk
