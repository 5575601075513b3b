// Package zkdata reads a ZooKeeper server's data directory without a server:
// the newest snapshot that is whole, and every transaction that the logs hold
// after it. Nothing is ever written.
//
// It reads what servers of version 3.4 to 3.9 write, and restores the tree by
// the rules of the server's own start (FileTxnSnapLog.restore). A server
// forgives much there, because its ensemble has the rest. Whoever reads one
// directory has nothing else, so what a server passes over in silence is an
// error here whenever it could mean a lost transaction: a gap between two logs,
// a damaged transaction with others after it, a tree whose digest is not the
// one that the server wrote down.
//
// [Read] restores the tree in memory, in proportion to its size, and not to
// that of the logs. [Data.Nodes] and [Data.Children] yield it node by node;
// [Data.Tree] makes a [znode.Tree] of it.
package zkdata
