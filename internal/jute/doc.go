// Package jute encodes and decodes ZooKeeper's client protocol: it has the protocol's numbers, its
// records, and for each record an encoder and a strict decoder. It knows nothing of trees, sessions or sockets.
//
// Everything is big-endian ("jute"). A packet is a frame:
//
//	offset  width  meaning
//	0       4      length n of what follows, 0..jute.maxbuffer
//	4       n      payload
//
// The client's first payload is a [ConnectRequest], and the server's first is a [ConnectResponse].
// After that a request is
//
//	offset  width  meaning
//	0       4      xid, chosen by the client; see XidPing and its neighbours
//	4       4      operation, an [OpCode]
//	8       …      the operation's record
//
// and a reply or a notification is
//
//	offset  width  meaning
//	0       4      xid of the request, or XidNotification
//	4       8      zxid that the server has reached
//	12      4      error, a [Code]
//	16      …      the operation's record; absent when the error is not zero
//
// In a record an int has 4 bytes, a long 8 and a bool 1. A buffer or a string is its length, an int,
// and then its bytes. Length -1 is null, which is not the same as empty. A vector is the count of
// its elements, an int, and then the elements. Count -1 is a null vector.
//
// The numbers are those of Apache ZooKeeper 3.8 (ZooDefs, KeeperException.Code and
// zookeeper.jute).
package jute
