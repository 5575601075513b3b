package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// objectJob is a planned job that will record an object.
type objectJob struct {
	object uint64 // see [plannedJob]
	at     int32  // see [Plan.plannedJob]
}

// noteSameObject warns of objects that have an ingest and an inventory record. Both jobs
// would record the object.
func (p *Plan) noteSameObject(ctx context.Context) error {
	var ingest []objectJob
	var inventory []int32
	for i := range p.plannedCount() {
		pl := p.plannedJob(i)
		switch kind := p.kindOf(pl); {
		case pl.object == 0:
		case kind == Ingest:
			ingest = append(ingest, objectJob{pl.object, int32(i)})
		case kind == Inventory:
			inventory = append(inventory, int32(i))
		}
	}
	slices.SortFunc(ingest, func(a, b objectJob) int { return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.at, b.at)) })
	others := map[int32]string{} // the path of the ingest record, by the inventory job
	inventory = slices.DeleteFunc(inventory, func(i int32) bool {
		// Of several ingest jobs, the last.
		at, _ := slices.BinarySearchFunc(ingest, p.plannedJob(int(i)).object+1, func(o objectJob, object uint64) int { return cmp.Compare(o.object, object) })
		if at == 0 || ingest[at-1].object != p.plannedJob(int(i)).object {
			return true
		}
		others[i] = p.listed.path(p.plannedJob(int(ingest[at-1].at)).record)
		return false
	})
	jobs := func(yield func(*plannedJob) bool) {
		for _, i := range inventory {
			if !yield(p.plannedJob(int(i))) {
				return
			}
		}
	}
	next := 0
	for j, err := range p.loaded(ctx, jobs) {
		if err != nil {
			return err
		}
		object, other := objectOf(*j.rec, p.initialStates[j.initial]), others[inventory[next]]
		next++
		p.warn(j.rec.Path, fmt.Sprintf("object %s has an ingest record too, %s: both jobs will record it", object, other))
	}
	return nil
}
