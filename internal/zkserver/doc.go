// Package zkserver is a ZooKeeper server inside this process. It speaks the real protocol, and keeps
// everything in memory. Package harness/minizk is its public face for tests and programs, and says
// what it can do. Package internal/sides gives a dump or a data directory to such a server, so that
// mrtq reads and writes files as it does servers.
//
// Package jute encodes and decodes the protocol. Package ztree has the tree and its rules. This
// package connects the two: it has the connections, the sessions, the table of operations
// (dispatch.go), the clock, and the methods by which a test controls the server. One lock guards
// everything but the sockets. A connection decodes its request before it takes the lock, and writes
// the reply after it has released the lock.
package zkserver
