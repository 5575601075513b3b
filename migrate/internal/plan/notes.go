package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
)

// Notes is what an operator should know of a plan, beside what it does.
type Notes struct {
	Warnings []Warning    `json:"warnings"`
	Risks    []Risk       `json:"risks"`   // one for each choice about consumed and failed records
	Locks    []LegacyLock `json:"locks"`   // outstanding legacy locks; they are never migrated
	Missing  []string     `json:"missing"` // legacy queue nodes that are not there
	// Services are the jobs that no deployed service could work on, and what else an
	// operator should know of the services. In dialect design there are only requests that no worker can read.
	Services []Finding `json:"services"`
	Readers  string    `json:"readers"` // which services can read the dialect
}

// Warning is something that an operator should know. It does not stop the migration.
type Warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Risk says what may happen to consumed or failed records under one choice about them.
type Risk struct {
	About  string   `json:"about"` // consumed or failed
	Choice string   `json:"choice"`
	Twice  []string `json:"twice"` // paths of records that might run twice
	Never  []string `json:"never"` // that run only if an administrator releases or requeues them
	// Empty are those that, when an administrator requeues them, might be stored without
	// their content (docs/deployed-services.md, "Failed jobs").
	Empty  []string `json:"empty"`
	Chosen bool     `json:"chosen"`
}

// LegacyLock is an outstanding legacy object lock.
type LegacyLock struct {
	Path string `json:"path"`
	Time string `json:"time"`
	Data string `json:"data"`
	// Record is the consumed record that the lock's data names, "" if none.
	Record string `json:"record,omitempty"`
}

// addNotes adds what is known only when all records were added.
func (b *Builder) addNotes() {
	p := b.plan
	p.Missing, p.Readers = b.in.Source.Missing, p.Dialect.Readers()
	b.noteRisks()
	b.noteLocks()
	b.noteLists()
	for _, n := range b.in.Source.Nodes {
		if !znode.IsOpenACL(n.ACL) {
			b.warn(n.Path, "this legacy queue is not open to all, and the new znodes don't get its ACL: "+znode.PublicACL(n.ACL))
		}
	}
	slices.SortStableFunc(p.Warnings, func(x, y Warning) int { return strings.Compare(x.Path, y.Path) })
}

// noteRisks says what each choice about consumed and failed records risks. A worker may be
// working on a consumed record, or may have died; the record doesn't say which. What a
// worker did of a failed record before it failed is done again.
func (b *Builder) noteRisks() {
	p := b.plan
	for _, choice := range rules.AllChoices {
		if choice.Name != legacy.Consumed.String() && choice.Name != legacy.Failed.String() {
			continue
		}
		records, emptied := []string{}, []string{} // emptied may be stored without their content when they are requeued
		for _, r := range p.Records {
			if r.Job != "" || r.Status != choice.Name || r.Reason == isLate {
				continue
			}
			records = append(records, r.Path)
			if p.Dialect == newqueue.MrtZK && r.Queue == rules.Ingest {
				emptied = append(emptied, r.Path)
			}
		}
		for _, value := range choice.Values {
			risk := Risk{About: choice.Name, Choice: value, Twice: []string{}, Never: []string{}, Empty: []string{}, Chosen: value == *choice.Value(&p.Choices)}
			switch value {
			case rules.AsPending:
				risk.Twice = records
			case rules.AsHeld:
				risk.Never = records
			case rules.AsFailed:
				risk.Never, risk.Empty = records, emptied
			}
			p.Risks = append(p.Risks, risk)
		}
	}
}

func (b *Builder) noteLocks() {
	for _, l := range b.in.Source.Locks {
		h := LegacyLock{Path: l.Path}
		if l.Err != nil {
			h.Data = l.Err.Error()
		} else {
			h.Data = string(l.Legacy.Data)
			h.Record = b.byJobID[h.Data]
			if !l.Legacy.Time.IsZero() {
				h.Time = newqueue.Design.FormatTime(l.Legacy.Time)
			}
		}
		b.plan.Locks = append(b.plan.Locks, h)
	}
}

// parentOf is the parent of what a queue's records become.
func parentOf(kind rules.QueueKind) string {
	if kind.IsAccess() {
		return newqueue.AccessQueuePath(kind.AccessQueue())
	}
	return newqueue.JobsPath
}

// listOverhead is what an answer with a list of children holds besides the names: a
// header, the number of names and a Stat.
const listOverhead = 16 + 4 + 68

// noteLists warns of lists of children that will be longer than a Java client accepts by
// default. Such a client drops the connection and tries again, forever. (The limit is
// ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT. The servers' own jute.maxbuffer does not
// limit their answers.)
func (b *Builder) noteLists() {
	added := map[string]int{}      // new children, by parent
	longest := map[string]string{} // a name as they have
	add := func(parent, name string) { added[parent], longest[parent] = added[parent]+1, name }
	for _, r := range b.plan.Records {
		switch {
		case r.Action != Create:
		case r.Queue.IsAccess():
			add(parentOf(r.Queue), newqueue.SequenceID(newqueue.AccessPrefix, 0))
		default:
			jid := newqueue.SequenceID(newqueue.JobPrefix, 0)
			entry := newqueue.JobEntryPath(newqueue.JobState(r.State), 0, jid)
			add(newqueue.JobsPath, jid)
			add(znode.Parent(entry), znode.Name(entry))
		}
	}
	for _, batch := range b.plan.Batches {
		if batch.New {
			add(newqueue.BatchesPath, newqueue.SequenceID(newqueue.BatchPrefix, 0))
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(added)) {
		children := added[parent] + int(b.in.Target.Layout[parent].NumChildren)
		if bytes := listOverhead + children*(4+len(longest[parent])); bytes > DefaultMaxBuffer {
			b.warn(parent, fmt.Sprintf("its list of %d children takes %d bytes, and a Java client takes %d by default: start the workers that list it with -Djute.maxbuffer=%d",
				children, bytes, DefaultMaxBuffer, 2*bytes)) // it grows
		}
	}
}
