package plan

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// addNotes adds what is known only when all records were added.
func (b *Builder) addNotes() {
	p := b.plan
	p.Missing, p.Readers = b.in.Source.Missing, p.Dialect.Readers()
	for i := range p.Records {
		b.findUndone(&p.Records[i])
	}
	b.noteVanished()
	b.noteLocks()
	b.noteLists()
	for _, n := range b.in.Source.Nodes {
		if !znode.IsOpenACL(n.ACL) {
			b.warn("acl", n.Path, "this legacy queue is not open to all, and the new znodes don't get its ACL: "+znode.PublicACL(n.ACL))
		}
	}
	for _, effect := range migration.Effects {
		for _, kind := range b.kinds {
			if f := b.found[kind]; f.Effect == effect {
				p.Findings = append(p.Findings, *f)
				b.blockService(*f)
			}
		}
	}
}

// noteVanished warns of new records while migrated ones are gone that were not handed over, and no key tells them: an administrator may have given
// one another name, and then its work would be in two jobs.
func (b *Builder) noteVanished() {
	vanished := b.in.Renames.Unsure
	for i := range b.plan.Records {
		if r := &b.plan.Records[i]; vanished > 0 && r.Action == migration.ActionCreate {
			b.find("vanished", migration.Finding{Kind: "vanished", Effect: migration.EffectRunsTwice,
				Then: "if it is one of them, delete this record from the legacy queue, and plan again"},
				migration.FindingItem{Path: r.Path, What: fmt.Sprintf("the legacy queue no longer has %d of the migrated records, and nothing shows whether this is one of them under another name: it might run twice", vanished)})
		}
	}
}

func (b *Builder) noteLocks() {
	for _, l := range b.in.Source.Locks {
		h := migration.LegacyLock{Path: l.Path}
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

func parentOf(kind migration.QueueKind) string {
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
		case r.Action != migration.ActionCreate:
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
		if bytes := listOverhead + children*(4+len(longest[parent])); bytes > migration.DefaultMaxBuffer {
			b.warn("long-list", parent, fmt.Sprintf("its list of %d children takes %d bytes, and a Java client takes %d by default: start the workers that list it with -Djute.maxbuffer=%d",
				children, bytes, migration.DefaultMaxBuffer, 2*bytes)) // it grows
		}
	}
}
