package zkdata

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/adler32"
	"io"
)

// stream reads a snapshot's values one after the other and keeps the checksum
// of everything read so far. After its first error every read returns zero, so
// a caller can read a whole record and check the error once.
type stream struct {
	file string // for errors
	r    io.Reader
	buf  []byte
	// buf[pos:end] is yet to be read; buf[:summed] is in the checksum.
	pos, end, summed int
	base             int64 // where buf begins in the file
	sum              hash.Hash32
	err              error
	ended            bool // err only says that the file ends
}

const streamBuffer = 128 << 10

func newStream(file string, r io.Reader) *stream {
	return &stream{file: file, r: r, buf: make([]byte, streamBuffer), sum: adler32.New()}
}

// offset is where the next value begins.
func (s *stream) offset() int64 { return s.base + int64(s.pos) }

// checksum is the Adler32 of everything read so far.
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

// take returns the next n bytes, at most the buffer's length. They are valid
// until the next call. It returns nil after an error.
func (s *stream) take(n int, field string) []byte {
	if s.err != nil {
		return nil
	}
	if s.end-s.pos < n {
		s.checksum()
		s.base += int64(s.pos)
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos, s.summed = 0, 0
		got, err := io.ReadAtLeast(s.r, s.buf[s.end:], n-s.end)
		s.end += got
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			s.fail(s.base+int64(s.end), "the file ends here, inside "+field)
			s.ended = true
			return nil
		case err != nil:
			s.err = unreadable(s.file, s.base+int64(s.end), err)
			return nil
		}
	}
	b := s.buf[s.pos : s.pos+n]
	s.pos += n
	return b
}

// ahead returns the next n bytes without taking them, fewer at the end.
func (s *stream) ahead(most int) []byte {
	if s.err != nil {
		return nil
	}
	if s.take(most, "the end") == nil && s.ended {
		s.err, s.ended = nil, false
		return s.buf[s.pos:s.end]
	}
	if s.err != nil {
		return nil
	}
	s.pos -= most // none of it is in the checksum yet
	return s.buf[s.pos : s.pos+most]
}

func (s *stream) int32(field string) int32 {
	b := s.take(4, field)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (s *stream) int64(field string) int64 {
	b := s.take(8, field)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// length reads the length of a string or buffer; -1 is null.
func (s *stream) length(field string) int {
	at := s.offset()
	n := s.int32(field)
	if n < -1 {
		s.fail(at, fmt.Sprintf("the length of %s is %d, want -1 or more", field, n))
		return -1
	}
	return int(n)
}

// bytes reads a buffer into new memory. It reads a long one piece by piece, so
// that a wrong length costs no more memory than the bytes that are there.
func (s *stream) bytes(field string) []byte {
	n := s.length(field)
	if n < 0 {
		return nil
	}
	return s.copied(n, field)
}

func (s *stream) copied(n int, field string) []byte {
	if s.err != nil {
		return nil
	}
	out := make([]byte, 0, min(n, len(s.buf)))
	for len(out) < n {
		b := s.take(min(n-len(out), len(s.buf)), field)
		if b == nil {
			return nil
		}
		out = append(out, b...)
	}
	return out
}

// text reads a string. It is valid until the next read.
func (s *stream) text(field string) []byte {
	at := s.offset()
	n := s.length(field)
	switch {
	case s.err != nil:
		return nil
	case n < 0:
		s.fail(at, field+" is null")
		return nil
	case n > len(s.buf):
		return s.copied(n, field)
	}
	return s.take(n, field)
}

// unreadable adds the offset to an error of reading. A packed file that can't
// be unpacked is damaged like any other.
func unreadable(file string, at int64, err error) error {
	if damaged(err) {
		return &Error{Kind: ErrCorrupt, File: file, Offset: at, What: "it can't be unpacked further: " + err.Error()}
	}
	return fmt.Errorf("%s at byte %d: %w", file, at, err)
}
