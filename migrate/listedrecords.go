package migrate

import (
	"iter"
	"sort"

	"mrtq/internal/znode"
)

// listedRecords numbers the records of a legacy queue in the order in which they were listed, so
// that a row needs no path.
type listedRecords struct {
	queue *LegacyQueue
	first []int32 // the first number of each queue node
}

func listRecords(q *LegacyQueue) listedRecords {
	p := listedRecords{queue: q}
	n := 0
	for _, node := range q.nodes {
		p.first = append(p.first, int32(n))
		n += len(node.names)
	}
	return p
}

// at is the index of a record's queue node, and of its name there.
func (p listedRecords) at(record int32) (node, name int) {
	node = sort.Search(len(p.first), func(i int) bool { return p.first[i] > record }) - 1
	return node, int(record - p.first[node])
}

func (p listedRecords) path(record int32) string {
	node, name := p.at(record)
	return p.queue.nodes[node].record(name)
}

func (p listedRecords) name(record int32) string {
	node, name := p.at(record)
	return p.queue.nodes[node].name(name)
}

func (p listedRecords) kind(record int32) QueueKind {
	node, _ := p.at(record)
	return p.queue.kinds[p.queue.nodes[node].path]
}

// find is the number of a record.
func (p listedRecords) find(path string) (record int32, there bool) {
	if znode.ValidatePath(path) != nil || path == "/" {
		return 0, false
	}
	parent := znode.Parent(path)
	for i, node := range p.queue.nodes {
		if node.path == parent {
			k, there := node.find(znode.Name(path))
			return p.first[i] + int32(k), there
		}
	}
	return 0, false
}

// inPathOrder yields all records' numbers and paths, in byte order of the paths.
func (p listedRecords) inPathOrder() iter.Seq2[int32, string] {
	return func(yield func(int32, string) bool) {
		at := make([]int, len(p.queue.nodes))
		heads := make([]string, len(p.queue.nodes)) // the next path of each node; "" after its last
		for i, node := range p.queue.nodes {
			heads[i] = node.record(0)
		}
		for {
			next := -1
			for i, head := range heads {
				if head != "" && (next < 0 || head < heads[next]) {
					next = i
				}
			}
			if next < 0 || !yield(p.first[next]+int32(at[next]), heads[next]) {
				return
			}
			at[next]++
			heads[next] = p.queue.nodes[next].record(at[next])
		}
	}
}
