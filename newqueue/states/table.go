package states

import "slices"

// The dialects, as package newqueue names them.
const (
	design = "design"
	mrtZK  = "mrt-zk"
)

// Table is an entity's transitions in one dialect, in the order of the
// published design.
type Table []Transition

type row struct {
	id, from, to string
	who          Actor
	last         LastSuccess
	retry        Retry
	queue, batch EntryChange
	nodes        NodesChange
	guard        Guard
	note         string
	differs      difference
}

// difference is how the dialects differ in a row. The zero value means that they
// don't.
type difference struct {
	only string      // the one dialect that has the row
	last LastSuccess // what the row does to last_successful_status in mrt-zk
	free bool        // in mrt-zk the row has no guard
}

var (
	both         difference
	designOnly   = difference{only: design}
	mrtZKOnly    = difference{only: mrtZK}
	mrtZKLeft    = difference{last: LSSLeft}
	mrtZKBefore  = difference{last: LSSBefore}
	mrtZKResumes = difference{last: LSSBefore, free: true}
)

func (r row) in(dialect string) (t Transition, ok bool) {
	if r.differs.only != "" && r.differs.only != dialect {
		return Transition{}, false
	}
	t = Transition{r.id, r.from, r.to, r.who, r.last, r.retry, r.queue, r.batch, r.nodes, r.guard, r.note}
	if dialect == mrtZK {
		if r.differs.last != "" {
			t.LastSuccess = r.differs.last
		}
		if r.differs.free {
			t.Guard = ""
		}
	}
	return t, true
}

var tables = map[string]map[Entity]Table{design: all(design), mrtZK: all(mrtZK)}

func all(dialect string) map[Entity]Table {
	tables := map[Entity]Table{}
	for e, rows := range map[Entity][]row{Job: jobs, Batch: batches, Access: accesses} {
		for _, r := range rows {
			if t, ok := r.in(dialect); ok {
				tables[e] = append(tables[e], t)
			}
		}
	}
	return tables
}

// Transitions returns an entity's table in a dialect, "design" or "mrt-zk". It is empty
// for an unknown dialect. The caller owns it.
func Transitions(e Entity, dialect string) Table { return slices.Clone(tables[dialect][e]) }

// From returns the transitions out of a state. There are none for a final or an
// unknown state.
func (t Table) From(state string) []Transition {
	var out []Transition
	for _, row := range t {
		if row.From == state {
			out = append(out, row)
		}
	}
	return out
}

// Find returns the transition between two states. ok is false if there is none.
func (t Table) Find(from, to string) (found Transition, ok bool) {
	for _, row := range t {
		if row.From == from && row.To == to {
			return row, true
		}
	}
	return Transition{}, false
}

// By returns the transition that an actor makes out of a state, such as a cleaning pass. ok is false if there is
// none. A worker may have more than one: see [Table.Success].
func (t Table) By(who Actor, state string) (made Transition, ok bool) {
	for _, row := range t.From(state) {
		if row.Who == who {
			return row, true
		}
	}
	return Transition{}, false
}

// Success returns the state that follows when a worker succeeds in a state, or ""
// if a worker has nothing to do there. Out of each state, a worker has at most
// one transition that leads neither to failed nor to held: that is the success.
func (t Table) Success(state string) string {
	for _, row := range t.From(state) {
		if row.Who == Worker && row.To != Failed && row.To != Held {
			return row.To
		}
	}
	return ""
}

// Before returns the state from which success leads to a state, or "" if there is
// none, as for pending.
func (t Table) Before(state string) string {
	for _, row := range t {
		if t.Success(row.From) == state {
			return row.From
		}
	}
	return ""
}

// States returns the states that an entity has in a dialect, in the order of its
// life, without [Created] and [Removed].
func States(e Entity, dialect string) []string {
	table := tables[dialect][e]
	return slices.DeleteFunc(All(e), func(s string) bool {
		return !slices.ContainsFunc(table, func(t Transition) bool { return t.From == s || t.To == s })
	})
}
