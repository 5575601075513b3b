package migrate

import (
	"encoding/hex"
	"iter"
	"slices"

	"mrtq/internal/znode"
)

// jobRow is a migrated job or access request in memory. There is one for each, so it is
// small and has no pointers. [migratedJob] is what it says.
type jobRow struct {
	record, root, bid ref
	claim             int32 // index into jobRows.claims
	sha               [32]byte
	// What [survey] adds.
	czxid   int64 // the transaction that created it
	shape   shape
	touched bool // another client changed it since a run created it
}

// claim is what the provenance of many jobs has in common.
type claim struct {
	run, consumed string
	sha           string // if it is not the hexadecimal digest that a migration writes; else ""
}

// jobRows are the migrated jobs of a target, in the order of their records' paths.
type jobRows struct {
	names      *names
	rows       []jobRow
	claims     []claim
	claimIndex map[claim]int32 // index into claims
	lanes      []string        // see [shape]
}

func newJobRows(n *names) jobRows { return jobRows{names: n, claimIndex: map[claim]int32{}} }

// add adds a job at the end. When all are added, call sort.
func (j *jobRows) add(p migratedJob) {
	c := claim{run: p.prov.Run, consumed: p.prov.Consumed}
	row := jobRow{record: j.names.ref(p.prov.Path), root: j.names.ref(p.root), bid: j.names.ref(p.bid)}
	if sum, err := hex.DecodeString(p.prov.SHA256); err == nil && len(sum) == len(row.sha) && hex.EncodeToString(sum) == p.prov.SHA256 {
		row.sha = [32]byte(sum)
	} else {
		c.sha = p.prov.SHA256
	}
	i, known := j.claimIndex[c]
	if !known {
		i = int32(len(j.claims))
		j.claimIndex[c], j.claims = i, append(j.claims, c)
	}
	row.claim = i
	j.rows = append(j.rows, row)
}

// sort sorts the rows. The rows of one record keep their order.
func (j *jobRows) sort() {
	slices.SortStableFunc(j.rows, func(a, b jobRow) int { return j.names.compare(a.record, b.record) })
}

// job is what a row says.
func (j *jobRows) job(row jobRow) migratedJob {
	c := j.claims[row.claim]
	p := migratedJob{
		prov: origin{Run: c.run, Path: j.names.text(row.record), SHA256: c.sha, Consumed: c.consumed},
		root: j.names.text(row.root), bid: j.names.text(row.bid),
	}
	p.id = znode.Name(p.root)
	if p.prov.SHA256 == "" {
		p.prov.SHA256 = hex.EncodeToString(row.sha[:])
	}
	return p
}

// find is the job made from a record.
func (j *jobRows) find(record string) (p migratedJob, there bool) {
	if i, there := j.index(record); there {
		return j.job(j.rows[i]), true
	}
	return migratedJob{}, false
}

// index returns the index of the row of a record's job.
func (j *jobRows) index(record string) (i int, there bool) {
	r, known := j.names.find(record)
	if !known {
		return 0, false
	}
	return slices.BinarySearchFunc(j.rows, r, func(row jobRow, r ref) int { return j.names.compare(row.record, r) })
}

// all yields the jobs in the order of their records' paths.
func (j *jobRows) all() iter.Seq[migratedJob] {
	return func(yield func(migratedJob) bool) {
		for _, row := range j.rows {
			if !yield(j.job(row)) {
				return
			}
		}
	}
}
