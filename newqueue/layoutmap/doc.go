// Package layoutmap has the map of the new queue's layout (merritt.yaml), and the
// rules that a map can't express (places.go).
//
// [Problems] compares a tree in memory with the map. It is for mrtq itself, because its
// functions have types of internal packages. The package is not part of newqueue because it
// needs YAML and JSON Schema, which nothing else in newqueue does.
package layoutmap
