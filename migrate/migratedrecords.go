package migrate

import (
	"context"
	"errors"
	"iter"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// MigratedRecord is one record that a run migrated, and what happened to its job since.
// It comes from the target alone.
type MigratedRecord struct {
	Record string
	Run    string
	Job    string // /jobs/JID or /access/QUEUE/QID; "" for a record that was declared done
	Batch  string // bid; "" for an access request
	// Exists says that the job is there. Provenance is what it says of the record.
	Exists     bool
	Provenance Provenance
	// Touched says how another client changed an existing job since the run created it, "" if
	// nobody did. Gone says what happened to a job that is not there any more.
	Touched, Gone string
	// DeclaredDone says that the record was declared done, and that no job was made.
	DeclaredDone bool
	// State is the state in the status of an existing job.
	State string
	// At is when the run created the job. If the job is gone, it is when a shard of the
	// ledger got its entry, at most some transactions later. It is zero if the target is a
	// copy, or a dump without Stats.
	At time.Time
}

// ReadMigrated yields all records in a target's ledger: first those whose jobs are there, in
// the order in which they are read, then the others by path. It ends after the first
// error.
func ReadMigrated(ctx context.Context, target side.Side) iter.Seq2[MigratedRecord, error] {
	return func(yield func(MigratedRecord, error) bool) {
		tk := migratedReader{}
		t, err := surveyTarget(ctx, target, "", surveyCalls{job: func(t *survey, ex *existing, p migratedJob, why string) error {
			taken, ok := tk.job(t, ex, p, why)
			if ok && !yield(taken, nil) {
				return errEnough
			}
			return nil
		}})
		switch {
		case errors.Is(err, errEnough):
			return
		case err != nil:
			yield(MigratedRecord{}, err)
			return
		}
		tk.begin(t)
		for i, row := range t.custody.entries.rows {
			if tk.exists[i] {
				continue
			}
			h := t.custody.entries.entry(row)
			taken := tk.of(t, h, tk.clock[h.createdIn.to])
			taken.Gone = t.whyGone(h)
			if !yield(taken, nil) {
				return
			}
		}
	}
}

// errEnough ends a survey when the caller wants no more.
var errEnough = errors.New("enough")

// migratedReader is the state of [ReadMigrated].
type migratedReader struct {
	clock  map[int64]int64
	exists []bool // whether a record's job is there, by the ledger's row
}

func (tk *migratedReader) begin(t *survey) {
	if tk.clock == nil {
		tk.clock, tk.exists = ledgerClock(t.tree, t.runs), make([]bool, len(t.custody.entries.rows))
	}
}

// job returns the MigratedRecord of a job. ok is false if the ledger does not have the job.
func (tk *migratedReader) job(t *survey, ex *existing, p migratedJob, why string) (taken MigratedRecord, ok bool) {
	tk.begin(t)
	i, there := t.custody.entries.index(p.prov.Path)
	if !there || t.custody.entries.at(i).root != p.root {
		return MigratedRecord{}, false
	}
	tk.exists[i] = true
	h := t.custody.entries.at(i)
	own := ex.tree.Get(p.root)
	ctime := tk.clock[h.createdIn.to]
	if ex.whyNotOurs(p) == "" {
		ctime = own.Stat.Ctime
	}
	taken = tk.of(t, h, ctime)
	taken.Exists, taken.Touched = true, why
	taken.Provenance, _ = parseProvenance(own.Data)
	taken.State = statusIn(dataOf(ex.tree.Get(p.root + "/status")))
	return taken, true
}

func (tk *migratedReader) of(t *survey, h custodyEntry, ctime int64) MigratedRecord {
	taken := MigratedRecord{Record: h.record, Run: h.run, Job: h.root, Batch: h.bid, DeclaredDone: h.op == opDeclaredDone}
	if t.spans[h.run].known() && ctime != 0 {
		taken.At = time.UnixMilli(ctime).UTC()
	}
	return taken
}

// ledgerClock has the times of the transactions that created shards or last set a run's
// record. These transactions bound the span of an entry; see [custodyEntry].
func ledgerClock(tree *znode.Tree, runs []Run) map[int64]int64 {
	clock := map[int64]int64{}
	for _, r := range runs {
		clock[r.stat.Mzxid] = r.stat.Mtime
		for i := range r.Ledger.Shards {
			if n := tree.Get(shardPath(r.ID, i)); n != nil {
				clock[n.Stat.Czxid] = n.Stat.Ctime
			}
		}
	}
	return clock
}

// TargetBatch is a batch of a target.
type TargetBatch struct {
	UUID  string // its name under /batch-uuids, escaped as it is there; "" if it has none
	State string
}

// ReadBatches reads a target's batches, by BID.
func ReadBatches(ctx context.Context, target side.Side) (map[string]TargetBatch, error) {
	names, err := childrenOf(ctx, target, newqueue.BatchesPath)
	if err != nil {
		return nil, err
	}
	all := map[string]TargetBatch{}
	statuses := func(yield func(string) bool) {
		for _, bid := range names {
			if !yield(newqueue.BatchPath(bid) + "/status") {
				return
			}
		}
	}
	for sub, err := range target.Subtrees(ctx, statuses) {
		if err != nil {
			return nil, err
		}
		b := TargetBatch{State: statusIn(nil)}
		if !sub.Missing() {
			b.State = statusIn(sub.Nodes[0].Data)
		}
		all[znode.Name(znode.Parent(sub.Root))] = b
	}
	for n, err := range target.Walk(ctx, newqueue.BatchUUIDsPath) {
		if err != nil {
			return nil, err
		}
		if b, there := all[string(n.Data)]; there && znode.Parent(n.Path) == newqueue.BatchUUIDsPath {
			b.UUID = znode.Name(n.Path)
			all[string(n.Data)] = b
		}
	}
	return all, nil
}
