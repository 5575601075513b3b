package migrate

import (
	"time"

	"mrtq/internal/znode"
)

// Taken is one record that a run took over, and what became of its job, as the
// target alone tells.
type Taken struct {
	Record string
	Run    string
	Job    string // /jobs/JID or /access/QUEUE/QID; "" for a record that was declared done
	Batch  string // bid; "" for an access request
	// Standing: the job is there, and Provenance is what it says of the record.
	Standing   bool
	Provenance Provenance
	// Touched is what somebody changed of a standing job since the run made it,
	// "" for nothing; Gone what became of one that doesn't stand.
	Touched, Gone string
	// Settled: it was declared done, and no job was made.
	Settled bool
	// At is when the run made the job; of one that is gone, when the run entered
	// it in the ledger, some transactions later at most. Zero where that can't be
	// told: the target is a copy, or a dump without Stats.
	At time.Time
}

// ReadTaken are all records of which a target's ledger has the custody, by path.
// It is a pure function.
func ReadTaken(tree *znode.Tree) []Taken {
	ex := readExisting(tree)
	clock := ledgerClock(tree, ex.runs)
	var taken []Taken
	for h := range ex.custody.held.all() {
		t := Taken{Record: h.record, Run: h.run, Job: h.root, Batch: h.bid, Settled: h.op == settled}
		p, there := ex.job(h.record)
		t.Standing = there && p.root == h.root
		ctime := clock[h.made.to]
		if t.Standing {
			t.Provenance, _ = parseProvenance(tree.Get(p.root).Data)
			t.Touched = ex.touched(p)
			if ex.madeAgain(p) == "" {
				ctime = tree.Get(p.root).Stat.Ctime
			}
		} else {
			t.Gone = ex.gone(h)
		}
		if ex.spans[h.run].known() && ctime != 0 {
			t.At = time.UnixMilli(ctime).UTC()
		}
		taken = append(taken, t)
	}
	return taken
}

// ledgerClock is the time of the transactions that made shards or set a run's
// record last: those that bound an entry, see [held].
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
