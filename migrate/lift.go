package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

type liftPlan struct {
	ops    []znode.Op
	queues []newqueue.QueueHold       // that lose an owner of their hold
	lifted []string                   // the holds that go
	left   []migration.Hold           // as they are afterwards
	atWork []migration.LegacyActivity // that keeps holds
	stays  error                      // has each reason why a hold stays: it wraps ErrUndecided or ErrAtWork
}

// planLift decides what a release does with the holds. The hold of a run stays if somebody must decide about a record of its queue, or if
// legacy workers may be at work. waits are the records that the release could not hand over because legacy workers have them.
func planLift(opt ReleaseOptions, holds []migration.Hold, undecided []migration.Note, work []migration.LegacyActivity, waits []string) liftPlan {
	l := liftPlan{lifted: []string{}, left: []migration.Hold{}, atWork: []migration.LegacyActivity{}}
	for _, h := range holds {
		if !opt.takesOwners(h) || h.OfRun() && h.Queue != "" && l.mustStay(opt, target.ReleasedTogether(h.Queue), undecided, work) {
			l.left = append(l.left, h)
			continue
		}
		if h.Queue != "" {
			l.queues = append(l.queues, h.Queue)
		}
		owners := opt.ownersAfter(h)
		l.ops = append(l.ops, setOwners(h, owners))
		if len(owners) == 0 {
			l.lifted = append(l.lifted, h.Path)
		} else {
			h.Owners = owners
			l.left = append(l.left, h)
		}
	}
	switch { // of queues whose holds somebody else has lifted
	case l.stays == nil && len(undecided) > 0:
		l.stays = fmt.Errorf("%w: %s", ErrUndecided, undecided[0].Record)
	case l.stays == nil && len(waits) > 0:
		l.stays, l.atWork = fmt.Errorf("%w: %s", ErrAtWork, waits[0]), work
	}
	return l
}

// mustStay reports whether the hold of a queue can't be lifted yet, and adds why. together are the queues that are released with it.
func (l *liftPlan) mustStay(opt ReleaseOptions, together []newqueue.QueueHold, undecided []migration.Note, work []migration.LegacyActivity) bool {
	asks := slices.IndexFunc(undecided, func(n migration.Note) bool { return slices.Contains(together, n.Queue) })
	if asks >= 0 {
		l.stays = errors.Join(l.stays, fmt.Errorf("%w: %s", ErrUndecided, undecided[asks].Record))
	}
	here := slices.IndexFunc(work, func(w migration.LegacyActivity) bool { return slices.Contains(together, w.Queue) })
	if here < 0 || opt.acceptsWork(work) {
		return asks >= 0
	}
	l.atWork = slices.SortedStableFunc(slices.Values(work), byRelease) // all, because that is what the operator counts
	l.stays = errors.Join(l.stays, fmt.Errorf("%w: %s", ErrAtWork, work[here].Path))
	return true
}

// byRelease orders as the queues are released.
func byRelease(a, b migration.LegacyActivity) int {
	first := func(w migration.LegacyActivity) int {
		return slices.Index(newqueue.QueueHolds, target.ReleasedTogether(w.Queue)[0])
	}
	return cmp.Compare(first(a), first(b))
}

// setOwners is the operation that gives a hold these owners. Without any, the hold goes.
func setOwners(h migration.Hold, owners migration.HoldOwners) znode.Op {
	if len(owners) == 0 {
		return znode.Delete(h.Path, h.Stat.Version)
	}
	return znode.Set(h.Path, ledger.EncodeOwners(owners), h.Stat.Version)
}

// acceptsWork reports whether the operator has said that nobody works on what shows legacy work.
func (opt ReleaseOptions) acceptsWork(work []migration.LegacyActivity) bool {
	return opt.WorkersStopped > 0 && len(work) <= opt.WorkersStopped
}

func (opt ReleaseOptions) ownersAfter(h migration.Hold) migration.HoldOwners {
	if opt.Others || h.Collection != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.Owners), func(o migration.HoldOwner) bool { return migration.IsRunID(o.By) })
}

func (opt ReleaseOptions) takesOwners(h migration.Hold) bool {
	about := slices.Contains(opt.Queues, h.Queue)
	if h.Collection != "" {
		about = slices.Contains(opt.Collections, h.Collection)
	} else if len(opt.Queues) == 0 {
		about = len(opt.Collections) == 0
	}
	return about && len(opt.ownersAfter(h)) < len(h.Owners)
}
