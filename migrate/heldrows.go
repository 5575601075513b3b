package migrate

import (
	"iter"
	"slices"
)

// held is the current ledger entry of a record.
type held struct {
	ledgerEntry
	run string
	// The transaction that made the job lies within this; it is not known where
	// that can't be told.
	made span
}

// heldRow is an entry of the ledger in memory: of a million there is one each,
// so it has no pointers and is small. [held] is what it says.
type heldRow struct {
	record, root, bid ref
	hash              uint32
	part              int32 // index into heldRows.parts
	op                ledgerOp
}

// ledgerPart is what the entries of one shard have in common.
type ledgerPart struct {
	run  string
	made span
}

// heldRows are what the ledger says of all records, in the order of their paths.
type heldRows struct {
	names *names
	rows  []heldRow
	parts []ledgerPart
}

func newHeldRows(n *names) heldRows { return heldRows{names: n} }

// add adds entries of a run's log; see [heldRows.settle]. Runs come oldest
// first, and of each run the entries in order.
func (h *heldRows) add(run string, made span, entries []ledgerEntry) {
	h.parts = append(h.parts, ledgerPart{run, made})
	for _, e := range entries {
		h.rows = append(h.rows, heldRow{
			record: h.names.ref(e.record), root: h.names.ref(e.root), bid: h.names.ref(e.bid),
			hash: e.hash, part: int32(len(h.parts) - 1), op: e.op,
		})
	}
}

// settle leaves of all entries for a record the one that counts: the newest. A
// rollback takes away what its own run said and nothing else.
func (h *heldRows) settle() {
	slices.SortStableFunc(h.rows, func(a, b heldRow) int { return h.names.compare(a.record, b.record) })
	counting := h.rows[:0]
	for i, row := range h.rows {
		if i+1 < len(h.rows) {
			// The last that a run says of a record is what it says.
			if next := h.rows[i+1]; next.record == row.record && h.parts[next.part].run == h.parts[row.part].run {
				continue
			}
		}
		if row.op == tookBack {
			continue
		}
		if last := len(counting) - 1; last >= 0 && counting[last].record == row.record {
			counting[last] = row
			continue
		}
		counting = append(counting, row)
	}
	h.rows = slices.Clone(counting) // without the room for more
}

// held is what a row stands for.
func (h *heldRows) held(row heldRow) held {
	p := h.parts[row.part]
	e := ledgerEntry{op: row.op, record: h.names.text(row.record), root: h.names.text(row.root), bid: h.names.text(row.bid), hash: row.hash}
	return held{ledgerEntry: e, run: p.run, made: p.made}
}

// at is what the ledger says of the i-th record.
func (h *heldRows) at(i int) held { return h.held(h.rows[i]) }

// find is what the ledger says of a record.
func (h *heldRows) find(record string) (e held, there bool) {
	if i, there := h.index(record); there {
		return h.at(i), true
	}
	return held{}, false
}

// index is where a record is among the rows.
func (h *heldRows) index(record string) (i int, there bool) {
	r, known := h.names.find(record)
	if !known {
		return 0, false
	}
	return slices.BinarySearchFunc(h.rows, r, func(row heldRow, r ref) int { return h.names.compare(row.record, r) })
}

// all yields what the ledger says of each record, in the order of their paths.
func (h *heldRows) all() iter.Seq[held] {
	return func(yield func(held) bool) {
		for _, row := range h.rows {
			if !yield(h.held(row)) {
				return
			}
		}
	}
}
