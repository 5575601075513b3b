// Package lint checks a whole tree of the new queue against the map of its
// layout: which znodes there may be, what they hold, and whether jobs, batches
// and their entries agree.
//
//	for _, p := range lint.Check(tree, newqueue.MrtZK) {
//		fmt.Println(p) // the path, what is there, what should be there, the rule's id
//	}
//
// Package migrate and the scenarios use it. The command mrtq check has the same rules, and
// in dialect mrt-zk those of package services, too.
package lint
