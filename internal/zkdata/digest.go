package zkdata

import (
	"encoding/binary"
	"hash/crc32"
)

// digestVersion is the version of the digests that servers since 3.6 compute.
// Like the server, this package reads digests of other versions, but does not
// compare them.
const digestVersion = 2

// treeDigest is a digest as a server writes it. In a snapshot it has the tree's
// zxid.
type treeDigest struct {
	zxid    int64
	version int32
	value   uint64
}

// digest is the sum, over all znodes but those below /zookeeper, of a CRC-32 of
// path, data and Stat (DigestCalculator, AdHash). The zero digest is switched
// off. It is switched on when a file has a server's digest to compare with.
type digest struct {
	on  bool
	sum uint64
	// foreign are the znodes whose path is not ASCII. A server hashes a path in
	// the character set of its platform, and no file says which that is.
	foreign int
	scratch []byte
}

// switchOn computes the digest of a tree, and keeps it current from then on.
func (d *digest) switchOn(t *tree) {
	if d.on {
		return
	}
	d.on = true
	d.add(t.root)
}

func (d *digest) add(n *node) {
	d.enter(n)
	for _, c := range n.children {
		d.add(c)
	}
}

// leave removes a node from the digest before each change, and enter adds it as
// it is after the change.
func (d *digest) enter(n *node) {
	if d.on {
		d.change(n, 1)
	}
}

func (d *digest) leave(n *node) {
	if d.on {
		d.change(n, -1)
	}
}

func (d *digest) change(n *node, by int) {
	b := n.appendPath(d.scratch[:0])
	d.scratch = b
	if len(b) > len("/zookeeper") && system(b) {
		return
	}
	for _, c := range b {
		if c >= 0x80 {
			d.foreign += by
			break
		}
	}
	crc := crc32.ChecksumIEEE(b)
	crc = crc32.Update(crc, crc32.IEEETable, n.data)
	s := &n.stat
	be := binary.BigEndian
	b = be.AppendUint64(b[:0], uint64(s.czxid))
	b = be.AppendUint64(b, uint64(s.mzxid))
	b = be.AppendUint64(b, uint64(s.pzxid))
	b = be.AppendUint64(b, uint64(s.ctime))
	b = be.AppendUint64(b, uint64(s.mtime))
	b = be.AppendUint32(b, uint32(s.version))
	b = be.AppendUint32(b, uint32(s.cversion))
	b = be.AppendUint32(b, uint32(s.aversion))
	b = be.AppendUint64(b, uint64(s.owner))
	crc = crc32.Update(crc, crc32.IEEETable, b)
	d.scratch = b
	d.sum += uint64(by) * uint64(crc)
}
