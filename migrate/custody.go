package migrate

import (
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// custody is what the ledgers of all runs say together: which records were migrated,
// even if their jobs are gone.
type custody struct {
	entries custodyRows      // by the record's path
	sound   map[string]bool  // runs, by id, whose ledger could be read
	damage  []Problem        // records of runs, ledgers and the trace that another client changed or removed
	lost    int              // how many records' entries a rebuilt ledger lacks
	highest map[string]int32 // the highest sequence that was migrated, by the queue's znode
}

// lookup returns what the ledger says of a record now.
func (c *custody) lookup(record string) (h custodyEntry, there bool) { return c.entries.find(record) }

// span is the range of transactions in which a run created its znodes. The zero span
// means that the range is not known, because the tree was restored from a dump.
type span struct{ from, to int64 }

func (s span) known() bool              { return s != span{} }
func (s span) contains(zxid int64) bool { return s.from <= zxid && zxid <= s.to }

// span is the run's range of transactions. It begins with the one that created the run's
// record. It ends with the one that created the closing shard, or, while the run is not
// done, with the newest that set the record. A shard that is newer than the record is
// not the one that the run created.
func (r Run) span(tree *znode.Tree) span {
	switch {
	case r.Copied || r.stat.Czxid == 0 || r.Steps != r.stat.Version:
		return span{}
	case r.From != 0:
		return span{r.From, r.To}
	case r.Ledger.Closed == 0:
		return span{r.stat.Czxid, r.stat.Mzxid}
	}
	if n := tree.Get(shardPath(r.ID, r.Ledger.Closed-1)); n != nil {
		return span{r.stat.Czxid, min(n.Stat.Czxid, r.stat.Mzxid)}
	}
	return span{}
}

// readCustody reads the ledgers of the target's sound runs, and lists the damage.
func readCustody(names *names, tree *znode.Tree, runs []Run, damage []Problem) *custody {
	c := &custody{entries: newCustodyRows(names), sound: map[string]bool{}, damage: damage, highest: map[string]int32{}}
	lossy := -1 // the newest run that lost entries; the runs after it have all of theirs
	for i, r := range runs {
		if c.lost += r.Lost; r.Lost > 0 {
			lossy = i
		}
	}
	for i, r := range runs {
		for queue, n := range r.Ledger.Highest {
			if i > lossy {
				break
			}
			if h, there := c.highest[queue]; !there || uint32(n) > uint32(h) {
				c.highest[queue] = n
			}
		}
		if r.Ledger.Void {
			continue
		}
		if bad := (*damaged)(nil); errors.As(c.add(tree, r), &bad) {
			c.addDamage(bad.path, bad.why)
			continue
		}
		c.sound[r.ID] = true
	}
	c.entries.keepNewest()
	for i, r := range runs {
		if i < len(runs)-1 && !r.ended() {
			c.addDamage(r.path(), fmt.Sprintf("it is %s, and %s came after it: no run begins while another is unfinished", r.State, runs[i+1].ID))
		}
	}
	c.checkShards(tree, runs)
	c.checkTrace(tree, runs)
	return c
}

// checkShards looks for shards that were created in another order than the log's.
// [Run.checkTransactions] compares the newest shard with its run's record.
func (c *custody) checkShards(tree *znode.Tree, runs []Run) {
	for _, r := range runs {
		if !r.span(tree).known() {
			continue
		}
		next := r.stat.Mzxid
		for i := r.Ledger.Shards - 1; i >= 0; i-- {
			n := tree.Get(shardPath(r.ID, i))
			if n == nil {
				break // already listed as damage
			}
			if n.Stat.Czxid > next {
				if i < r.Ledger.Shards-1 {
					c.addDamage(n.Path, "it was created after the shard that follows it: another client recreated it")
				}
				continue
			}
			next = n.Stat.Czxid
		}
	}
}

func (c *custody) addDamage(path, why string) {
	c.damage = append(c.damage, rebuildable(Problem{Kind: LedgerDamaged, Path: path, Message: why}))
}

const rebuildHint = "put back what was there, or rebuild what can be rebuilt from the jobs that still exist"

// rebuildable is a problem that [Migrator.Rebuild] mends.
func rebuildable(p Problem) Problem {
	p.Next, p.Rebuildable = p.Next+rebuildHint, true
	return p
}

// add adds what one run's log says. It adds nothing of a damaged log.
func (c *custody) add(tree *znode.Tree, r Run) error {
	before := len(c.entries.rows)
	whole, after := r.span(tree), r.stat.Czxid
	err := walkLedger(tree, r, func(shard *znode.Node, entries []ledgerEntry) {
		// The entries' jobs were created after the shard before theirs, and not after
		// their own shard.
		createdIn := span{after, r.stat.Mzxid}
		if shard != nil {
			createdIn.to = min(createdIn.to, shard.Stat.Czxid)
			after = shard.Stat.Czxid
		}
		switch {
		case !whole.known():
			createdIn = span{}
		case r.From != 0:
			createdIn = span{r.From, r.To}
		}
		c.entries.add(r.ID, createdIn, entries)
	})
	if err != nil {
		c.entries.rows = c.entries.rows[:before]
	}
	return err
}

// checkTrace compares the runs with those that the trace on /jobs lists.
func (c *custody) checkTrace(tree *znode.Tree, runs []Run) {
	named := map[string]bool{}
	for _, d := range c.damage {
		named[d.Path] = true
	}
	there := map[string]Run{}
	for _, r := range runs {
		there[r.ID] = r
	}
	t, ok := readTrace(tree)
	jobs := tree.Get(newqueue.JobsPath)
	if !ok {
		if len(runs) > 0 {
			c.addDamage(newqueue.JobsPath, fmt.Sprintf("its data should name the run %s, and is %q", runs[len(runs)-1].ID, clip(dataOf(jobs))))
		}
		return
	}
	for _, tr := range t.Runs {
		path := znode.Join(RunsPath, tr.ID)
		switch r, is := there[tr.ID]; {
		case !is && named[path]:
		case !is:
			c.addDamage(path, fmt.Sprintf("the record of %s is gone, and with it the custody of %s; the trace on /jobs says that it ran here", tr.ID, counted(tr.Entries, "record", "records")))
		case r.ended():
			if !(trace{Runs: []tracedRun{tr}}).sameRuns(trace{Runs: []tracedRun{traceOf(r)}}) {
				c.addDamage(path, "it differs from the trace on /jobs, which the same transaction wrote: one of the two was changed since")
			}
		}
	}
	for _, r := range runs {
		if _, is := t.find(r.ID); !is {
			c.addDamage(r.path(), "the trace on /jobs does not list this run: no migration made this record")
		}
	}
	switch s := jobs.Stat; {
	case s.Czxid == 0 || copied(runs):
	case s.Version != t.Sets:
		c.addDamage(newqueue.JobsPath, fmt.Sprintf("its version is %d, and the last run left it at %d: another client wrote to it", s.Version, t.Sets))
	case len(runs) > 0 && !setByMigrator(tree, runs): // without runs, nothing is left to compare it with
		c.addDamage(newqueue.JobsPath, fmt.Sprintf("it was written in transaction %#x, which wrote nothing of a run: another client wrote to it", s.Mzxid))
	}
}

// setByMigrator reports whether the last transaction that set the trace also wrote another znode
// of a migration: a run's record, a shard, or something in their folders. Each
// transaction of a migration that sets the trace does that. While a run is unfinished,
// others may have set the trace too, so signed is true.
func setByMigrator(tree *znode.Tree, runs []Run) bool {
	set := tree.Get(newqueue.JobsPath).Stat.Mzxid
	for _, r := range runs {
		if !r.ended() || r.stat.Czxid == set || r.stat.Mzxid == set {
			return true
		}
	}
	for _, folder := range []string{RunsPath, LedgerPath} {
		if n := tree.Get(folder); n != nil && n.Stat.Pzxid == set {
			return true
		}
	}
	return false
}

// copied reports whether the tree was restored from a dump: then no run's record has the
// version that its run left.
func copied(runs []Run) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r Run) bool { return r.Steps == r.stat.Version && !r.Copied })
}

func dataOf(n *znode.Node) []byte {
	if n == nil {
		return nil
	}
	return n.Data
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// whyGone says what happened to the job of a migrated record that is no longer in the
// target. It says what the target shows, not who did it.
func (h custodyEntry) whyGone(batchStands bool) string {
	switch {
	case h.op == opDeclaredDone:
		return fmt.Sprintf("declared done in %s", h.run)
	case h.bid == "":
		return fmt.Sprintf("migrated as %s by %s, and gone: finished and cleaned up, or deleted", h.root, h.run)
	case !batchStands:
		return fmt.Sprintf("migrated as %s by %s, and gone with its batch %s: finished and cleaned up", h.root, h.run, h.bid)
	}
	return fmt.Sprintf("migrated as %s by %s, and deleted: its batch %s still exists", h.root, h.run, h.bid)
}
