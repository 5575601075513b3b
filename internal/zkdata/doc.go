// Package zkdata reads a ZooKeeper server's data directory without a server:
// the newest complete snapshot, and every transaction that the logs hold after
// it. It never writes.
//
// It reads what servers of version 3.4 to 3.9 write, and restores the tree as a
// starting server does (FileTxnSnapLog.restore). A starting server ignores some
// damage, because the other members of its ensemble have the data. A reader of
// one directory has nothing else. So anything that could mean a lost transaction
// is an error here: a gap between two logs, a damaged transaction with others
// after it, a tree with another digest than the server's.
//
// Only the digests show a gap at the end of an epoch, because nothing else says which transaction was
// an epoch's last. So that gap is not noticed if the logs have no digests (servers before 3.6, or with
// digest.enabled=false), or if names of znodes are not ASCII.
//
// [Read] restores the tree in memory, as the tree of the server in this process. It needs memory in
// proportion to the tree, not to the logs. It decodes records with package jute, and applies
// transactions with [ztree.Tree.Replay].
package zkdata
