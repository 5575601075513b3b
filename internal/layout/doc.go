// Package layout holds maps of ZooKeeper trees and checks trees against them.
//
// A map is data: a YAML file that describes every znode of a layout. It says
// what the path looks like, what kind the znode is, what it holds, who writes
// it, and how it relates to other znodes. Each entry names its place in the
// document that the map was made from. One checker serves all maps. It reads a
// tree in streams, one small subtree at a time, and remembers names and
// references, never data.
//
// Some rules can't be expressed as data, so a map can name Go code: a [Codec]
// reads the bytes of one znode, and [GoRules] see every znode of the tree.
package layout
