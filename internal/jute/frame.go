package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// LenPrefix is the width of a frame's length, in bytes.
const LenPrefix = 4

// MaxBuffer is ZooKeeper's default jute.maxbuffer: the longest payload a server accepts.
const MaxBuffer = 0xfffff

// ErrFrame means that a frame's length is negative or above the limit. Then a server closes the
// connection, because it cannot know where the next frame starts.
var ErrFrame = errors.New("zookeeper frame: length out of range")

// firstStep is how many bytes ReadPayload allocates before any byte of the payload has come.
const firstStep = 16 << 10

// ReadFrame reads one frame from r and returns its payload, in buf's memory if that is large
// enough. limit is the longest payload that it accepts, in bytes. The error is io.EOF if r ends
// before the frame, io.ErrUnexpectedEOF if r ends inside it, one that wraps ErrFrame, or r's own.
// ReadFrame does not trust the length: it allocates memory as the bytes come.
func ReadFrame(r io.Reader, buf []byte, limit int) ([]byte, error) {
	var head [LenPrefix]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return ReadPayload(r, int32(binary.BigEndian.Uint32(head[:])), buf, limit)
}

// ReadPayload reads the n bytes that follow a length that has been read already. Its errors are
// those of ReadFrame.
func ReadPayload(r io.Reader, n int32, buf []byte, limit int) ([]byte, error) {
	if n < 0 || int(n) > limit {
		return nil, fmt.Errorf("%w: %d, expected 0..%d (jute.maxbuffer)", ErrFrame, n, limit)
	}
	buf = buf[:0]
	for len(buf) < int(n) {
		// As much as there is room for, or as much as has come so far.
		step := min(int(n)-len(buf), max(cap(buf)-len(buf), len(buf), firstStep))
		buf = slices.Grow(buf, step)
		got, err := io.ReadFull(r, buf[len(buf):len(buf)+step])
		buf = buf[:len(buf)+got]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// SealFrame writes the length of b[LenPrefix:] into b's first bytes, which the caller has
// reserved.
func SealFrame(b []byte) { binary.BigEndian.PutUint32(b, uint32(len(b)-LenPrefix)) }
