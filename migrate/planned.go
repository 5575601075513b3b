package migrate

import (
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// planned is a job or access request that the plan creates or rewrites. There can be one
// for each record, so it is small and has no pointers. The record's data is read again
// when the job is created.
type planned struct {
	number int64  // that a new job gets; see [numbering]
	object uint64 // hash of what [objectOf] says; 0 for nothing
	place  int32  // the record; see [places]
	batch  int32  // one more than the index into [Plan.joined]; 0 for an access request
	old    int32  // one more than the row of the job that it rewrites; 0 for a new job
	size   int32  // of the record's data
	id     int32  // the number in a new job's id, as it is now
	land   uint8  // index into [Plan.lands]
}

// rewrite reports whether the plan rewrites a job that is there.
func (pl *planned) rewrite() bool { return pl.old > 0 }

// allPlanned yields the planned jobs in the order in which they are sent: first those that
// are rewritten, then the new ones by ascending id.
func (p *Plan) allPlanned() iter.Seq[*planned] {
	return func(yield func(*planned) bool) {
		for i := range p.plannedCount() {
			if !yield(p.planned(i)) {
				return
			}
		}
	}
}

func (p *Plan) plannedCount() int { return len(p.rewrites) + len(p.creates) }

// planned is the i-th planned job.
func (p *Plan) planned(i int) *planned {
	if i < len(p.rewrites) {
		return &p.rewrites[i]
	}
	return &p.creates[i-len(p.rewrites)]
}

// batchOf is the batch of a planned job; nil for an access request.
func (p *Plan) batchOf(pl *planned) *batch {
	if pl.batch == 0 {
		return nil
	}
	return p.joined[pl.batch-1]
}

func (p *Plan) kindOf(pl *planned) QueueKind { return p.places.kind(pl.place) }

// parentOf is the parent of the job's own znode.
func (p *Plan) parentOf(pl *planned) string {
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
func (p *Plan) idOf(pl *planned) string {
	if pl.rewrite() {
		return p.ex.jobs.idAt(int(pl.old - 1))
	}
	if isAccess(p.kindOf(pl)) {
		return newqueue.SequenceID(newqueue.AccessPrefix, pl.id)
	}
	return newqueue.SequenceID(newqueue.JobPrefix, pl.id)
}

// idAt is the id of the job that a row stands for.
func (j *jobRows) idAt(row int) string { return znode.Name(j.names.text(j.rows[row].root)) }

// idOfMember is a member's id, "" for none.
func (p *Plan) idOfMember(m member) string {
	if i, ok := m.made(); ok {
		return p.idOf(&p.creates[i])
	}
	if i, ok := m.stands(); ok {
		return p.ex.jobs.idAt(i)
	}
	return ""
}

// whole is a planned job with its record and its present ids.
func (p *Plan) whole(pl *planned, rec *Record) *job {
	j := &job{rec: rec, land: p.lands[pl.land], run: p.Run, id: p.idOf(pl), batch: p.batchOf(pl)}
	if pl.rewrite() {
		j.run = p.ex.jobs.placed(p.ex.jobs.rows[pl.old-1]).prov.Run
	}
	if j.batch != nil {
		j.bid = j.batch.bid
	}
	return j
}

// landingOf is the index of a landing in [Plan.lands]. There are few different ones.
func (p *Plan) landingOf(land landing) uint8 {
	i := slices.Index(p.lands, land)
	if i < 0 {
		i = len(p.lands)
		p.lands = append(p.lands, land)
	}
	return uint8(i)
}
