package migrate

import (
	"iter"
	"slices"
)

// custodyEntry is the current ledger entry of a record.
type custodyEntry struct {
	ledgerEntry
	run string
	// createdIn is the range that has the transaction in which the job was created. It is the
	// zero span if that is not known.
	createdIn span
}

// custodyRow is an entry of the ledger in memory. There is one for each record, so it is
// small and has no pointers. [custodyEntry] is what it says.
type custodyRow struct {
	record, root, bid ref
	hash              uint32
	part              int32 // index into custodyRows.parts
	op                ledgerOp
}

// ledgerPart is what the entries of one shard have in common.
type ledgerPart struct {
	run       string
	createdIn span
}

// custodyRows are what the ledger says of all records, in the order of the records' paths.
type custodyRows struct {
	names *names
	rows  []custodyRow
	parts []ledgerPart
}

func newCustodyRows(n *names) custodyRows { return custodyRows{names: n} }

// add adds entries of a run's log. Runs come oldest first, and the entries of a run in
// their order. Then call keepNewest.
func (h *custodyRows) add(run string, createdIn span, entries []ledgerEntry) {
	h.parts = append(h.parts, ledgerPart{run, createdIn})
	for _, e := range entries {
		h.rows = append(h.rows, custodyRow{
			record: h.names.ref(e.record), root: h.names.ref(e.root), bid: h.names.ref(e.bid),
			hash: e.hash, part: int32(len(h.parts) - 1), op: e.op,
		})
	}
}

// keepNewest keeps the newest entry of each record. A rollback cancels the entries of its
// own run only.
func (h *custodyRows) keepNewest() {
	slices.SortStableFunc(h.rows, func(a, b custodyRow) int { return h.names.compare(a.record, b.record) })
	counting := h.rows[:0]
	for i, row := range h.rows {
		if i+1 < len(h.rows) {
			// A run's last entry for a record counts.
			if next := h.rows[i+1]; next.record == row.record && h.parts[next.part].run == h.parts[row.part].run {
				continue
			}
		}
		if row.op == opRolledBack {
			continue
		}
		if last := len(counting) - 1; last >= 0 && counting[last].record == row.record {
			counting[last] = row
			continue
		}
		counting = append(counting, row)
	}
	h.rows = slices.Clone(counting) // frees the room of the dropped ones
}

// entry is what a row says.
func (h *custodyRows) entry(row custodyRow) custodyEntry {
	p := h.parts[row.part]
	e := ledgerEntry{op: row.op, record: h.names.text(row.record), root: h.names.text(row.root), bid: h.names.text(row.bid), hash: row.hash}
	return custodyEntry{ledgerEntry: e, run: p.run, createdIn: p.createdIn}
}

// at is what the ledger says of the i-th record.
func (h *custodyRows) at(i int) custodyEntry { return h.entry(h.rows[i]) }

// find is what the ledger says of a record.
func (h *custodyRows) find(record string) (e custodyEntry, there bool) {
	if i, there := h.index(record); there {
		return h.at(i), true
	}
	return custodyEntry{}, false
}

// index returns the index of a record's row.
func (h *custodyRows) index(record string) (i int, there bool) {
	r, known := h.names.find(record)
	if !known {
		return 0, false
	}
	return slices.BinarySearchFunc(h.rows, r, func(row custodyRow, r ref) int { return h.names.compare(row.record, r) })
}

// all yields what the ledger says of each record, in the order of the records' paths.
func (h *custodyRows) all() iter.Seq[custodyEntry] {
	return func(yield func(custodyEntry) bool) {
		for _, row := range h.rows {
			if !yield(h.entry(row)) {
				return
			}
		}
	}
}
