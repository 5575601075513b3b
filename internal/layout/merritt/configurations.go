package merritt

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/layout"
	"mrtq/newqueue"
)

// configuration remembers what of a job's configuration depends on other znodes.
func (j *jobPlace) configuration(v layout.Visit) {
	o, _ := v.Value.(newqueue.Object)
	j.batchID, _ = o["batch_id"].(string)
	j.jobID, _ = o["jobID"].(string)
}

// configurations compares each job's configuration with its batch, and with those of the
// batch's other jobs. In dialect mrt-zk, two unfinished jobs with one jobID work in one folder
// (docs/deployed-services.md, "The payload").
func (p *places) configurations() {
	first := map[[2]string]string{}
	for _, jid := range slices.Sorted(maps.Keys(p.jobs)) {
		j := p.jobs[jid]
		job, path := newqueue.JobPath(jid), newqueue.JobPath(jid)+"/configuration"
		if j.hasBID && j.batchID != "" && j.batchID != j.bid {
			p.found("job-configuration/other-batch", job, path, "", "batch_id "+j.bid+", as the job's bid", fmt.Sprintf("batch_id %.40q", j.batchID))
		}
		if p.d != newqueue.MrtZK || j.jobID == "" || j.state == newqueue.JobCompleted || j.state == newqueue.JobDeleted {
			continue
		}
		key := [2]string{j.bid, j.jobID}
		if other := first[key]; other != "" {
			p.found("job-configuration/same-job", job, path, "", "a jobID that no other unfinished job of the batch has", fmt.Sprintf("jobID %.40q, as %s has", j.jobID, other))
			continue
		}
		first[key] = job
	}
}
