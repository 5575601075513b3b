package minizk_test

import (
	"fmt"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

func TestCutBeforeAndAfter(t *testing.T) {
	for _, c := range []struct {
		name string
		do   minizk.Action
		done bool
	}{{"before", minizk.CutBefore(), false}, {"after", minizk.CutAfter(), true}} {
		for n := 1; n <= 4; n++ {
			t.Run(fmt.Sprint(c.name, n), func(t *testing.T) {
				s := run(t, minizk.Options{})
				fault := s.Inject(minizk.Fault{On: minizk.IsWrite, Nth: n, Do: c.do})
				conn := raw(t, s)
				for i := 1; i <= 4; i++ {
					code := do(t, conn, newNode(fmt.Sprint("/n", i), "x", 0))
					if i == n {
						want(t, "the cut create", code, jute.ConnectionLoss)
						conn = resumed(t, s, conn)
					} else {
						want(t, "create", code, jute.OK)
					}
					if exists := nodeAt(t, s, fmt.Sprint("/n", i)) != nil; exists != (i != n || c.done) {
						t.Errorf("node %d exists: %v", i, exists)
					}
				}
				if fault.Fired() != 1 || fault.Matched() != 4 {
					t.Errorf("fired %d of %d, want 1 of 4", fault.Fired(), fault.Matched())
				}
			})
		}
	}
}

// TestCutSendsEarlierReplies: a client that has sent several requests at once still gets the replies
// to those before the cut.
func TestCutSendsEarlierReplies(t *testing.T) {
	for name, act := range map[string]minizk.Action{"before": minizk.CutBefore(), "after": minizk.CutAfter()} {
		t.Run(name, func(t *testing.T) {
			s := run(t, minizk.Options{})
			s.Inject(minizk.Fault{On: minizk.OnPath("/3"), Do: act})
			c := raw(t, s)
			queue(t, c, newNode("/1", "", 0), newNode("/2", "", 0), newNode("/3", "", 0), newNode("/4", "", 0))
			for i := range 2 {
				if p, err := c.ReadPacket(); err != nil || p.Err != jute.OK {
					t.Fatalf("reply %d: %v %v", i+1, p.Err, err)
				}
			}
			if p, err := c.ReadPacket(); err == nil {
				t.Fatalf("a third reply: %+v", p)
			}
			if nodeAt(t, s, "/4") != nil {
				t.Error("the request after the cut was done")
			}
		})
	}
}

// TestSwallow: an operation is done and never answered, and the connection stays: it answers later operations.
func TestSwallow(t *testing.T) {
	s := run(t, minizk.Options{})
	c := raw(t, s)
	s.Inject(minizk.Fault{On: minizk.OnPath("/1"), Do: minizk.Swallow()})
	for i := 1; i <= 2; i++ {
		queue(t, c, newNode(fmt.Sprint("/", i), "", 0))
	}
	if p, err := c.ReadPacket(); err != nil || p.Err != jute.OK || p.Xid != 2 {
		t.Errorf("the first reply: %+v, %v", p, err)
	}
	if nodeAt(t, s, "/1") == nil || nodeAt(t, s, "/2") == nil {
		t.Error("an operation was not done")
	}
}

func TestRefuse(t *testing.T) {
	s := run(t, minizk.Options{})
	c := raw(t, s)
	in := s.Inject(minizk.Fault{On: minizk.OnOp(jute.OpMulti, jute.OpCreate), Nth: 2, Do: minizk.Refuse(jute.OperationTimeout)})
	want(t, "first", do(t, c, newNode("/a", "", 0)), jute.OK)
	want(t, "second", do(t, c, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opCreate("/b", 0)}}), jute.OperationTimeout)
	want(t, "third", do(t, c, newNode("/c", "", 0)), jute.OK)
	if nodeAt(t, s, "/b") != nil {
		t.Error("the refused multi was done")
	}
	if got := nodeAt(t, s, "/c").Stat.Czxid - nodeAt(t, s, "/a").Stat.Czxid; got != 1 {
		t.Errorf("the refused multi has used %d zxids", got-1)
	}
	in.Remove()
	in.Remove()
	want(t, "after Remove", do(t, c, newNode("/d", "", 0)), jute.OK)
	if in.Matched() != 3 {
		t.Errorf("met %d, want 3", in.Matched())
	}
}

