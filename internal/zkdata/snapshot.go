package zkdata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/openfile"
	"mrtq/internal/ztree"
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
	tree   *ztree.Tree
	digest *treeDigest // of the tree when the snapshot was finished; nil if it has none
	// finished is the last transaction when the snapshot was finished; -1 if it doesn't say.
	finished int64
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
	r, err := unpacked(file.path, f)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
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
	snap := &snapshot{dataFile: file, tree: ztree.Empty(), finished: -1}
	if err := snap.body(ctx, s, progress); err != nil {
		return nil, err
	}
	s.seal()
	snap.trailer(s)
	if s.err != nil {
		return nil, s.err
	}
	return snap, nil
}

// body reads everything up to the first checksum.
func (snap *snapshot) body(ctx context.Context, s *stream, progress func(int)) error {
	s.header()
	for range s.count("number of sessions") {
		s.record(func(d *jute.Decoder) { d.Long("a session's id"); d.Int("a session's timeout") })
		if s.err != nil {
			return s.err
		}
	}
	return snap.nodes(ctx, s, s.acls(), progress)
}

// header reads a FileHeader.
func (s *stream) header() {
	var magic, version int32
	s.record(func(d *jute.Decoder) { magic = d.Int("the header") })
	if magic != snapshotMagic {
		s.fail(0, fmt.Sprintf("it begins with %08x, expected %08x (ZKSN, a snapshot)", uint32(magic), snapshotMagic))
	}
	s.record(func(d *jute.Decoder) {
		version = d.Int("the header")
		d.Long("the header") // dbid, which servers ignore
	})
	if version != formatVersion {
		s.fail(4, fmt.Sprintf("its format is version %d, expected %d", version, formatVersion))
	}
}

// count reads how many records follow.
func (s *stream) count(field string) int {
	at, n := s.offset(), int32(0)
	s.record(func(d *jute.Decoder) { n = d.Int(field) })
	if n < 0 {
		s.fail(at, fmt.Sprintf("the %s is %d", field, n))
		return 0
	}
	return int(n)
}

// acls reads the lists that znodes refer to by number
// (ReferenceCountedACLCache.deserialize).
func (s *stream) acls() map[int64][]jute.ACL {
	lists := map[int64][]jute.ACL{-1: openACL}
	for range s.count("number of ACLs") {
		at := s.offset()
		s.record(func(d *jute.Decoder) {
			id := d.Long("an ACL's number")
			lists[id] = d.ACLs()
			if lists[id] == nil && d.Err() == nil {
				s.fail(at, "an ACL is null")
			}
		})
		if s.err != nil {
			return nil
		}
	}
	return lists
}

// nodes reads the tree (DataTree.deserialize).
func (snap *snapshot) nodes(ctx context.Context, s *stream, acls map[int64][]jute.ACL, progress func(int)) error {
	read := 0
	for path := ""; s.err == nil && path != "/"; read++ {
		if read%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(read)
		}
		at := s.offset()
		var data []byte
		var acl int64
		var stat jute.StatPersisted
		s.record(func(d *jute.Decoder) {
			if path = d.String("a znode's path"); path != "/" {
				data, acl, stat = d.Buffer("a znode's data"), d.Long("a znode's ACL"), d.StatPersisted()
			}
		})
		switch {
		case s.err != nil || path == "/":
		case path != "" && !isPath(path):
			s.fail(at, fmt.Sprintf("%q is not a znode's path", path))
		default:
			if err := snap.tree.Restore(path, bytes.Clone(data), acls[acl], &stat); err != nil {
				s.fail(at, fmt.Sprintf("%q %v", path, err))
			}
		}
	}
	if read == 1 {
		s.fail(s.offset(), "it has no root")
	}
	return s.err
}

// isPath reports whether p is a path that a tree can have: absolute, without an
// empty name or a zero byte, not the root. [ztree.Tree.Unsound] checks each name.
func isPath(p string) bool {
	return len(p) > 1 && p[0] == '/' && p[len(p)-1] != '/' && !strings.Contains(p, "//") && strings.IndexByte(p, 0) < 0
}

// seal reads the checksum of everything read so far, and the "/" after it
// (SnapStream.checkSealIntegrity).
func (s *stream) seal() {
	at, want, got := s.offset(), s.checksum(), int64(0)
	s.record(func(d *jute.Decoder) {
		got = d.Long("a checksum")
		d.String("a checksum's end")
	})
	if got != want {
		s.fail(at, fmt.Sprintf("the checksum is %x, and the bytes before it have %x", got, want))
	}
}

// The lengths of the parts after the first checksum.
const (
	sealLen     = 8 + 4 + 1
	finishedLen = 8 + sealLen
	trailerMost = 128 // more than all of them together
)

// trailer reads what later versions write after the first checksum: since 3.6 the tree's digest with
// its zxid, since 3.9 the last transaction. Each can be switched off, and only the lengths show
// which are there.
func (snap *snapshot) trailer(s *stream) {
	if n := s.left(trailerMost); n != 0 && n != finishedLen {
		at := s.offset()
		zxid, version, value := int64(0), int32(0), int64(0)
		s.record(func(d *jute.Decoder) {
			zxid, version = d.Long("the digest"), d.Int("the digest")
			if version < digestVersion {
				d.String("the digest") // in hexadecimal
			} else {
				value = d.Long("the digest")
			}
		})
		if zxid < 0 {
			s.fail(at, fmt.Sprintf("the digest is of transaction %d", zxid))
		}
		s.seal()
		if zxid > 0 && version == digestVersion {
			snap.finished, snap.digest = zxid, &treeDigest{zxid, uint64(value)}
		}
	}
	if s.left(trailerMost) != 0 {
		s.record(func(d *jute.Decoder) { snap.finished = max(snap.finished, d.Long("the last transaction")) })
		s.seal()
	}
	if n := s.left(trailerMost); n != 0 {
		s.fail(s.offset(), fmt.Sprintf("there are %d bytes or more after the end", n))
	}
}
