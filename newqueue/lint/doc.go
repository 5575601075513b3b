// Package lint checks a whole tree of the new queue against the map of its
// layout: which znodes there may be, what they hold, and whether jobs, batches
// and their entries agree. merritt.yaml is the map.
//
// [Check] is enough for a tree in memory:
//
//	for _, p := range lint.Check(tree, newqueue.MrtZK) {
//		fmt.Println(p) // the path, what is there, what should be, the rule's id
//	}
//
// mrtq check reads a tree of any size from a server by the same rules ([Load],
// [Places]).
//
// The package stands apart from newqueue because it brings YAML and JSON
// Schema, which nobody needs to work on the queue.
package lint
