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

// reading is a record that is to be read.
type reading struct {
	rank  int64 // see [legacy.Key.Rank]
	place int32 // see [places]
	old   int32 // row of its job, if one stands, as one more
}

// readingOrder is the order in which the records are read: that of their jobs' ids,
// kind by kind: those whose jobs stand, then the others as [Plan.compareKeys] has
// them, which is the order in which they get theirs. So what a batch's jobs say
// together is known once each was read.
func (p *Plan) readingOrder() []reading {
	q := p.queue
	order := make([]reading, 0, q.Len())
	for _, kind := range QueueKinds {
		begin := len(order)
		for i, node := range q.nodes {
			if q.kinds[node.path] != kind {
				continue
			}
			for k := range node.names {
				r := reading{place: p.places.first[i] + int32(k), rank: keyOfName(node.name(k)).Rank()}
				if len(p.ex.jobs.rows) > 0 {
					if at, there := p.ex.jobs.index(node.record(k)); there {
						r.old = int32(at) + 1
					}
				}
				order = append(order, r)
			}
		}
		slices.SortFunc(order[begin:], func(a, b reading) int {
			if c := cmp.Or(p.standingFirst(a, b), cmp.Compare(a.rank, b.rank)); c != 0 {
				return c
			}
			return p.compareKeys(a.place, b.place)
		})
	}
	return order
}

// standingFirst orders by the ids of jobs that stand; records without one come last.
func (p *Plan) standingFirst(a, b reading) int {
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

// compareKeys is the order in which the new queue gets records, kind by kind: that
// in which the old queue would have handed them out (docs/migration.md, "Order";
// [legacy.Key.Compare]). Of a key in two nodes of a kind, the paths decide.
func (p *Plan) compareKeys(a, b int32) int {
	return cmp.Or(
		cmp.Compare(slices.Index(QueueKinds, p.places.kind(a)), slices.Index(QueueKinds, p.places.kind(b))),
		keyOfName(p.places.name(a)).Compare(keyOfName(p.places.name(b))),
		strings.Compare(p.places.path(a), p.places.path(b)),
	)
}

// keyOfName is a record's key; the zero one if its name is none.
func keyOfName(name string) legacy.Key {
	key, err := legacy.ParseKey(name)
	if err != nil {
		return legacy.Key{}
	}
	return key
}

// digest is that of the record's data.
func (f fetched) digest() [sha256.Size]byte {
	if f.Err == nil {
		return f.Legacy.SHA256
	}
	return sha256.Sum256(f.Data)
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// sourcePin makes a source's [Pin] while its records are read, in whatever order.
type sourcePin struct {
	head  []byte     // of all but the records
	marks [][16]byte // by the records' places; zero for one that was not there
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
func (p *sourcePin) add(place int32, nodes []znode.Node) {
	h := sha256.New()
	for _, n := range nodes {
		n.HashTo(h)
		p.see(n)
	}
	p.marks[place] = [16]byte(h.Sum(nil))
}

func (p *sourcePin) pin(name string, all places) Pin {
	h := sha256.New()
	h.Write(p.head)
	for place := range all.inPathOrder() {
		if m := p.marks[place]; m != [16]byte{} {
			h.Write(m[:])
		}
	}
	return Pin{Name: name, Zxid: p.zxid, Hash: hex.EncodeToString(h.Sum(nil))}
}
