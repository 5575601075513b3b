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

// Taken is one record that a run migrated, and what happened to its job since, as the target
// alone shows it.
type Taken struct {
	Record string
	Run    string
	Job    string // /jobs/JID or /access/QUEUE/QID; "" for a record that was declared done
	Batch  string // bid; "" for an access request
	// Standing says that the job is there. Provenance is what it says of the record.
	Standing   bool
	Provenance Provenance
	// Touched says how another client changed a standing job since the run created it, "" if
	// nobody did. Gone says what happened to a job that is not there any more.
	Touched, Gone string
	// Settled says that the record was declared done, and that no job was made.
	Settled bool
	// State is the state in the status of a standing job.
	State string
	// At is when the run created the job. If the job is gone, it is when a shard of the
	// ledger got its entry, at most some transactions later. It is zero if the target is a
	// copy, or a dump without Stats.
	At time.Time
}

// ReadTaken yields all records in a target's ledger: first those whose jobs are there, in
// the order in which they are read, then the others by path. It ends after the first
// error.
func ReadTaken(ctx context.Context, target side.Side) iter.Seq2[Taken, error] {
	return func(yield func(Taken, error) bool) {
		tk := taking{}
		t, err := surveyTarget(ctx, target, "", surveyor{job: func(t *survey, ex *existing, p placed, why string) error {
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
			yield(Taken{}, err)
			return
		}
		tk.begin(t)
		for i, row := range t.custody.held.rows {
			if tk.standing[i] {
				continue
			}
			h := t.custody.held.held(row)
			taken := tk.of(t, h, tk.clock[h.made.to])
			taken.Gone = t.gone(h)
			if !yield(taken, nil) {
				return
			}
		}
	}
}

// errEnough ends a survey when the caller wants no more.
var errEnough = errors.New("enough")

// taking is the state of [ReadTaken].
type taking struct {
	clock    map[int64]int64
	standing []bool // whether a record's job is there, by the ledger's row
}

func (tk *taking) begin(t *survey) {
	if tk.clock == nil {
		tk.clock, tk.standing = ledgerClock(t.tree, t.runs), make([]bool, len(t.custody.held.rows))
	}
}

// job makes a Taken of a job. ok is false if the ledger does not have the job.
func (tk *taking) job(t *survey, ex *existing, p placed, why string) (taken Taken, ok bool) {
	tk.begin(t)
	i, there := t.custody.held.index(p.prov.Path)
	if !there || t.custody.held.at(i).root != p.root {
		return Taken{}, false
	}
	tk.standing[i] = true
	h := t.custody.held.at(i)
	own := ex.tree.Get(p.root)
	ctime := tk.clock[h.made.to]
	if ex.madeAgain(p) == "" {
		ctime = own.Stat.Ctime
	}
	taken = tk.of(t, h, ctime)
	taken.Standing, taken.Touched = true, why
	taken.Provenance, _ = parseProvenance(own.Data)
	taken.State = statusIn(dataOf(ex.tree.Get(p.root + "/status")))
	return taken, true
}

func (tk *taking) of(t *survey, h held, ctime int64) Taken {
	taken := Taken{Record: h.record, Run: h.run, Job: h.root, Batch: h.bid, Settled: h.op == settled}
	if t.spans[h.run].known() && ctime != 0 {
		taken.At = time.UnixMilli(ctime).UTC()
	}
	return taken
}

// ledgerClock has the times of the transactions that created shards or last set a run's
// record. These transactions bound the span of an entry; see [held].
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

// StandingBatch is a batch of a target.
type StandingBatch struct {
	UUID  string // its name under /batch-uuids, escaped as it is there; "" if it has none
	State string
}

// ReadBatches reads a target's batches, by BID.
func ReadBatches(ctx context.Context, target side.Side) (map[string]StandingBatch, error) {
	names, err := childrenOf(ctx, target, newqueue.BatchesPath)
	if err != nil {
		return nil, err
	}
	all := map[string]StandingBatch{}
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
		b := StandingBatch{State: statusIn(nil)}
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
