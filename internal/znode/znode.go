// Package znode is a ZooKeeper tree in memory: znodes with their Stat and ACL,
// the dump format that mrtq reads and writes, the operations of a transaction
// and their size, and the difference between two trees.
//
// This package talks to no server. [mrtq/internal/zkconn] does.
package znode

import (
	"bytes"
	"strings"
)

// Node is one znode.
type Node struct {
	Path string
	// Data is nil for null data, which ZooKeeper keeps apart from empty data.
	Data []byte
	Stat Stat
	// ACL is nil if it was not read. [OpenACL] is the usual one.
	ACL []ACL
	// Unreadable says why neither the node's data nor its children are known.
	// It is "" for a node that was read.
	Unreadable string

	children []*Node
	slot     int  // where its parent's children have it
	madeUp   bool // only its path is known, from a node below it
}

// Children returns the node's children in its tree. They are in no order, but the same changes of a
// tree always lead to the same one. The tree keeps ownership.
func (n *Node) Children() []*Node { return n.children }

// MadeUp reports whether only the node's path is known, because nodes below it were put into its tree.
func (n *Node) MadeUp() bool { return n.madeUp }

// Walk calls visit with the node and with everything below it in its tree, parents first.
func (n *Node) Walk(visit func(*Node)) {
	visit(n)
	for _, c := range n.children {
		c.Walk(visit)
	}
}

// Stat is a znode's Stat as clients see it. The zero Stat means "not known":
// no znode but the root has a zero Czxid.
type Stat struct {
	Czxid          int64 `json:"czxid"`
	Mzxid          int64 `json:"mzxid"`
	Ctime          int64 `json:"ctime"` // milliseconds since 1970
	Mtime          int64 `json:"mtime"` // milliseconds since 1970
	Version        int32 `json:"version"`
	Cversion       int32 `json:"cversion"`
	Aversion       int32 `json:"aversion"`
	EphemeralOwner int64 `json:"ephemeralOwner"`
	DataLength     int32 `json:"dataLength"`
	NumChildren    int32 `json:"numChildren"`
	Pzxid          int64 `json:"pzxid"`
}

// DefaultStat returns the Stat of a node whose dump has no Stat for it: version 0,
// one create for each child.
func DefaultStat(data, children int) Stat {
	return Stat{DataLength: int32(data), Cversion: int32(children), NumChildren: int32(children)}
}

// NextSequence returns the number that ZooKeeper will give the next sequential
// child of a node with this Stat, and how many numbers are left from there on
// before its signed 32-bit counter wraps to negative names.
//
// The server counts only creates. The Cversion that it shows is twice that
// count minus the number of children (DataNode.copyStat). So the count is
// (cversion + numChildren) / 2, computed in 32 bits without sign, because the
// shown value has wrapped past 2^30 creates. A counter that has itself wrapped
// (over 2^31 creates) shows the same Stat as one 2^31 lower. Rule:
// docs/migration.md, "One job, one transaction".
func (s Stat) NextSequence() (next int32, left int64) {
	creates := (uint32(s.Cversion) + uint32(s.NumChildren)) / 2
	return int32(creates), 1<<31 - int64(creates)
}

// ACL is one entry of a znode's access control list.
type ACL struct {
	Perms  int32  `json:"perms"`
	Scheme string `json:"scheme"`
	ID     string `json:"id"`
}

// Public says who may do what, without the digest of a secret.
func (a ACL) Public() string {
	id := a.ID
	if a.Scheme == "digest" {
		user, _, _ := strings.Cut(id, ":")
		id = user + ":…"
	}
	perms := ""
	for i, p := range "rwcda" {
		if a.Perms&(1<<i) != 0 {
			perms += string(p)
		}
	}
	return a.Scheme + ":" + id + ":" + perms
}

// PublicACL is [ACL.Public] of all entries of a list.
func PublicACL(acl []ACL) string {
	var who []string
	for _, a := range acl {
		who = append(who, a.Public())
	}
	return strings.Join(who, ", ")
}

// The permission bits of an [ACL].
const (
	PermRead   int32 = 1
	PermWrite  int32 = 2
	PermCreate int32 = 4
	PermDelete int32 = 8
	PermAdmin  int32 = 16
	PermAll    int32 = 31
)

// OpenACL returns the list that lets anyone do anything, ZooKeeper's default. The
// caller owns the slice.
func OpenACL() []ACL { return []ACL{{Perms: PermAll, Scheme: "world", ID: "anyone"}} }

// IsOpenACL reports whether acl is [OpenACL] or was not read.
func IsOpenACL(acl []ACL) bool {
	return len(acl) == 0 || len(acl) == 1 && acl[0] == ACL{PermAll, "world", "anyone"}
}

// SameData reports whether two data values are equal. Null and empty are
// different.
func SameData(a, b []byte) bool {
	return (a == nil) == (b == nil) && bytes.Equal(a, b)
}
