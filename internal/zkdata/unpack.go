package zkdata

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/snappy"
)

// unpacked unpacks a snapshot. The file's name says how it is packed
// (SnapStream.getStreamMode).
func unpacked(name string, r io.Reader) (io.Reader, error) {
	switch ext := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]); ext {
	case "gz":
		return gzip.NewReader(r)
	case "snappy":
		return newSnappyReader(r)
	}
	return r, nil
}

// damaged reports whether an error says that the packed bytes are damaged.
func damaged(err error) bool {
	var flateErr flate.CorruptInputError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errSnappy) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &flateErr)
}

// snappyReader unpacks the framing of snappy-java (SnappyOutputStream), which
// is not snappy's own: a header of 16 bytes (magic, version, oldest version
// that can read it), then blocks, each after its length. Instead of a block
// there may be another header, if streams were written one after the other.
type snappyReader struct {
	r      io.Reader
	packed []byte
	block  []byte // unpacked
	left   []byte // of block
}

var snappyMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	snappyHeader = 16
	// maxSnappyBlock is far above the blocks of 32 KiB that ZooKeeper asks for.
	maxSnappyBlock = 16 << 20
)

var errSnappy = errors.New("bad snappy data")

func newSnappyReader(r io.Reader) (io.Reader, error) {
	s := &snappyReader{r: r}
	return s, s.header(nil)
}

// header reads the rest of a stream's header, after head.
func (s *snappyReader) header(head []byte) error {
	h := make([]byte, snappyHeader)
	if _, err := io.ReadFull(s.r, h[copy(h, head):]); err != nil {
		return fmt.Errorf("%w: the header is cut short: %w", errSnappy, err)
	}
	if !bytes.HasPrefix(h, snappyMagic) {
		return fmt.Errorf("%w: it begins with % x, want % x", errSnappy, h[:len(snappyMagic)], snappyMagic)
	}
	if oldest := binary.BigEndian.Uint32(h[12:]); oldest > 1 {
		return fmt.Errorf("%w: version %d of snappy-java's framing, want 1", errSnappy, oldest)
	}
	return nil
}

func (s *snappyReader) Read(b []byte) (int, error) {
	for len(s.left) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *snappyReader) next() error {
	var head [4]byte
	if _, err := io.ReadFull(s.r, head[:]); err == io.EOF {
		return io.EOF
	} else if err != nil {
		return fmt.Errorf("%w: a block's length is cut short: %w", errSnappy, err)
	}
	if bytes.Equal(head[:], snappyMagic[:4]) {
		return s.header(head[:])
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxSnappyBlock {
		return fmt.Errorf("%w: a block of %d bytes, want at most %d", errSnappy, n, maxSnappyBlock)
	}
	// Read it piece by piece, because the length may be wrong.
	packed := bytes.NewBuffer(s.packed[:0])
	if _, err := io.CopyN(packed, s.r, int64(n)); err != nil {
		return fmt.Errorf("%w: a block is cut short: %w", errSnappy, err)
	}
	s.packed = packed.Bytes()
	size, err := snappy.DecodedLen(s.packed)
	if err != nil || size > maxSnappyBlock {
		return fmt.Errorf("%w: a block of %d bytes unpacked, want at most %d", errSnappy, size, maxSnappyBlock)
	}
	if s.block, err = snappy.Decode(s.block[:cap(s.block)], s.packed); err != nil {
		return fmt.Errorf("%w: %w", errSnappy, err)
	}
	s.left = s.block
	return nil
}
