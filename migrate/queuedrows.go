package migrate

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// queuedRow is one entry under /jobs/states.
type queuedRow struct{ jid, entry ref }

// queuedRows are the entries of all jobs, in the order of the jobs' ids.
type queuedRows struct {
	names *names
	rows  []queuedRow
}

func newQueuedRows(n *names) queuedRows { return queuedRows{names: n} }

// add adds a child of a state's folder at the end, if its name is that of an
// entry; see [queuedRows.sort].
func (q *queuedRows) add(folder, name string) {
	if _, jid, ok := strings.Cut(name, "-"); ok {
		q.rows = append(q.rows, queuedRow{q.names.ref(jid), q.names.ref(znode.Join(folder, name))})
	}
}

// sort brings the rows into order. A job's stay as they were added.
func (q *queuedRows) sort() {
	slices.SortStableFunc(q.rows, func(a, b queuedRow) int { return q.names.compare(a.jid, b.jid) })
}

// of are a job's entries.
func (q *queuedRows) of(jid string) (entries []string) {
	r, known := q.names.find(jid)
	if !known {
		return nil
	}
	at, _ := slices.BinarySearchFunc(q.rows, r, func(row queuedRow, r ref) int { return q.names.compare(row.jid, r) })
	for _, row := range q.rows[at:] {
		if row.jid != r {
			break
		}
		entries = append(entries, q.names.text(row.entry))
	}
	return entries
}
