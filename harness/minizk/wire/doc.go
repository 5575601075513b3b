// Package wire is ZooKeeper's client protocol as bytes: its numbers, its records, and for
// each record a strict decoder and an encoder. It has no trees, sessions or sockets.
//
// Everything is big-endian ("jute"). A packet is a frame:
//
//	offset  width  meaning
//	0       4      length n of what follows, 0..jute.maxbuffer
//	4       n      payload
//
// The first payload in each direction is a [ConnectRequest] and a [ConnectResponse]. After
// that a request is
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
//	4       8      zxid the server had reached
//	12      4      error, a [Code]
//	16      …      the operation's record; absent when the error is not zero
//
// Within records: int 4 bytes, long 8, bool 1; a buffer or a string is an int length then the
// bytes, and length -1 is null, which is distinct from empty; a vector is an int count then
// its elements, and count -1 is a null vector.
//
// The numbers are those of Apache ZooKeeper 3.8 (ZooDefs, KeeperException.Code and
// zookeeper.jute).
package wire
