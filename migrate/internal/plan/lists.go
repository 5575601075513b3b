package plan

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// ListSize is a list of children that is longer than some clients accept by default.
type ListSize struct {
	Path     string `json:"path"`
	Children int    `json:"children"`
	Bytes    int    `json:"bytes"`
	Limit    int    `json:"limit"`
	Message  string `json:"message"`
}

// listOverhead is what an answer with a list of children holds besides the names: a
// header, the number of names and a Stat.
const listOverhead = 16 + 4 + 68

// maxListAnswer is how long an answer mrtq accepts by default.
const maxListAnswer = 64 << 20

// childLimits are the longest answers that clients accept by default, in bytes, and how
// to make them accept more. The smallest limit is first. A client that gets a longer
// answer drops the connection and tries again, forever. (In Java, the limit is
// ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT, and before 3.6 ClientCnxn's packetLen.)
// The servers' own jute.maxbuffer does not limit their answers.
var childLimits = []struct {
	bytes      int
	who, helps string
}{
	{DefaultPacket, "a Java client of ZooKeeper 3.6 or later", "start the workers that list it with -Djute.maxbuffer=%d"},
	{4 << 20, "an older Java client", ""},
	{maxListAnswer, "mrtq", ""},
}

// OverOwnLimit reports whether the list is longer than mrtq accepts by default.
func (l ListSize) OverOwnLimit() bool { return l.Bytes > maxListAnswer }

// tooLong says which clients do not accept an answer of that many bytes, and what helps.
// It is "" if all do.
func tooLong(bytes int) string {
	text := ""
	for _, l := range childLimits {
		if bytes <= l.bytes {
			break
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s takes %d bytes by default", l.who, l.bytes)
		if l.helps != "" {
			text += ": " + fmt.Sprintf(l.helps, 2*bytes) // it grows
		}
	}
	return text
}

// noteLists lists the znodes that will have more children, after the migration, than
// some client accepts by default.
func (b *Builder) noteLists() {
	children, bytes := map[string]int{}, map[string]int{}
	add := func(parent, name string, n int) {
		children[parent] += n
		bytes[parent] += n * (4 + len(name))
	}
	for _, n := range b.in.Source.Nodes {
		for _, name := range n.Names {
			add(n.Path, name, 1)
		}
	}
	b.countNew(add)
	for parent := range children {
		if stat, there := b.in.Target.Layout[parent]; there { // the names there have the same length
			name := bytes[parent]/children[parent] - 4
			add(parent, fmt.Sprintf("%*s", name, ""), int(stat.NumChildren))
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(bytes)) {
		if answer := bytes[parent] + listOverhead; answer > DefaultPacket {
			b.plan.Lists = append(b.plan.Lists, ListSize{Path: parent, Children: children[parent], Bytes: answer, Limit: DefaultPacket, Message: tooLong(answer)})
		}
	}
}

// countNew counts the children that the plan adds to each list.
func (b *Builder) countNew(add func(parent, name string, n int)) {
	var (
		jid = newqueue.SequenceID(newqueue.JobPrefix, 0)
		qid = newqueue.SequenceID(newqueue.AccessPrefix, 0)
		bid = newqueue.SequenceID(newqueue.BatchPrefix, 0)
	)
	for _, r := range b.plan.Records {
		switch {
		case r.Action != Create:
		case r.Queue.IsAccess():
			add(parentOf(r.Queue), qid, 1)
		default:
			state := newqueue.JobState(r.State)
			add(newqueue.JobsPath, jid, 1)
			entry := newqueue.JobEntryPath(state, 0, jid)
			add(znode.Parent(entry), znode.Name(entry), 1)
		}
	}
	for _, batch := range b.plan.Batches {
		if batch.New {
			add(newqueue.BatchesPath, bid, 1)
		}
		for _, f := range newqueue.BatchFolders {
			if n := batch.All.In(f); n > 0 {
				add(fmt.Sprintf("/batch-uuids/%s: %s", batch.UUID, f), jid, n)
			}
		}
	}
}
