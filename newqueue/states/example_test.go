package states_test

import (
	"fmt"

	"mrtq/newqueue/states"
)

func ExampleTransitions() {
	for _, t := range states.Transitions(states.Batch, "design").From(states.Reporting) {
		fmt.Printf("%s %s → %s, %s, %s\n", t.ID, t.From, t.To, t.Who, t.Guard)
	}
	// Output:
	// B6 reporting → completed, worker, only if no job failed
	// B7 reporting → failed, worker, only if a job failed
}
