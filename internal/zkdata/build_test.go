package zkdata_test

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The code below writes data directories. It follows the description of the
// formats and shares nothing with the code that reads them.

// jute is bytes in ZooKeeper's serialization.
type jute []byte

func (j jute) int(n int32) jute     { return binary.BigEndian.AppendUint32(j, uint32(n)) }
func (j jute) long(n int64) jute    { return binary.BigEndian.AppendUint64(j, uint64(n)) }
func (j jute) bool(b bool) jute     { return append(j, map[bool]byte{true: 1}[b]) }
func (j jute) text(s string) jute   { return append(j.int(int32(len(s))), s...) }
func (j jute) buffer(b []byte) jute { return append(j.int(int32(len(b))), b...) }
func (j jute) null() jute           { return j.int(-1) }

// open is the list of ACLs that lets anyone do anything.
func (j jute) open() jute { return j.int(1).int(31).text("world").text("anyone") }

func (j jute) seal() jute { return j.long(int64(adler32.Checksum(j))).text("/") }

// znodeIn is a znode of a snapshot.
type znodeIn struct {
	path         string
	data         string
	czxid, pzxid int64
	cversion     int32
	version      int32
	owner        int64
	acl          int64 // 1 is in the snapshot's list, -1 is the open one
	time         int64
}

func (n znodeIn) stat() jute {
	return jute{}.long(n.czxid).long(n.czxid).long(n.time).long(n.time).int(n.version).int(n.cversion).int(0).long(n.owner).long(n.pzxid)
}

// digestOf is the digest of a tree, in which a Stat has another order than in a snapshot.
func digestOf(nodes ...znodeIn) (sum uint64) {
	for _, n := range nodes {
		if n.path != "/zookeeper/quota" {
			stat := jute{}.long(n.czxid).long(n.czxid).long(n.pzxid).long(n.time).long(n.time).int(n.version).int(n.cversion).int(0).long(n.owner)
			sum += uint64(crc32.ChecksumIEEE(append([]byte(n.path+n.data), stat...)))
		}
	}
	return sum
}

// rootIn are the znodes that every snapshot has.
func rootIn(cversion int32, pzxid int64) []znodeIn {
	return []znodeIn{{path: "", cversion: cversion, pzxid: pzxid, acl: -1}, {path: "/zookeeper", acl: -1}, {path: "/zookeeper/quota", acl: -1}}
}

// snapshotOf is a snapshot of version 3.4 or 3.5: nothing follows the checksum.
func snapshotOf(nodes ...znodeIn) jute {
	j := jute("ZKSN").int(2).long(-1)
	j = j.int(1).long(7).int(4000) // a session
	j = j.int(1).long(1).int(2).int(1).text("world").text("anyone").int(31).text("digest").text("o:hash")
	for _, n := range nodes {
		j = append(j.text(n.path).buffer([]byte(n.data)).long(n.acl), n.stat()...)
	}
	return j.text("/").seal()
}

// withDigest adds what 3.6 writes after the first checksum.
func (j jute) withDigest(zxid int64, digest uint64) jute {
	return slices.Clone(j).long(zxid).int(2).long(int64(digest)).seal()
}

// withLast adds what 3.9 writes there.
func (j jute) withLast(zxid int64) jute { return slices.Clone(j).long(zxid).seal() }

// txn is a transaction of session 7, made at its zxid in seconds.
func txn(zxid int64, typ int32, body jute) jute {
	return append(jute{}.long(7).int(1).long(zxid).long(zxid*1000).int(typ), body...)
}

func create(zxid int64, path, data string, parentCversion int32) jute {
	return txn(zxid, 1, jute{}.text(path).text(data).open().bool(false).int(parentCversion))
}

func createEphemeral(zxid int64, path string, parentCversion int32) jute {
	return txn(zxid, 1, jute{}.text(path).null().open().bool(true).int(parentCversion))
}

func remove(zxid int64, path string) jute { return txn(zxid, 2, jute{}.text(path)) }

func set(zxid int64, path, data string, version int32) jute {
	return txn(zxid, 5, jute{}.text(path).text(data).int(version))
}

func openSession(zxid int64) jute { return txn(zxid, -10, jute{}.int(4000)) }

// digested is a transaction with the digest that servers since 3.6 write after it.
func digested(t jute, digest uint64) jute { return slices.Clone(t).int(2).long(int64(digest)) }

// logOf is a log with zeros after its end.
func logOf(txns ...jute) jute {
	j := jute("ZKLG").int(2).long(0)
	for _, t := range txns {
		j = append(j.long(int64(adler32.Checksum(t))).int(int32(len(t))), t...)
		j = append(j, 'B')
	}
	return append(j, make([]byte, 300)...)
}

// files are what a directory holds.
type files map[string]jute

func (f files) write(t testing.TB) string {
	t.Helper()
	// The folder doesn't have the subtest's name, because that may contain a
	// comma.
	dir, err := os.MkdirTemp("", "zkdata-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f.writeTo(t, dir)
	return dir
}

func (f files) writeTo(t testing.TB, dir string) {
	t.Helper()
	for name, data := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
