package zkdata

import (
	"context"
	"fmt"
	"path/filepath"

	"mrtq/internal/openfile"
	"mrtq/internal/znode"
)

// snapshotMagic and logMagic begin the files. The version of the format
// follows, which has always been 2.
const (
	snapshotMagic = 0x5a4b534e // ZKSN
	logMagic      = 0x5a4b4c47 // ZKLG
	formatVersion = 2
)

// snapshot is what a snapshot file holds.
type snapshot struct {
	dataFile
	tree *tree
	// digest is the tree's digest when the snapshot was finished. It is nil
	// before 3.6, and if the server had none.
	digest *treeDigest
	// finished is the last transaction at that moment, -1 before 3.9.
	finished int64
	// newest is the newest transaction that any znode shows. It can be later
	// than the file's zxid, because the server goes on while it writes.
	newest int64
}

// checkEvery is how many znodes or transactions are read before the context is
// checked again.
const checkEvery = 1 << 12

// readSnapshot reads a snapshot with all its checksums. An *[Error] of kind
// [ErrCorrupt] says that the file is not complete.
func readSnapshot(ctx context.Context, file dataFile, progress func(int)) (*snapshot, error) {
	f, err := openfile.Read(file.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unpacked(filepath.Base(file.path), f)
	if err != nil {
		return nil, unreadable(file.path, 0, err)
	}
	return parseSnapshot(ctx, file, newStream(file.path, r), progress)
}

// parseSnapshot reads what FileSnap.deserialize reads: a header, the sessions,
// the lists of ACLs, the znodes, each parent before its children, and "/" at
// their end. A checksum follows. Later versions added more parts, each with a
// checksum of its own.
func parseSnapshot(ctx context.Context, file dataFile, s *stream, progress func(int)) (*snapshot, error) {
	snap := &snapshot{dataFile: file, tree: emptyTree(), finished: -1}
	s.header(snapshotMagic, "ZKSN, a snapshot")
	sessions := s.vector("number of sessions")
	for range sessions {
		id, timeout := s.int64("a session's id"), s.int32("a session's timeout")
		if s.err != nil {
			return nil, s.err
		}
		snap.tree.sessions[id] = timeout
	}
	acls := s.acls()
	if s.err == nil {
		if err := snap.nodes(ctx, s, acls, progress); err != nil {
			return nil, err
		}
	}
	s.seal()
	snap.trailer(s)
	if s.err != nil {
		return nil, s.err
	}
	return snap, nil
}

// header reads a FileHeader.
func (s *stream) header(magic uint32, means string) {
	if got := uint32(s.int32("the header")); s.err == nil && got != magic {
		s.fail(0, fmt.Sprintf("it begins with %08x, want %08x (%s)", got, magic, means))
	}
	if got := s.int32("the header"); s.err == nil && got != formatVersion {
		s.fail(4, fmt.Sprintf("its format is version %d, want %d", got, formatVersion))
	}
	s.int64("the header") // dbid, which servers ignore
}

// vector reads how many elements follow.
func (s *stream) vector(field string) int {
	at := s.offset()
	n := s.int32(field)
	if n < 0 {
		s.fail(at, fmt.Sprintf("the %s is %d", field, n))
		return 0
	}
	return int(n)
}

// acls reads the lists that znodes refer to by number
// (ReferenceCountedACLCache.deserialize).
func (s *stream) acls() map[int64]*[]znode.ACL {
	lists := map[int64]*[]znode.ACL{-1: &openACL}
	count := s.vector("number of ACLs")
	for range count {
		id := s.int64("an ACL's number")
		n := s.vector("length of an ACL")
		list := []znode.ACL{}
		for range n {
			a := znode.ACL{Perms: s.int32("an ACL"), Scheme: string(s.bytes("an ACL")), ID: string(s.bytes("an ACL"))}
			if s.err != nil {
				return nil
			}
			list = append(list, a)
		}
		if s.err != nil {
			return nil
		}
		lists[id] = &list
	}
	return lists
}

// nodes reads the tree (DataTree.deserialize).
func (snap *snapshot) nodes(ctx context.Context, s *stream, acls map[int64]*[]znode.ACL, progress func(int)) error {
	t := snap.tree
	for read := 0; ; read++ {
		if read%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(read)
		}
		at := s.offset()
		path := s.text("a znode's path")
		if s.err != nil || string(path) == "/" {
			break
		}
		var parent *node
		n := &node{}
		switch {
		case t.root == nil && len(path) == 0:
		case !isPath(path):
			s.fail(at, fmt.Sprintf("%q is not a znode's path", path))
		default:
			above, name := split(path)
			n.name = string(name)
			if t.root == nil {
				s.fail(at, fmt.Sprintf("%q comes before the root", path))
			} else if parent = t.find(above); parent == nil {
				s.fail(at, fmt.Sprintf("%q comes before its parent", path))
			} else if parent.children[n.name] != nil {
				s.fail(at, fmt.Sprintf("%q is there twice", path))
			}
		}
		n.data = s.bytes("a znode's data")
		n.acl = acls[s.int64("a znode's ACL")]
		n.stat = s.stat()
		if s.err != nil {
			break
		}
		snap.newest = max(snap.newest, n.stat.czxid, n.stat.mzxid, n.stat.pzxid)
		if parent == nil {
			t.root, t.count = n, 1
		} else {
			t.insert(parent, n)
		}
	}
	if s.err == nil && t.root == nil {
		s.fail(s.offset(), "it has no root")
	}
	return s.err
}

// stat reads a StatPersisted.
func (s *stream) stat() stat {
	const field = "a znode's Stat"
	return stat{
		czxid: s.int64(field), mzxid: s.int64(field), ctime: s.int64(field), mtime: s.int64(field),
		version: s.int32(field), cversion: s.int32(field), aversion: s.int32(field),
		owner: s.int64(field), pzxid: s.int64(field),
	}
}

// seal reads the checksum of everything read so far, and the "/" after it
// (SnapStream.checkSealIntegrity).
func (s *stream) seal() {
	at, want := s.offset(), s.checksum()
	got := s.int64("a checksum")
	s.text("a checksum's end")
	if s.err == nil && got != want {
		s.fail(at, fmt.Sprintf("the checksum is %x, and the bytes before it have %x", got, want))
	}
}

// The lengths of the parts after the first checksum.
const (
	sealLen     = 8 + 4 + 1
	finishedLen = 8 + sealLen
	trailerMost = 128 // more than all of them together
)

// trailer reads what later versions write after the first checksum: since 3.6 a
// digest with its zxid, since 3.9 the last transaction. Each can be switched
// off, and only the lengths show which are there.
func (snap *snapshot) trailer(s *stream) {
	if n := len(s.ahead(trailerMost)); n != 0 && n != finishedLen {
		at := s.offset()
		d := treeDigest{zxid: s.int64("the digest"), version: s.int32("the digest")}
		if d.version < digestVersion {
			s.text("the digest") // in hexadecimal; no released version says how it was computed
		} else {
			d.value = uint64(s.int64("the digest"))
		}
		if s.err == nil && d.zxid < 0 {
			s.fail(at, fmt.Sprintf("the digest is of transaction %d", d.zxid))
		}
		s.seal()
		if d.zxid > 0 && d.version == digestVersion {
			snap.digest = &d
		}
	}
	if len(s.ahead(trailerMost)) != 0 {
		snap.finished = s.int64("the last transaction")
		s.seal()
	}
	if n := len(s.ahead(trailerMost)); n != 0 {
		s.fail(s.offset(), fmt.Sprintf("there are %d bytes or more after the end", n))
	}
}
