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
		t.Fatal("cut for its own replies")
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
		t.Fatal("cut for what has been sent")
	}
	q.notify(make([]byte, 60))
	if !cut() {
		t.Fatal("not cut, with 120 bytes waiting of 100")
	}
}
