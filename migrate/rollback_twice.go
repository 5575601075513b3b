package migrate

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// RunsTwice lists the legacy records that would run twice if the old workers were started
// again after a rollback: their jobs stay, or were already done and are gone.
type RunsTwice struct {
	Count int        `json:"count"`
	Jobs  []TwiceJob `json:"jobs"` // the first of them
}

// TwiceJob is a record that would run twice, with its job or access request.
type TwiceJob struct {
	Record string `json:"record"`
	Job    string `json:"job"`
	Why    string `json:"why"`
}

// maxTwice is how many records are named at most, so that a large queue has no longer a
// list.
const maxTwice = 1000

func (t *RunsTwice) add(record, job, why string) {
	t.Count++
	if len(t.Jobs) < maxTwice {
		t.Jobs = append(t.Jobs, TwiceJob{record, job, why})
	}
}

// noteRunsTwice notes a job of the run that stays. batch says why its whole batch stays; it
// is "" if the batch doesn't.
func (u *Undo) noteRunsTwice(j undoneJob, batch string) {
	why := u.stay[j.root]
	if why == "" && batch != "" {
		why = "its batch stays: " + batch
	}
	u.Twice.add(u.target.custody.entries.at(int(j.entry)).record, u.target.names.text(j.root), why)
}

// countStaying counts the jobs, requests, batches and entries of the run that stay, by their
// parents.
func (u *Undo) countStaying() map[string]int {
	n := map[string]int{}
	for g := range u.groups() {
		whole := g.batch != nil && g.batch.own && g.batch.stays
		for _, j := range g.jobs {
			if !whole && !j.stays {
				continue
			}
			root := u.target.names.text(j.root)
			n[znode.Parent(root)]++
			if j.bid != (ref{}) {
				for _, path := range u.target.queued.paths(znode.Name(root)) {
					n[znode.Parent(path)]++
				}
			}
		}
		if whole {
			n[newqueue.BatchesPath]++
			for _, x := range u.uuids {
				if x.bid == g.batch.bid {
					n[znode.Parent(x.path)]++
				}
			}
		}
	}
	return n
}
