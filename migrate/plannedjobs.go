package migrate

import (
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// plannedJob is a job or access request that the plan creates or rewrites. There can be one
// for each record, so it is small and has no pointers. The record's data is read again
// when the job is created.
type plannedJob struct {
	number  int64  // that a new job gets; see [counters]
	object  uint64 // hash of what [objectOf] says; 0 for nothing
	record  int32  // the record; see [listedRecords]
	batch   int32  // one more than the index into [Plan.batchList]; 0 for an access request
	old     int32  // one more than the row of the job that it rewrites; 0 for a new job
	size    int32  // of the record's data
	id      int32  // the number in a new job's id, as it is now
	initial uint8  // index into [Plan.initialStates]
}

// rewrite reports whether the plan rewrites a job that is there.
func (pl *plannedJob) rewrite() bool { return pl.old > 0 }

// plannedJobs yields the planned jobs in the order in which they are sent: first those that
// are rewritten, then the new ones by ascending id.
func (p *Plan) plannedJobs() iter.Seq[*plannedJob] {
	return func(yield func(*plannedJob) bool) {
		for i := range p.plannedCount() {
			if !yield(p.plannedJob(i)) {
				return
			}
		}
	}
}

func (p *Plan) plannedCount() int { return len(p.rewrites) + len(p.creates) }

// plannedJob is the i-th planned job.
func (p *Plan) plannedJob(i int) *plannedJob {
	if i < len(p.rewrites) {
		return &p.rewrites[i]
	}
	return &p.creates[i-len(p.rewrites)]
}

// batchOf is the batch of a planned job; nil for an access request.
func (p *Plan) batchOf(pl *plannedJob) *batch {
	if pl.batch == 0 {
		return nil
	}
	return p.batchList[pl.batch-1]
}

func (p *Plan) kindOf(pl *plannedJob) QueueKind { return p.listed.kind(pl.record) }

// parentOf is the parent of the job's own znode.
func (p *Plan) parentOf(pl *plannedJob) string {
	if pl.rewrite() {
		return znode.Parent(p.ex.names.text(p.ex.jobs.rows[pl.old-1].root))
	}
	return parentOfNew(p.kindOf(pl))
}

// parentOfNew is the parent of new jobs or requests from a kind of queue.
func parentOfNew(kind QueueKind) string {
	if isAccess(kind) {
		return newqueue.AccessQueuePath(accessQueue(kind))
	}
	return newqueue.JobsPath
}

// idOf is the job's present id.
func (p *Plan) idOf(pl *plannedJob) string {
	if pl.rewrite() {
		return p.ex.jobs.idAt(int(pl.old - 1))
	}
	if isAccess(p.kindOf(pl)) {
		return newqueue.SequenceID(newqueue.AccessPrefix, pl.id)
	}
	return newqueue.SequenceID(newqueue.JobPrefix, pl.id)
}

// idAt is the id of a row's job.
func (j *jobRows) idAt(row int) string { return znode.Name(j.names.text(j.rows[row].root)) }

// idOfMember is a member's id, "" for none.
func (p *Plan) idOfMember(m member) string {
	if i, ok := m.created(); ok {
		return p.idOf(&p.creates[i])
	}
	if i, ok := m.existing(); ok {
		return p.ex.jobs.idAt(i)
	}
	return ""
}

// jobOf is a planned job with its record and its present ids.
func (p *Plan) jobOf(pl *plannedJob, rec *Record) *job {
	j := &job{rec: rec, initial: p.initialStates[pl.initial], run: p.Run, id: p.idOf(pl), batch: p.batchOf(pl)}
	if pl.rewrite() {
		j.run = p.ex.jobs.job(p.ex.jobs.rows[pl.old-1]).prov.Run
	}
	if j.batch != nil {
		j.bid = j.batch.bid
	}
	return j
}

// initialIndex is the index of an initial state in [Plan.initialStates]. There are few
// different ones.
func (p *Plan) initialIndex(initial initialState) uint8 {
	i := slices.Index(p.initialStates, initial)
	if i < 0 {
		i = len(p.initialStates)
		p.initialStates = append(p.initialStates, initial)
	}
	return uint8(i)
}
