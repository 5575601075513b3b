package zkdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"os"

	"mrtq/internal/jute"
	"mrtq/internal/openfile"
)

// A log is a header of 16 bytes, and entries. An entry is the transaction's
// checksum (8 bytes), its length (4 bytes), the transaction itself, and a B. The
// server extends a log in advance and never truncates it, so zeros follow the
// last entry (FileTxnLog).
const (
	logHeader = 16
	entryHead = 8 + 4
	entryEnd  = 'B'
	zxidAt    = 8 + 4 // the zxid's offset in a TxnHeader
	// maxEntry is far above a server's limit, which is twice jute.maxbuffer.
	// That is 1 MiB by default.
	maxEntry = 1 << 30
)

// logFile reads the entries of one log.
type logFile struct {
	dataFile
	f      *os.File
	close  func() error
	off    int64 // where the next entry begins
	last   int64 // zxid of the last entry
	window []byte
	from   int64 // where window begins
	// torn is the offset of an entry that was not completely written; -1 if
	// there is none.
	torn int64
}

// errEmpty says that a log has no header: the server was killed when it created
// the file.
var errEmpty = errors.New("the log is empty")

// openLog opens a log and checks its header.
func openLog(file dataFile) (*logFile, error) {
	f, err := openfile.Read(file.path)
	if err != nil {
		return nil, err
	}
	l := &logFile{dataFile: file, f: f.File, close: f.Close, off: logHeader, last: file.zxid, torn: -1}
	if err := l.checkHeader(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *logFile) checkHeader() error {
	head, err := l.at(0, logHeader)
	switch {
	case err != nil:
		return err
	case len(head) == 0:
		return errEmpty
	case len(head) < logHeader:
		return l.damaged(0, fmt.Sprintf("the header is %d bytes long, expected %d", len(head), logHeader))
	}
	magic, version := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	if magic != logMagic {
		return l.damaged(0, fmt.Sprintf("it begins with %08x, expected %08x (ZKLG, a transaction log)", magic, logMagic))
	}
	if version != formatVersion {
		return l.damaged(4, fmt.Sprintf("its format is version %d, expected %d", version, formatVersion))
	}
	return nil
}

func (l *logFile) damaged(at int64, what string) error {
	return &Error{Kind: ErrCorrupt, File: l.path, Offset: at, What: what, Do: copyOrAnother}
}

const windowSize = 256 << 10

// at returns n bytes of the file, fewer at its end. They are valid until the
// next call.
func (l *logFile) at(off int64, n int) ([]byte, error) {
	if off < l.from || off+int64(n) > l.from+int64(len(l.window)) {
		size, err := l.size()
		if err != nil {
			return nil, err
		}
		want := int(max(0, min(int64(max(n, windowSize)), size-off)))
		if cap(l.window) < want {
			l.window = make([]byte, want)
		}
		got, err := l.f.ReadAt(l.window[:want], off)
		if err != nil && err != io.EOF {
			return nil, err
		}
		l.window, l.from = l.window[:got], off
	}
	b := l.window[off-l.from:]
	return b[:min(n, len(b))], nil
}

func (l *logFile) size() (int64, error) {
	info, err := l.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// next returns the next transaction and the offset of its entry, or io.EOF
// after the last. A server may be writing to the file at this moment. So a bad
// entry is read a second time, because the first read may have met a
// half-written one.
func (l *logFile) next() (entry []byte, at int64, err error) {
	for range 2 {
		entry, err = l.entry()
		if err == nil {
			at = l.off
			l.off += entryHead + int64(len(entry)) + 1
			l.last = int64(binary.BigEndian.Uint64(entry[zxidAt:]))
			return entry, at, nil
		}
		if err == io.EOF {
			return nil, l.off, io.EOF
		}
		l.window = l.window[:0]
	}
	return nil, l.off, err
}

// entry reads the transaction whose entry begins at l.off.
func (l *logFile) entry() ([]byte, error) {
	head, err := l.at(l.off, entryHead)
	if err != nil {
		return nil, err
	}
	if len(head) < entryHead {
		return nil, l.end(head)
	}
	sum, n := binary.BigEndian.Uint64(head), int32(binary.BigEndian.Uint32(head[8:]))
	if n == 0 {
		return nil, l.end(head)
	}
	if n < 0 || n > maxEntry {
		return nil, l.damaged(l.off+8, fmt.Sprintf("a transaction's length is %d", n))
	}
	body, err := l.at(l.off+entryHead, int(n)+1)
	if err != nil {
		return nil, err
	}
	if len(body) <= int(n) || body[n] != entryEnd {
		return nil, l.end([]byte{1})
	}
	body = body[:n]
	if got := uint64(adler32.Checksum(body)); got != sum {
		return nil, l.damaged(l.off, fmt.Sprintf("a transaction's checksum is %x, and the log says %x", got, sum))
	}
	if n < jute.TxnHeaderLen {
		return nil, l.damaged(l.off+8, fmt.Sprintf("a transaction is %d bytes long, expected at least %d", n, jute.TxnHeaderLen))
	}
	return body, nil
}

// end returns io.EOF if no transaction follows. The server stops here in any
// case (FileTxnIterator.next): it assumes that it was killed when it wrote this
// incomplete entry, so that there is no later one. If others do follow, the log
// is damaged, and the server would lose them.
func (l *logFile) end(begun []byte) error {
	follows, zxid, err := l.find(l.off + 1)
	if err != nil {
		return err
	}
	if follows >= 0 {
		return l.damaged(l.off, fmt.Sprintf("there is no complete transaction here, and %s follows at byte %d", zx(zxid), follows))
	}
	if len(bytes.Trim(begun, "\x00")) > 0 {
		l.torn = l.off
	}
	return io.EOF
}

// find looks for a complete entry at or after an offset, with a zxid that could
// follow the last one.
func (l *logFile) find(from int64) (at, zxid int64, err error) {
	const least = entryHead + jute.TxnHeaderLen + 1
	for {
		b, err := l.at(from, windowSize)
		if err != nil {
			return -1, 0, err
		}
		if len(b) < least {
			return -1, 0, nil
		}
		// Copy it, because l.at below reads other bytes into the same memory.
		b = bytes.Clone(b)
		i := 0
		for ; i+least <= len(b); i++ {
			if i%zeroBlock == 0 && i+zeroBlock <= len(b) && allZero(b[i:i+zeroBlock]) {
				i += zeroBlock - 8 // an entry's first bytes can be zero
				continue
			}
			n, zxid := plausible(b[i:], l.last)
			if n == 0 {
				continue
			}
			entry, err := l.at(from+int64(i), entryHead+n+1)
			if err != nil {
				return -1, 0, err
			}
			if len(entry) == entryHead+n+1 && entry[entryHead+n] == entryEnd &&
				uint64(adler32.Checksum(entry[entryHead:entryHead+n])) == binary.BigEndian.Uint64(entry) {
				return from + int64(i), zxid, nil
			}
		}
		from += int64(i)
	}
}

// zeroBlock is how many zeros are skipped at once.
const zeroBlock = 4 << 10

var zeros [zeroBlock]byte

func allZero(b []byte) bool { return bytes.Equal(b, zeros[:len(b)]) }

// plausible returns the length and the zxid of an entry that b could begin
// with; the length is 0 if b can't.
func plausible(b []byte, last int64) (n int, zxid int64) {
	const (
		longest = 64 << 20
		further = 1 << 24 // transactions, within an epoch, and epochs
	)
	sum := binary.BigEndian.Uint64(b)
	if sum == 0 || sum > 1<<32-1 {
		return 0, 0
	}
	n = int(binary.BigEndian.Uint32(b[8:]))
	if n < jute.TxnHeaderLen || n > longest {
		return 0, 0
	}
	zxid = int64(binary.BigEndian.Uint64(b[entryHead+zxidAt:]))
	epochs := zxid>>32 - last>>32
	if epochs < 0 || epochs > further || epochs == 0 && (zxid <= last || zxid-last > further) {
		return 0, 0
	}
	return n, zxid
}
