// Package lint checks a whole tree of the new queue against the map of its
// layout: which znodes there may be, what they hold, and whether jobs, batches
// and their entries agree.
//
//	for _, p := range lint.Check(tree, newqueue.MrtZK) {
//		fmt.Println(p) // the path, what is there, what should be there, the rule's id
//	}
//
// A tree is read from a dump with migrate.ReadDump, or filled znode by znode. For a
// tree that does not fit into memory, use the command mrtq check, which has the same
// rules.
package lint
