package zkconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

// TestOutbox: everything goes out in its order, in fewer writes than packets when
// the peer is slow; who puts more than the outbox holds waits.
func TestOutbox(t *testing.T) {
	here, there := net.Pipe()
	o := newOutbox(here, func(err error) { t.Error(err) })
	const packets, size = 200, 20_000
	var want []byte
	put := make(chan struct{})
	for i := range packets {
		want = append(want, bytes.Repeat([]byte{byte(i)}, size)...)
	}
	go func() {
		defer close(put)
		for i := range packets {
			o.put(want[i*size : (i+1)*size])
		}
	}()
	got, reads := make([]byte, 0, len(want)), 0
	buf := make([]byte, len(want))
	for len(got) < len(want) {
		n, err := there.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, buf[:n]...); len(got) < size*packets/10 {
			o.mu.Lock()
			if len(o.waiting) > fullOutbox+size {
				t.Errorf("%d bytes wait, want no more than %d", len(o.waiting), fullOutbox+size)
			}
			o.mu.Unlock()
		}
		reads++
	}
	<-put
	if !bytes.Equal(got, want) {
		t.Error("what came is not what was put, in its order")
	}
	if reads >= packets {
		t.Errorf("%d packets took %d writes", packets, reads)
	}
	o.close()
	there.Close()
}

// TestOutboxFails: a peer that is gone is told of once, and nobody waits for it.
func TestOutboxFails(t *testing.T) {
	here, there := net.Pipe()
	there.Close()
	failed := make(chan error, 2)
	var o *outbox
	made := make(chan struct{})
	o = newOutbox(here, func(err error) {
		<-made
		o.close()
		failed <- err
	})
	close(made)
	for range 3 {
		o.put(make([]byte, fullOutbox))
	}
	if err := <-failed; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it failed with %v", err)
	}
}
