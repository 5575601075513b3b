package minizk

import (
	"net"
	"testing"
)

// TestQueueLimit: a reply may be larger than the limit for waiting notifications, and doesn't
// count towards it.
func TestQueueLimit(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	q := newOutQueue(near, 100)
	cut := func() bool {
		select {
		case <-q.done:
			return true
		default:
			return false
		}
	}
	q.give(make([]byte, 1000))
	q.notify(make([]byte, 60))
	q.add(make([]byte, 1000))
	if cut() {
		t.Fatal("the connection was cut because of its own replies")
	}
	got := make(chan int)
	go func() {
		n, _ := far.Read(make([]byte, 10_000))
		got <- n
	}()
	if err := q.flush(); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != 2060 {
		t.Fatalf("%d bytes arrived, want 2060", n)
	}
	q.notify(make([]byte, 60)) // flushed packets don't wait any more
	if cut() {
		t.Fatal("the connection was cut because of packets that had been sent")
	}
	q.notify(make([]byte, 60))
	if !cut() {
		t.Fatal("the connection was not cut although 120 bytes wait and the limit is 100")
	}
}
