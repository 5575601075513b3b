// Package sides opens what an operator names as the SOURCE or TARGET of a command. Whatever that is,
// the result is a session with a ZooKeeper, so everything behind it reads and writes in one way:
//
//   - host:port,…/chroot is a session with that server;
//   - file:tree.ndjson is a dump, also packed with gzip (file:tree.ndjson.gz).
//
// A dump is loaded into a server in this process (package minizk), which only
// this process can reach. That server
//
//   - lets its one client read and write everything, whatever the ACLs say. But a znode that could
//     not be read when a dump was made can't be read here either: the error is zkconn.ErrNoAuth;
//   - has a clock that stands. So the ephemeral znodes of sessions that ended long ago stay: they are
//     the locks of the legacy workers. What the client creates has the time at which it was opened;
//   - keeps the znodes' Stats and null data. Containers and TTL znodes become persistent, because a
//     dump does not tell them apart. A dump without Stats gets those of a tree that was just created
//     ([znode.DefaultStat]);
//   - holds the whole tree in memory.
//
// The server has no znodes of its own: what a dump has at /zookeeper is user data of a chroot, because a dump of a
// server's root leaves ZooKeeper's own out.
package sides
