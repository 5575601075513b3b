// Package layout holds maps of ZooKeeper trees and checks trees against them.
//
// A map is data: a YAML file that says of every znode of a layout what its path
// looks like, what kind it is, what it holds, who writes it, and how it belongs
// together with other znodes, each with its place in the document that the map
// was taken from. One checker serves all maps. It reads a tree in streams, one
// small subtree at a time, and remembers names and references, never data.
//
// What a map can't say in data it leaves to Go by name: a [Codec] reads the
// bytes of one znode, and [Native] rules look at all znodes as they pass.
package layout
