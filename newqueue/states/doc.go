// Package states has the state machines of the new queue: which transitions a
// job, a batch and an access request have, who makes them, and all that each
// changes in the tree (docs/transitions.md).
//
// There is one table for each [Entity]. [Transitions] returns it for one dialect:
//
//	for _, t := range states.Transitions(states.Job, "mrt-zk").From(states.Failed) {
//		fmt.Println(t.ID, t.To, t.Who)
//	}
//
// Package newqueue makes the transitions. This package does not depend on ZooKeeper. A state is a name, as dialect
// design writes it.
package states
