package plan

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

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
		if bytes := listOverhead + children*(4+len(longest[parent])); bytes > DefaultPacket {
			b.warn(parent, fmt.Sprintf("its list of %d children takes %d bytes, and a Java client takes %d by default: start the workers that list it with -Djute.maxbuffer=%d",
				children, bytes, DefaultPacket, 2*bytes)) // it grows
		}
	}
}
