// Package target reads what a target holds: the migration's own records, the holds, and
// what a plan must know of the batches that are there. It writes nothing.
package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Target is a target as it was read by [Read].
type Target struct {
	Reader *zkconn.Reader
	Ledger *ledger.Ledger
	// Damage is not nil if the migration's own records are not complete. It is an
	// [ledger.ErrDamaged]. Then Ledger has only what could be read, and nothing may be
	// decided by it.
	Damage error
	Holds  []migration.Hold // on queues, then on collections, sorted by path
	// Layout has the Stats of the layout's own znodes that are there, by path: parents of
	// batches, jobs and so on, but none of these themselves.
	Layout map[string]znode.Stat
	// JobsVersion is the version of /jobs; -1 if it is not there. Named is the run that it names as the newest one; "" if it
	// names none.
	JobsVersion int32
	Named       string

	progress func(done, total int)
}

// Read reads a target. progress is called with how many of the runs' records were read from the ledger. An error comes from
// reading.
func Read(ctx context.Context, r *zkconn.Reader, progress func(done, total int)) (*Target, error) {
	t := &Target{progress: progress, Reader: r, Ledger: ledger.New(nil), Layout: map[string]znode.Stat{}, JobsVersion: -1}
	if err := r.Sync(ctx); err != nil { // the member of an ensemble may lag behind the others
		return nil, err
	}
	// /jobs before the runs, because a run's first transaction sets both.
	err := t.readLayout(ctx)
	if err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context) error{
		t.readRuns,
		t.readEntries,
		t.readHolds,
	} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Target) readLayout(ctx context.Context) error {
	nodes, err := t.Reader.GetAll(ctx, layoutPaths())
	for _, n := range nodes {
		t.Layout[n.Path] = n.Stat
		if n.Path == newqueue.JobsPath {
			t.Named, t.JobsVersion = ledger.ParseNewest(n.Data), n.Stat.Version
		}
	}
	return err
}

func layoutPaths() []string {
	paths := []string{ledger.MigrationPath, ledger.RunsPath, ledger.EntriesPath, ledger.ElectionPath,
		newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.JobStatesPath, newqueue.AccessPath, newqueue.LocksPath, newqueue.QueueLocksPath}
	for _, d := range newqueue.Dialects {
		paths = append(paths, d.StartNodes()...)
		paths = append(paths, d.LocalIDLocksPath())
		for _, s := range d.JobStates() {
			paths = append(paths, newqueue.JobStatePath(s))
		}
	}
	for _, q := range newqueue.AccessQueues {
		paths = append(paths, newqueue.AccessQueuePath(q))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// HasQueue reports whether there is a new queue, or the records of a migration.
func (t *Target) HasQueue() bool {
	_, jobs := t.Layout[newqueue.JobsPath]
	_, migration := t.Layout[ledger.MigrationPath]
	return jobs || migration
}

func (t *Target) damaged(err error) {
	if t.Damage == nil {
		t.Damage = err
	}
}

func (t *Target) readRuns(ctx context.Context) error {
	names, err := t.Reader.Children(ctx, ledger.RunsPath)
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !migration.IsRunID(name) })
	slices.Sort(names)
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = ledger.RunPath(name)
	}
	nodes, err := t.Reader.GetAll(ctx, paths)
	if err != nil {
		return err
	}
	var runs []migration.Run
	for _, n := range nodes {
		run, err := ledger.ParseRun(n)
		if errors.Is(err, ledger.ErrDamaged) {
			t.damaged(err)
			continue
		}
		if err != nil {
			return err
		}
		if n.Stat.EphemeralOwner != 0 {
			t.damaged(damage(n.Path, isEphemeral))
		}
		if want := migration.RunID(int32(len(runs))); run.ID != want {
			t.damaged(damage(ledger.RunPath(want), "it is not there, although the later "+run.ID+" is"))
		}
		runs = append(runs, run)
	}
	if t.Named != "" && (len(runs) == 0 || runs[len(runs)-1].ID < t.Named) {
		t.damaged(damage(ledger.RunPath(t.Named), newqueue.JobsPath+" says that it is the newest run, and it is not there"))
	}
	t.Ledger = ledger.New(runs)
	if newest := t.Ledger.Newest(); newest != nil && t.Named < newest.ID { // it may have begun since /jobs was read
		if err := t.readLayout(ctx); err != nil {
			return err
		}
		t.Named = min(t.Named, newest.ID) // another one may have begun, too
	}
	return nil
}

func damage(path, what string) error { return &ledger.DamageError{Path: path, What: what} }

const isEphemeral = "it is ephemeral, so ZooKeeper will remove it when a session ends"

// entriesPerRead is how many entries are read together. Each has the records of one
// transaction.
const entriesPerRead part.Size = 500

