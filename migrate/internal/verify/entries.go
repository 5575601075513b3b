package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
)

// checkEntries looks for entries of the runs' jobs that are in the wrong place, and for
// folders that nobody needs. If a folder has as many entries as jobs that were seen to
// have theirs in it, there is nothing to look for.
func (v *verifier) checkEntries(ctx context.Context) error {
	folders, err := v.folders(ctx)
	if err != nil {
		return err
	}
	var where map[string]*ledger.Migrated // the runs' jobs, by id; made only if it is needed
	for _, folder := range folders {
		if int(folder.Stat.NumChildren) == v.expected[folder.Path] {
			continue
		}
		if where == nil {
			where = v.jobsByID()
		}
		if err := v.checkFolder(ctx, folder.Path, where); err != nil {
			return err
		}
	}
	return nil
}

// folders are all folders of entries: the queues of all states, and the folders of the
// runs' batches.
func (v *verifier) folders(ctx context.Context) ([]znode.Node, error) {
	var paths []string
	states, err := v.t.Reader.ChildrenAll(ctx, []string{newqueue.JobStatesPath})
	if err != nil {
		return nil, err
	}
	for _, name := range states[0] {
		paths = append(paths, znode.Join(newqueue.JobStatesPath, name))
	}
	for bid := range v.batches {
		for _, f := range newqueue.BatchFolders {
			paths = append(paths, newqueue.BatchFolderPath(bid, f))
		}
	}
	slices.Sort(paths)
	return v.t.Reader.GetAll(ctx, paths, nil)
}

func (v *verifier) jobsByID() map[string]*ledger.Migrated {
	jobs := map[string]*ledger.Migrated{}
	for e := range v.t.Ledger.All() {
		jobs[znode.Name(e.Job)] = e
	}
	return jobs
}

// checkFolder looks at each entry of a folder whose job a run created, and which is there
// although the job is not in that state. It looks several times, because a worker may be
// moving the job.
func (v *verifier) checkFolder(ctx context.Context, folder string, where map[string]*ledger.Migrated) error {
	names, err := v.t.Reader.Children(ctx, folder)
	if err != nil {
		return err
	}
	slices.Sort(names)
	var ours []suspect
	var others []string
	for _, name := range names {
		e := where[idIn(name)]
		if e == nil {
			others = append(others, name)
			continue
		}
		ours = append(ours, suspect{item: item{entry: e, run: &v.t.Ledger.Runs[e.Run], queue: newqueue.HoldIngest}, differs: znode.Join(folder, name)})
	}
	if err := v.checkOrphans(ctx, folder, others); err != nil {
		return err
	}
	return v.checkPlaces(ctx, ours)
}

// idIn is the id that the name of an entry has: in the queue of a state, it follows the priority.
func idIn(entry string) string { return entry[strings.IndexByte(entry, '-')+1:] }

// checkPlaces looks whether jobs should have an entry: suspect.differs is its path. A job that a session has locked is looked at
// again.
func (v *verifier) checkPlaces(ctx context.Context, ours []suspect) error {
	c := v.newComparison(ctx)
	for some := range slices.Chunk(ours, partSize) {
		var locked []suspect
		if err := c.judgePlaces(some, func(s suspect, seen sight) {
			if seen.session() != 0 {
				locked = append(locked, s)
			} else {
				v.misplaced(s, seen)
			}
		}); err != nil {
			return err
		}
		if len(locked) == 0 {
			continue
		}
		if err := sleep(ctx, layout.Patience); err != nil {
			return err
		}
		if err := c.judgePlaces(locked, func(s suspect, seen sight) {
			if seen.session() != 0 {
				seen.at = s.differs
				v.noticeWork(s.item, seen)
			} else {
				v.misplaced(s, seen)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// judgePlaces calls found with each job that should not have the entry, and has it.
func (c *comparison) judgePlaces(some []suspect, found func(suspect, sight)) error {
	seen, err := c.look(some)
	if err != nil {
		return err
	}
	for i, s := range some {
		if slices.Contains(seen[i].entries, s.differs) || !seen[i].there && c.v.isBeingCleaned(c.ctx, s.differs) {
			continue
		}
		_, there, err := c.v.t.Reader.Exists(c.ctx, s.differs)
		if err != nil {
			return err
		}
		if there {
			found(s, seen[i])
		}
	}
	return nil
}

// misplaced is the difference of an entry that its job should not have.
func (v *verifier) misplaced(s suspect, seen sight) {
	d := Difference{Kind: Extra, Path: s.differs, Record: s.entry.Record, Queue: s.queue, By: killedDaemon,
		Message: fmt.Sprintf("an entry of %s, which is %s", znode.Name(s.entry.Job), seen.stateText())}
	_, _, err := newqueue.ParseJobEntry(znode.Name(s.differs))
	switch {
	case !seen.there:
		d.By = deletedNode
	case err != nil && znode.Within(s.differs, newqueue.JobStatesPath):
		d.Kind, d.By = Layout, estimate
		d.Message = "no daemon finds a priority that has not two digits. While no worker has the job, write a priority of at most 99, create the entry that has it, and delete this one"
	}
	v.differ(d)
}

func (s sight) stateText() string {
	if !s.there {
		return "not there"
	}
	return s.state
}

// isBeingCleaned reports whether an entry is in a batch that the services' cleanup removes.
// It removes the batch's jobs first, and their entries with the batch.
func (v *verifier) isBeingCleaned(ctx context.Context, entry string) bool {
	bid := v.batchAt(entry)
	if bid == "" {
		return false
	}
	there, err := v.t.Batches(ctx, []string{bid}, v.dialect)
	if err != nil {
		return false
	}
	state := there[bid].State
	return state == newqueue.BatchCompleted || state == newqueue.BatchDeleted
}
