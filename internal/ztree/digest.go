package ztree

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// digest is the sum, over all nodes but those below /zookeeper, of a CRC-32 of path, data and Stat,
// as servers since 3.6 compute it (DigestCalculator, AdHash). A nil digest is not kept current.
type digest struct {
	sum     uint64
	foreign int
	scratch []byte
}

// Digest returns the digest of the tree, which Replay, and nothing else, keeps current from the
// first call on. foreign is how many nodes have paths that are not ASCII. A server hashes a path in
// the character set of its platform, and no file says which that is, so then a different digest
// means nothing.
func (t *Tree) Digest() (sum uint64, foreign int) {
	if t.digest == nil {
		t.digest = &digest{}
		for at := range t.root.all("") {
			t.digest.enter(at.path, at.n)
		}
	}
	return t.digest.sum, t.digest.foreign
}

// leave removes a node from the digest before each change, and enter adds it as it is after the
// change. The root's path is "" or "/".
func (d *digest) leave(path string, n *node) { d.change(path, n, -1) }
func (d *digest) enter(path string, n *node) { d.change(path, n, 1) }

func (d *digest) change(path string, n *node, by int) {
	if d == nil || strings.HasPrefix(path, SystemRoot+"/") {
		return
	}
	if path == "/" {
		path = ""
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r >= 0x80 }) {
		d.foreign += by
	}
	b := append(d.scratch[:0], path...)
	crc := crc32.ChecksumIEEE(b)
	crc = crc32.Update(crc, crc32.IEEETable, n.data)
	b = b[:0]
	for _, v := range [...]int64{n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, v := range [...]int32{n.version, n.cversion, n.aversion} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	b = binary.BigEndian.AppendUint64(b, uint64(n.owner))
	crc = crc32.Update(crc, crc32.IEEETable, b)
	d.scratch = b
	d.sum += uint64(by) * uint64(crc)
}
