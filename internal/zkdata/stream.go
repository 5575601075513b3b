package zkdata

import (
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"

	"mrtq/internal/jute"
)

// stream decodes the records of a snapshot one after the other, and keeps the checksum of all of
// them. After its first error it decodes nothing, so a caller can decode several records and check
// the error once.
type stream struct {
	file string // for errors
	r    io.Reader
	buf  []byte
	// buf[pos:end] is yet to be decoded; buf[:summed] is in the checksum.
	pos, end, summed int
	base             int64 // where buf begins in the file
	sum              hash.Hash32
	err              error
	ended            bool // r has no more bytes
	d                jute.Decoder
}

const streamBuffer = 128 << 10

func newStream(file string, r io.Reader) *stream {
	return &stream{file: file, r: r, buf: make([]byte, streamBuffer), sum: adler32.New()}
}

// offset is where the next record begins.
func (s *stream) offset() int64 { return s.base + int64(s.pos) }

// checksum is the Adler32 of everything decoded so far.
func (s *stream) checksum() int64 {
	s.sum.Write(s.buf[s.summed:s.pos])
	s.summed = s.pos
	return int64(s.sum.Sum32())
}

func (s *stream) fail(at int64, what string) {
	if s.err == nil {
		s.err = &Error{Kind: ErrCorrupt, File: s.file, Offset: at, What: what}
	}
}

// record decodes one record. It calls decode, and if the record is not read whole yet, it reads more
// of the file and calls decode again. What decode takes from the Decoder is valid until the next
// record.
func (s *stream) record(decode func(*jute.Decoder)) {
	for s.err == nil {
		s.d.Reset(s.buf[s.pos:s.end])
		decode(&s.d)
		var bad *jute.DecodeError
		switch {
		case !errors.As(s.d.Err(), &bad):
			s.pos = s.end - s.d.Len()
			return
		case bad.Err != jute.ErrShort:
			s.fail(s.offset()+int64(bad.Off), fmt.Sprintf("%s %v", bad.Field, bad.Err))
		case s.ended:
			s.fail(s.base+int64(s.end), "the file ends here, inside "+bad.Field)
		default:
			s.more()
		}
	}
}

// more reads more of the file. It doubles the buffer if that is full, so that a wrong length costs
// no more memory than the bytes that are there.
func (s *stream) more() {
	s.checksum()
	rest := s.buf[s.pos:s.end]
	if len(rest) > len(s.buf)/2 {
		s.buf = make([]byte, 2*len(s.buf))
	}
	s.base += int64(s.pos)
	s.end = copy(s.buf, rest)
	s.pos, s.summed = 0, 0
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	s.end += n
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		s.ended = true
	case err != nil:
		s.err = unreadable(s.file, s.base+int64(s.end), err)
	}
}

// left is how many bytes are left, up to most of them.
func (s *stream) left(most int) int {
	for s.err == nil && !s.ended && s.end-s.pos < most {
		s.more()
	}
	if s.err != nil {
		return 0
	}
	return min(most, s.end-s.pos)
}

// unreadable adds the offset to an error of reading. A packed file that can't be unpacked is damaged
// like any other.
func unreadable(file string, at int64, err error) error {
	if damaged(err) {
		return &Error{Kind: ErrCorrupt, File: file, Offset: at, What: "it can't be unpacked further: " + err.Error()}
	}
	return fmt.Errorf("%s at byte %d: %w", file, at, err)
}
