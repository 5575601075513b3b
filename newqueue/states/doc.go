// Package states has the state machines of the new queue: which steps a job, a
// batch and an access request may take, who takes them, and all that each does
// to the tree (docs/transitions.md).
//
// There is one table for each entity. A row that differs between the two
// dialects says so at its end. [Of] is an entity's [Table] in one dialect:
//
//	for _, t := range states.Of(states.Job, "mrt-zk").From(states.Failed) {
//		fmt.Println(t.ID, t.To, t.Who)
//	}
//
// Package newqueue carries out what the rows say, and mrtq states prints them.
// The package knows no ZooKeeper: a state is its name, as dialect design spells
// it.
package states