func (t *Target) readEntries(ctx context.Context) error {
	if t.Damage != nil {
		return nil
	}
	total := 0
	for _, run := range t.Ledger.Runs {
		total += run.Created.Records() - run.Removed.Records()
	}
	for i, run := range t.Ledger.Runs {
		for from := 0; from < run.Entries; from += entriesPerRead.N() {
			var paths []string
			for n := from; n < min(from+entriesPerRead.N(), run.Entries); n++ {
				path, _, _ := ledger.EntryPath(run.ID, n)
				paths = append(paths, path)
			}
			t.progress(t.Ledger.Len(), total)
			nodes, err := t.Reader.GetAll(ctx, paths)
			if err != nil {
				return err
			}
			for j, path := range paths {
				if j == len(nodes) || nodes[j].Path != path {
					t.damaged(damage(path, fmt.Sprintf("it is not there, and %s says that the run has %d entries", ledger.RunPath(run.ID), run.Entries)))
					return nil
				}
				if nodes[j].Stat.EphemeralOwner != 0 {
					t.damaged(damage(path, isEphemeral))
					return nil
				}
				if err := t.Ledger.Add(i, path, nodes[j].Data); err != nil {
					t.damaged(err)
					return nil
				}
			}
		}
	}
	for i := range t.Ledger.Runs { // a later run may take back what an earlier one made
		if err := t.Ledger.Check(i); err != nil {
			t.damaged(err)
		}
	}
	return nil
}

func (t *Target) readHolds(ctx context.Context) error {
	for _, parent := range []string{newqueue.QueueLocksPath, newqueue.CollectionLocksPath} {
		names, err := t.Reader.Children(ctx, parent)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		slices.Sort(names)
		var paths []string
		for _, name := range names {
			if parent == newqueue.CollectionLocksPath || slices.Contains(newqueue.QueueHolds, newqueue.QueueHold(name)) {
				paths = append(paths, znode.Join(parent, name))
			}
		}
		nodes, err := t.Reader.GetAll(ctx, paths)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			h := migration.Hold{Path: n.Path, Owners: ledger.ParseOwners(n.Data), Stat: n.Stat}
			if parent == newqueue.QueueLocksPath {
				h.Queue = newqueue.QueueHold(znode.Name(n.Path))
			} else {
				h.Collection = znode.Name(n.Path)
			}
			t.Holds = append(t.Holds, h)
		}
	}
	order := func(h migration.Hold) uint { return uint(slices.Index(newqueue.QueueHolds, h.Queue)) } // -1, a collection, is last
	slices.SortStableFunc(t.Holds, func(a, b migration.Hold) int { return cmp.Compare(order(a), order(b)) })
	return nil
}

// Hold returns the hold on a queue; nil if the queue is not held.
func (t *Target) Hold(q newqueue.QueueHold) *migration.Hold {
	for i := range t.Holds {
		if t.Holds[i].Queue == q {
			return &t.Holds[i]
		}
	}
	return nil
}

// MayHaveBegun reports whether the workers of a queue may have worked on the jobs of a run:
// the queue was released, or the run was rolled back, or the run is not among the owners of
// the hold, because somebody lifted it without mrtq. Both access queues count as released
// when one of them is, because the large worker takes small requests too.
func (t *Target) MayHaveBegun(run *migration.Run, q newqueue.QueueHold) bool {
	return run.State == migration.RunRolledBack || slices.ContainsFunc(ReleasedTogether(q), func(q newqueue.QueueHold) bool { return t.released(run, q) })
}

func (t *Target) released(run *migration.Run, q newqueue.QueueHold) bool {
	if !run.ReleasedAt(q).IsZero() {
		return true
	}
	hold := t.Hold(q)
	return run.State == migration.RunDone && (hold == nil || !hold.Owners.Has(run.ID))
}

// AlwaysHeld reports whether a queue was held all the time since a run began: its hold is no younger than the
// run's record. So no worker that respects holds can have begun the run's jobs. For access requests both
// holds count, because the large worker takes small ones too.
func (t *Target) AlwaysHeld(run *migration.Run, q newqueue.QueueHold) bool {
	if run.Restored {
		return false // the znodes' transactions show nothing
	}
	return !slices.ContainsFunc(ReleasedTogether(q), func(hold newqueue.QueueHold) bool {
		h := t.Hold(hold)
		return h == nil || h.Stat.Czxid > run.Stat.Czxid
	})
}

// Unreleased returns how many records of done runs were not handed over, and the indices of the runs whose release has begun
// and not ended: records of a queue were handed over, and others were not, or the queue is still held.
func (t *Target) Unreleased() (due int, releasing []int) {
	type queue struct {
		run  int32
		hold newqueue.QueueHold
	}
	handedOver, waits := map[queue]bool{}, map[queue]bool{}
	for e := range t.Ledger.All() {
		if t.Ledger.Runs[e.Run].State != migration.RunDone {
			continue
		}
		of := queue{e.Run, ReleasedTogether(rules.KindOf(e.Job).Hold())[0]}
		if handedOver[of] = handedOver[of] || e.HandedOver; !e.HandedOver {
			due++
			waits[of] = true
		}
	}
	for of, is := range handedOver {
		if is && (waits[of] || !t.MayHaveBegun(&t.Ledger.Runs[of.run], of.hold)) && !slices.Contains(releasing, int(of.run)) {
			releasing = append(releasing, int(of.run))
		}
	}
	return due, releasing
}

// ReleasedTogether returns the queues that are released together with a queue: both access queues, because the large
// worker takes small requests too.
func ReleasedTogether(q newqueue.QueueHold) []newqueue.QueueHold {
	if q == newqueue.HoldIngest {
		return []newqueue.QueueHold{q}
	}
	return []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}
}

// RestoredUnnoted reports whether a run's record was restored from a backup, znode by znode, and
// nobody has said since that this is known.
func (t *Target) RestoredUnnoted() bool {
	return slices.ContainsFunc(t.Ledger.Runs, migration.Run.RestoredUnnoted)
}
