package migrate

import (
	"iter"

	"mrtq/internal/znode"
)

// The limits of one transaction. 64 KiB is about thirty jobs. Larger transactions are not
// faster, and other clients would wait longer.
const (
	defaultBudget = 64 << 10
	maxOps        = 2000
)

// pack joins units into transactions of at most budget bytes and most operations. It does
// not count the run's record and a shard of the ledger. It never splits a unit. A unit
// that is too large gets a transaction of its own.
func pack(units iter.Seq[unit], budget, most, chroot int) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		var t unit
		size := 0
		for u := range units {
			n := znode.MultiSize(u.ops, chroot)
			full := size+n > budget || len(t.ops)+len(u.ops) > most || len(t.ledger)+len(u.ledger) > tailEntries
			if full && len(t.ops)+len(t.ledger) > 0 {
				if !yield(t) {
					return
				}
				t, size = unit{}, 0
			}
			t.ops = append(t.ops, u.ops...)
			t.done.add(u.done)
			t.count += u.count
			t.ledger = append(t.ledger, u.ledger...)
			t.steps = append(t.steps, u.steps...)
			size += n
		}
		if len(t.steps) > 0 || len(t.ops) > 0 {
			yield(t)
		}
	}
}
