package migrate

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"mrtq/newqueue/services"
)

// serviceFault is a violation of what the deployed services demand, with what is needed to
// judge it.
type serviceFault struct {
	services.Violation
	made      bool   // it is about something that a run created
	expected  bool   // the records lack it, so a correct migration has it too
	atWork    bool   // a session holds the znode, as a worker holds a lock
	record    string // the record that the item was made from
	inventory bool   // the item is an unfinished inventory record's, or the batch of one
}

// serviceFaults keeps faults as rows. A large queue can have one for each job.
type serviceFaults struct {
	names *names
	texts textTable // what is wrong, and where below an item
	stops []services.Stop
	rows  []faultRow
}

// faultRow is a [serviceFault].
type faultRow struct {
	demand                            *services.Demand
	item, record                      ref
	below, what                       int32 // indexes into texts
	stop                              int32 // index into stops
	apart                             bool  // below is the whole path, because it isn't below the item
	made, expected, atWork, inventory bool
}

func (f *serviceFaults) add(x serviceFault) {
	row := faultRow{
		demand: x.Demand, item: f.names.ref(x.Item), record: f.names.ref(x.record), what: f.texts.of(x.What),
		made: x.made, expected: x.expected, atWork: x.atWork, inventory: x.inventory,
	}
	below, within := strings.CutPrefix(x.Path, x.Item)
	row.below, row.apart = f.texts.of(below), !within
	at := slices.Index(f.stops, x.Stop) // there are a few dozen
	if at < 0 {
		at, f.stops = len(f.stops), append(f.stops, x.Stop)
	}
	row.stop = int32(at)
	f.rows = append(f.rows, row)
}

// path is that of a fault's znode.
func (f *serviceFaults) path(row faultRow) string {
	if row.apart {
		return f.texts.texts[row.below]
	}
	return f.names.text(row.item) + f.texts.texts[row.below]
}

// sorted yields the faults by demand and path.
func (f *serviceFaults) sorted() iter.Seq[serviceFault] {
	slices.SortStableFunc(f.rows, func(a, b faultRow) int {
		c := cmp.Or(strings.Compare(a.demand.ID, b.demand.ID), f.comparePaths(a, b))
		if c == 0 && a.what != b.what {
			c = strings.Compare(f.texts.texts[a.what], f.texts.texts[b.what])
		}
		return c
	})
	return func(yield func(serviceFault) bool) {
		for _, row := range f.rows {
			x := serviceFault{
				Violation: services.Violation{Demand: row.demand, Item: f.names.text(row.item), Path: f.path(row), What: f.texts.texts[row.what], Stop: f.stops[row.stop]},
				made:      row.made, expected: row.expected, atWork: row.atWork, record: f.names.text(row.record), inventory: row.inventory,
			}
			if !yield(x) {
				return
			}
		}
	}
}

// comparePaths compares without making the paths where it can.
func (f *serviceFaults) comparePaths(a, b faultRow) int {
	if !a.apart && !b.apart && a.below == b.below {
		if c := f.names.compare(a.item, b.item); c == 0 || !a.item.whole() && !b.item.whole() {
			return c
		}
	}
	return strings.Compare(f.path(a), f.path(b))
}