func TestFaultsSeeTheSessionAndThePaths(t *testing.T) {
	s := run(t, minizk.Options{})
	a, b := raw(t, s), raw(t, s)
	var seen []minizk.Op
	s.Inject(minizk.Fault{On: func(o minizk.Op) bool {
		if o.Session == a.Session.SessionID {
			seen = append(seen, o)
		}
		return false
	}})
	do(t, a, newNode("/a", "", 0))
	do(t, b, newNode("/b", "", 0))
	do(t, a, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opCreate("/c", 0), opDelete("/a", -1)}})
	do(t, a, opRead(jute.OpGetData, "/c"))
	for i := range seen {
		seen[i].Session -= a.Session.SessionID
	}
	got := fmt.Sprintf("%+v", seen)
	const wanted = "[{Session:0 Code:create Path:/a Codes:[] Paths:[] Write:true} {Session:0 Code:multi Path: Codes:[create delete] Paths:[/c /a] Write:true} {Session:0 Code:getData Path:/c Codes:[] Paths:[] Write:false}]"
	if got != wanted {
		t.Errorf("saw\n%s\nwant\n%s", got, wanted)
	}
}

// TestIsCreate: one condition selects each way to create a node.
func TestIsCreate(t *testing.T) {
	s := run(t, minizk.Options{})
	c := raw(t, s)
	creates := s.Inject(minizk.Fault{On: minizk.IsCreate})
	want(t, "delete", do(t, c, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opDelete("/a", -1)}}), jute.OK)
	for n, op := range []jute.OpCode{minizk.OpCreate, minizk.OpCreate2, minizk.OpCreateContainer, minizk.OpCreateTTL} {
		r := newNode(fmt.Sprint("/", op), "", 0)
		if r.Op = op; op == minizk.OpCreateContainer {
			r.Flags = 4
		} else if op == minizk.OpCreateTTL {
			r.Flags, r.TTL = 5, 1000
		}
		want(t, op.String(), do(t, c, r), jute.OK)
		r.Path += "-in-a-multi"
		want(t, op.String(), do(t, c, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opDelete("/"+op.String(), -1), r}}), jute.OK)
		if creates.Matched() != 2*n+2 {
			t.Fatalf("%s: selected %d operations, want %d", op, creates.Matched(), 2*n+2)
		}
	}
}

// TestHoldAndCloseWhileHeld: a held operation waits, and so do the requests after it, but not those before it, and not
// other clients.
func TestHoldAndCloseWhileHeld(t *testing.T) {
	s := run(t, minizk.Options{})
	a, b := raw(t, s), raw(t, s)
	gate := make(chan struct{})
	in := s.Inject(minizk.Fault{On: minizk.OnPath("/held"), Do: minizk.Hold(gate)})
	queue(t, a, newNode("/before", "", 0), newNode("/held", "", 0), newNode("/after", "", 0))
	if p, err := a.ReadPacket(); err != nil || p.Err != jute.OK {
		t.Fatalf("reply to /before: %v %v", p, err)
	}
	for in.Fired() == 0 { // poll until it has arrived, because there is no event for that
		time.Sleep(time.Millisecond)
	}
	want(t, "another client", do(t, b, newNode("/other", "", 0)), jute.OK)
	if nodeAt(t, s, "/held") != nil || nodeAt(t, s, "/after") != nil {
		t.Fatal("an operation was done although it should be held")
	}
	close(gate)
	for _, path := range []string{"/held", "/after"} {
		if p, err := a.ReadPacket(); err != nil || p.Err != jute.OK {
			t.Fatalf("reply to %s: %v %v", path, p, err)
		}
	}
	// A held operation does not prevent the server from closing. Otherwise run's leak
	// check would fail.
	s.Inject(minizk.Fault{Do: minizk.Hold(make(chan struct{}))})
	queue(t, a, newNode("/never", "", 0))
}
