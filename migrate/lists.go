package migrate

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

// maxListAnswer is [Config]'s default MaxResponse.
const maxListAnswer = 64 << 20

// OverOwnLimit reports whether the list is longer than a [Reader] accepts by
// default. [Config]'s MaxResponse raises that.
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
func (p *Plan) noteLists() {
	lists := p.childLists(DefaultPacket)
	for _, parent := range slices.Sorted(maps.Keys(lists)) {
		l := lists[parent]
		if answer := l.bytes + listOverhead; answer > DefaultPacket {
			p.Lists = append(p.Lists, ListSize{Path: parent, Children: l.children, Bytes: answer, Limit: DefaultPacket, Message: tooLong(answer)})
		}
	}
}

// childLists are the lengths of the legacy queues' lists of children now, and of the new
// queues' lists after the migration. Of the batches' folders it has only those that may
// be longer than least bytes, because there may be as many batches as records.
func (p *Plan) childLists(least int) map[string]listLength {
	lists := maps.Clone(p.queue.lists)
	change := func(path string, by int) {
		parent := znode.Parent(path)
		l := lists[parent]
		l.children += by
		l.bytes += by * (4 + len(znode.Name(path)))
		lists[parent] = l
	}
	folders := []string{newqueue.JobsPath, newqueue.BatchesPath, newqueue.JobStatesPath}
	for _, s := range p.ex.tree.Children(newqueue.JobStatesPath) {
		folders = append(folders, znode.Join(newqueue.JobStatesPath, s))
	}
	for _, q := range newqueue.AccessQueues {
		folders = append(folders, newqueue.AccessQueuePath(q))
	}
	wide := map[string]bool{}
	for _, b := range p.batchList {
		if b.bid == "" {
			continue
		}
		n := b.planned
		there := p.target.batchAt(b.bid)
		if there != nil {
			for _, l := range there.entries {
				n += l.children
			}
		}
		if n*maxNameBytes <= least {
			continue
		}
		wide[b.bid] = true
		for i, f := range newqueue.BatchFolders {
			folders = append(folders, newqueue.BatchFolderPath(b.bid, f))
			if there != nil {
				lists[newqueue.BatchFolderPath(b.bid, f)] = there.entries[i]
			}
		}
	}
	for _, parent := range folders {
		if l, there := p.target.lists[parent]; there {
			lists[parent] = l
		}
	}
	for _, path := range p.Structure {
		if slices.Contains(folders, znode.Parent(path)) {
			change(path, 1)
		}
	}
	for _, b := range p.batchList {
		if b.isNew && b.planned > 0 {
			change(newqueue.BatchPath(b.bid), 1)
		}
	}
	for pl := range p.plannedJobs() {
		if pl.rewrite() {
			for _, op := range p.target.removal(p.ex.jobs.rows[pl.old-1]) {
				if slices.Contains(folders, znode.Parent(op.Path)) {
					change(op.Path, -1)
				}
			}
		}
		id, initial := p.idOf(pl), p.initialStates[pl.initial]
		change(znode.Join(p.parentOf(pl), id), 1)
		b := p.batchOf(pl)
		if b == nil {
			continue
		}
		if initial.job != newqueue.JobDeleted || p.Dialect.KeepsDeleted() {
			change(newqueue.JobEntryPath(initial.job, keyOfName(p.listed.name(pl.record)).Priority, id), 1)
		}
		if wide[b.bid] {
			change(newqueue.BatchEntryPath(b.bid, initial.job.Folder(), id), 1)
		}
	}
	return lists
}

// maxNameBytes bounds the bytes of a job's name in a list.
const maxNameBytes = 4 + len("jid") + 11
