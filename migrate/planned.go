package migrate

import (
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// planned is one record of which the plan makes a job or an access request, or
// rewrites it. Of a million records there are as many, so it has no pointers and is
// small; what the record holds is read again when the job is made.
type planned struct {
	number int64  // that a new one gets; see [numbering]
	object uint64 // hash of what [objectOf] says; 0 for nothing
	place  int32  // of the record; see [places]
	batch  int32  // index into [Plan.joined], as one more; 0 for an access request
	old    int32  // row of the job that it replaces, as one more; 0 for a new one
	size   int32  // of the record's data
	id     int32  // the number in a new one's id as it is now
	land   uint8  // index into [Plan.lands]
}

// rewrite reports whether a job stands that is to be replaced.
func (pl *planned) rewrite() bool { return pl.old > 0 }

// allPlanned yields what the plan makes in the order in which it does: first the
// jobs that are rewritten, then the new ones by ascending id.
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

// planned is the i-th of them.
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

// parentOfNew is where records of a kind go.
func parentOfNew(kind QueueKind) string {
	if isAccess(kind) {
		return newqueue.AccessQueuePath(accessQueue(kind))
	}
	return newqueue.JobsPath
}

// idOf is the job's id as it is now.
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

// idOfMember is the id of a job that is made or stands, "" for none.
func (p *Plan) idOfMember(m member) string {
	if i, ok := m.made(); ok {
		return p.idOf(&p.creates[i])
	}
	if i, ok := m.stands(); ok {
		return p.ex.jobs.idAt(i)
	}
	return ""
}

// whole is a planned job as of now, with its record.
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

// landingOf is the number of a landing, of which there are few.
func (p *Plan) landingOf(land landing) uint8 {
	i := slices.Index(p.lands, land)
	if i < 0 {
		i = len(p.lands)
		p.lands = append(p.lands, land)
	}
	return uint8(i)
}
