package migrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// toRead is a record that has to be read.
type toRead struct {
	rank   int64 // see [legacy.Key.Rank]
	record int32 // see [listedRecords]
	old    int32 // one more than the row of its job; 0 if it has none
}

// readingOrder is the order in which the records are read: kind by kind, in the order of
// their jobs' ids. Records that have a job come first. The others follow in the order of
// [Plan.compareKeys], in which their jobs get ids. So one reading is enough to know what a
// batch's jobs together say of it.
func (p *Plan) readingOrder() []toRead {
	q := p.queue
	order := make([]toRead, 0, q.Len())
	for _, kind := range QueueKinds {
		begin := len(order)
		for i, node := range q.nodes {
			if q.kinds[node.path] != kind {
				continue
			}
			for k := range node.names {
				r := toRead{record: p.listed.first[i] + int32(k), rank: keyOfName(node.name(k)).Rank()}
				if len(p.ex.jobs.rows) > 0 {
					if at, there := p.ex.jobs.index(node.record(k)); there {
						r.old = int32(at) + 1
					}
				}
				order = append(order, r)
			}
		}
		slices.SortFunc(order[begin:], func(a, b toRead) int {
			if c := cmp.Or(p.existingFirst(a, b), cmp.Compare(a.rank, b.rank)); c != 0 {
				return c
			}
			return p.compareKeys(a.record, b.record)
		})
	}
	return order
}

// existingFirst compares by the ids of the records' jobs. Records without a job come last.
func (p *Plan) existingFirst(a, b toRead) int {
	switch {
	case a.old > 0 && b.old > 0:
		rows := p.ex.jobs.rows
		return p.ex.names.compare(rows[a.old-1].root, rows[b.old-1].root)
	case a.old > 0:
		return -1
	case b.old > 0:
		return 1
	}
	return 0
}

// compareKeys compares records by the order in which they get their ids: kind by kind, as
// the old queue would have handed them out (docs/migration.md, "Order";
// [legacy.Key.Compare]). If two nodes of a kind have the same key, the paths decide.
func (p *Plan) compareKeys(a, b int32) int {
	return cmp.Or(
		cmp.Compare(slices.Index(QueueKinds, p.listed.kind(a)), slices.Index(QueueKinds, p.listed.kind(b))),
		keyOfName(p.listed.name(a)).Compare(keyOfName(p.listed.name(b))),
		strings.Compare(p.listed.path(a), p.listed.path(b)),
	)
}

// keyOfName is a record's key; the zero key if its name is not a key.
func keyOfName(name string) legacy.Key {
	key, err := legacy.ParseKey(name)
	if err != nil {
		return legacy.Key{}
	}
	return key
}

// digest is the digest of the record's data.
func (f fetched) digest() [sha256.Size]byte {
	if f.Err == nil {
		return f.Legacy.SHA256
	}
	return sha256.Sum256(f.Data)
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// sourcePin computes a source's [Pin] while its records are read. Their order doesn't
// matter.
type sourcePin struct {
	head  []byte     // digest of everything but the records
	marks [][16]byte // digests of the records, by number; zero for one that was not there
	zxid  int64
}

func newSourcePin(q *LegacyQueue) *sourcePin {
	p := &sourcePin{marks: make([][16]byte, q.Len())}
	h := sha256.New()
	for _, root := range q.Queues.Roots() {
		n := q.roots[root]
		fmt.Fprintf(h, "%q %t\n", root, n != nil)
		if n != nil {
			n.HashTo(h)
			p.see(*n)
		}
	}
	for _, n := range q.locks {
		n.HashTo(h)
		p.see(n)
	}
	p.head = h.Sum(nil)
	return p
}

func (p *sourcePin) see(n znode.Node) {
	p.zxid = max(p.zxid, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
}

// add adds a record with what is below it.
func (p *sourcePin) add(record int32, nodes []znode.Node) {
	h := sha256.New()
	for _, n := range nodes {
		n.HashTo(h)
		p.see(n)
	}
	p.marks[record] = [16]byte(h.Sum(nil))
}

func (p *sourcePin) pin(name string, all listedRecords) Pin {
	h := sha256.New()
	h.Write(p.head)
	for record := range all.inPathOrder() {
		if m := p.marks[record]; m != [16]byte{} {
			h.Write(m[:])
		}
	}
	return Pin{Name: name, Zxid: p.zxid, Hash: hex.EncodeToString(h.Sum(nil))}
}
