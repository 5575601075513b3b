package migrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// reading is a record that is to be read: its place in the lists of names.
type reading struct {
	node, name int32
	id         string // of its job, if one stands
}

// readingOrder yields the records' paths in the order of their jobs' ids, kind by
// kind: those whose jobs stand, then the others as [compareRecords] has them, which
// is the order in which they get theirs. So what a batch's jobs say together is
// known once each was read.
func (p *Plan) readingOrder() iter.Seq[string] {
	q := p.queue
	order := make([]reading, 0, q.Len())
	for i, node := range q.nodes {
		for k := range node.names {
			r := reading{node: int32(i), name: int32(k)}
			if len(p.ex.jobs.rows) > 0 {
				old, _ := p.ex.job(node.record(k))
				r.id = old.id
			}
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b reading) int {
		x, y := q.nodes[a.node], q.nodes[b.node]
		return cmp.Or(
			cmp.Compare(slices.Index(QueueKinds, q.kinds[x.path]), slices.Index(QueueKinds, q.kinds[y.path])),
			standingFirst(a.id, b.id),
			keyOfName(x.names[a.name]).Compare(keyOfName(y.names[b.name])),
			strings.Compare(x.record(int(a.name)), y.record(int(b.name))),
		)
	})
	return func(yield func(string) bool) {
		for _, r := range order {
			if !yield(q.nodes[r.node].record(int(r.name))) {
				return
			}
		}
	}
}

// standingFirst orders ids, none last.
func standingFirst(a, b string) int {
	if (a == "") != (b == "") {
		if a == "" {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
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
func (f fetched) digest() string {
	if f.Err == nil {
		return hex.EncodeToString(f.Legacy.SHA256[:])
	}
	return digest(f.Data)
}

// sourcePin makes a source's [Pin] while its records are read, in whatever order.
type sourcePin struct {
	head  []byte // of all but the records
	marks [][16]byte
	zxid  int64
}

func newSourcePin(q *LegacyQueue) *sourcePin {
	p := &sourcePin{}
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
func (p *sourcePin) add(nodes []znode.Node) {
	h := sha256.New()
	for _, n := range nodes {
		n.HashTo(h)
		p.see(n)
	}
	p.marks = append(p.marks, [16]byte(h.Sum(nil)))
}

// sort puts what was added into another order.
func (p *sourcePin) sort(order []int32) {
	sorted := make([][16]byte, len(p.marks))
	for i, from := range order {
		sorted[i] = p.marks[from]
	}
	p.marks = sorted
}

func (p *sourcePin) pin(name string) Pin {
	h := sha256.New()
	h.Write(p.head)
	for _, m := range p.marks {
		h.Write(m[:])
	}
	return Pin{Name: name, Zxid: p.zxid, Hash: hex.EncodeToString(h.Sum(nil))}
}
