package node

import (
	"bytes"
	"sync"
)

// tailSize is how much of a server's log is kept to explain why it ended, in
// bytes: enough for a Java stack trace or two.
const tailSize = 4 << 10

// Tail is a writer that keeps the end of what was written.
type Tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write keeps the end of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.cut = true
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String returns the last lines, without a line whose beginning was dropped.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if i := bytes.IndexByte(b, '\n'); t.cut && i >= 0 {
		b = b[i+1:]
	}
	return string(b)
}
