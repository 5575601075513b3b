package zkconn_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// TestFailover: if a server is lost, or is silent without closing the connection, the
// session continues at another one. Its ephemeral stays, and a read that was under way is
// answered.
func TestFailover(t *testing.T) {
	server(t) // runs on after the test
	for name, lose := range map[string]func(*proxy){
		"the server closes its connections": func(p *proxy) { p.refuse(true) },
		"the server says nothing":           func(p *proxy) { p.stall(true) },
	} {
		t.Run(name, func(t *testing.T) {
			shared.NoLeak(t)
			one, two := newProxy(t, server(t).Address()), newProxy(t, server(t).Address())
			addr := address(t, one.address())
			addr.Servers = append(addr.Servers, two.address())
			w := openWriter(t, zkconn.Config{Address: addr, SessionTimeout: 2 * time.Second, Auth: []zkconn.Auth{zkconn.DigestAuth("ann", password)}})
			path := value(w.CreateEphemeral(t.Context(), "/e-", nil, []znode.ACL{{Perms: znode.PermAll, Scheme: "auth"}}))(t)
			first := one
			if two.connections() > 0 {
				first = two
			}
			lose(first)
			within(t, 20*time.Second, "the read", func() {
				if _, err := w.Get(t.Context(), path); err != nil {
					t.Error(err)
				}
			})
			if one.connections() == 0 || two.connections() == 0 {
				t.Errorf("%d and %d connections", one.connections(), two.connections())
			}
		})
	}
}

// TestCodesOfWrites: after a code of a server that certainly did nothing, a write is
// refused. After any other, also an unknown one, its outcome is unknown.
func TestCodesOfWrites(t *testing.T) {
	w, p := setup(t, zkconn.Config{GiveUpAfter: impatient})
	for code, want := range map[int32]error{
		-101: znode.ErrNoNode, -102: zkconn.ErrNoAuth, -103: znode.ErrBadVersion, -108: znode.ErrEphemeralParent, -110: znode.ErrNodeExists,
		-111: znode.ErrNotEmpty, -127: zkconn.ErrThrottled, -1: zkconn.ErrUnknownOutcome, -4: zkconn.ErrUnknownOutcome, -118: zkconn.ErrUnknownOutcome, -4711: zkconn.ErrUnknownOutcome,
	} {
		p.changeAnswers(func(request, answer packet) []byte {
			if !isMulti(request) && request.opcode() != 7 {
				return answer.body
			}
			return binary.BigEndian.AppendUint32(slices.Clone(answer.body[:4+8]), uint32(code))
		})
		for what, err := range map[string]error{
			"multi": w.Multi(t.Context(), []znode.Op{znode.Check("/", -1)}), "SetACL": w.SetACL(t.Context(), "/", nil),
		} {
			if !errors.Is(err, want) || errors.Is(err, zkconn.ErrUnknownOutcome) != (want == zkconn.ErrUnknownOutcome) {
				t.Errorf("code %d of %s gives %v, want %v", code, what, err, want)
			}
		}
	}
}

// TestAnswersThatEndTooEarly: an answer that is not whole is an error, and never half a
// result. The outcome of such a write is unknown.
func TestAnswersThatEndTooEarly(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	multi(t, w, znode.Create("/a", []byte("data")), znode.Create("/a/b", nil), znode.Create("/a/c", nil))
	left, whole := 0, 0 // how many bytes of the next answer are left, of how many
	p.changeAnswers(func(request, answer packet) []byte {
		if len(request.body) == 0 || answer.xid() <= 0 {
			return answer.body
		}
		whole = len(answer.body)
		return answer.body[:min(left, whole)]
	})
	for what, call := range map[string]func() error{
		"get":    func() error { return second(w.Get(t.Context(), "/a")) },
		"list":   func() error { return second(w.Children(t.Context(), "/a")) },
		"exists": func() error { _, _, err := w.Exists(t.Context(), "/a"); return err },
		"multi":  func() error { return w.Multi(t.Context(), []znode.Op{znode.Set("/a", []byte("data"), -1)}) },
	} {
		for left, whole = 16, 1000; left < whole; left++ {
			if err := call(); err == nil || what == "multi" && !errors.Is(err, zkconn.ErrUnknownOutcome) {
				t.Errorf("%s: %d of %d bytes give %v", what, left, whole, err)
			}
		}
		if err := call(); err != nil {
			t.Errorf("%s: the whole answer gives %v", what, err)
		}
	}
}
