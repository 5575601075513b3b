package newqueue

import "mrtq/newqueue/states"

// Entity is a kind of thing that has a state. Package states has the transitions
// of each.
type Entity = states.Entity

// The entities.
const (
	EntityJob    = states.Job
	EntityBatch  = states.Batch
	EntityAccess = states.Access
)

// machines are each dialect's tables.
var machines = map[Dialect]map[Entity]states.Table{}

func init() {
	for _, d := range Dialects {
		machines[d] = map[Entity]states.Table{}
		for _, e := range states.Entities {
			machines[d][e] = states.Of(e, string(d))
		}
	}
}

// Success is the state that a job gets when a worker succeeds in state s. It is
// "" if a worker has nothing to do in that state.
func Success(s JobState, d Dialect) JobState {
	return JobState(machines[d][EntityJob].Success(string(s)))
}
