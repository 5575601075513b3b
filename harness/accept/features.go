package accept

import (
	"mrtq/harness/accept/internal/runner"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// files are the features of the new queue, in the order in which a person reads them.
var files = []string{"job.feature", "batch.feature", "access.feature", "acquire.feature", "locks.feature",
	"stories.feature", "start.feature"}

func featuresOf(d newqueue.Dialect) (all []Feature, err error) {
	own, err := runner.Own(files...)
	for _, f := range own {
		all = append(all, Feature{f.Path, f.Text})
	}
	for _, e := range states.Entities {
		all = append(all, Feature{"illegal-" + string(e) + ".feature", []byte(illegal(e, d))})
	}
	return all, err
}

// inDialect returns the features for one dialect, without the scenarios that only the other dialect has (@design, @mrt-zk).
func inDialect(all []Feature, d newqueue.Dialect) (out []runner.Feature) {
	for _, f := range all {
		in := runner.Feature{Path: f.Path, Text: f.Text, Dialect: string(d)}
		for _, other := range newqueue.Dialects {
			if other != d {
				in.Without = "@" + string(other)
			}
		}
		out = append(out, in)
	}
	return out
}
