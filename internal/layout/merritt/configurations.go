package merritt

import (
	"crypto/sha256"
	"fmt"

	"mrtq/internal/layout"
	"mrtq/newqueue"
)

// jobReading has what of a job's configuration depends on other znodes. It is kept only while
// the job's znodes pass.
type jobReading struct {
	jid            string
	batchID, jobID string // batch_id and jobID of its configuration, "" for none
}

func (r *jobReading) configuration(v layout.Visit) {
	o, _ := v.Value.(newqueue.Object)
	r.batchID, _ = o["batch_id"].(string)
	r.jobID, _ = o["jobID"].(string)
}

// jobKey stands for a BID and a jobID. It is a digest, because a tree can have millions.
type jobKey [16]byte

// configured compares the configuration of the job that was read last with its batch, and with
// those of the batch's earlier jobs. In dialect mrt-zk, two unfinished jobs with one jobID work in
// one folder (docs/deployed-services.md, "The payload").
func (p *places) configured() {
	r := p.reading
	p.reading = jobReading{}
	if r.jid == "" {
		return
	}
	j, job := p.jobs[r.jid], newqueue.JobPath(r.jid)
	path := job + "/configuration"
	if j.hasBID && r.batchID != "" && r.batchID != j.bid {
		p.found("job-configuration/other-batch", job, path, "", "batch_id "+j.bid+", as the job's bid", fmt.Sprintf("batch_id %.40q", r.batchID))
	}
	if p.d != newqueue.MrtZK || r.jobID == "" || j.state == newqueue.JobCompleted || j.state == newqueue.JobDeleted {
		return
	}
	sum := sha256.Sum256([]byte(j.bid + "\x00" + r.jobID))
	key := jobKey(sum[:16])
	if other := p.first[key]; other != "" {
		p.found("job-configuration/same-job", job, path, "", "a jobID that no other unfinished job of the batch has", fmt.Sprintf("jobID %.40q, as %s has", r.jobID, newqueue.JobPath(other)))
		return
	}
	p.first[key] = r.jid
}
