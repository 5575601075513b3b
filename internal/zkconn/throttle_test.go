package zkconn_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// throttle answers the requests that f selects as a throttling server does. The real
// server has done them all the same, so a repeated request must not be a write.
func throttle(p *proxy, f func(request packet) bool) {
	p.changeAnswers(func(request, answer packet) []byte {
		if request.body == nil || answer.xid() == 0 || !f(request) {
			return answer.body
		}
		code := int32(-127)
		return binary.BigEndian.AppendUint32(slices.Clone(answer.body[:4+8]), uint32(code))
	})
}

// TestThrottledReads: if a throttling server refuses a read, the session repeats it,
// alone or among others, and gives up in the end.
func TestThrottledReads(t *testing.T) {
	w, p := setup(t, zkconn.Config{GiveUp: impatient})
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf("/n%02d", i))
		multi(t, w, znode.Create(paths[i], nil))
	}
	n := 0
	throttle(p, func(packet) bool { n++; return n%3 != 0 })
	nodes, err := w.GetAll(t.Context(), paths, func(path string) bool { return path == "/n50" })
	if err != nil || len(nodes) != len(paths) || nodes[50].ACL == nil {
		t.Errorf("%d nodes, %v", len(nodes), err)
	}
	if _, ok, err := w.Exists(t.Context(), "/n01"); err != nil || !ok {
		t.Errorf("exists: %t, %v", ok, err)
	}
	throttle(p, func(packet) bool { return true })
	for what, read := range map[string]func() error{
		"get /n01":    func() error { return second(w.Get(t.Context(), "/n01")) },
		"exists /n01": func() error { _, _, err := w.Exists(t.Context(), "/n01"); return err },
	} {
		err := read()
		if !errors.Is(err, zkconn.ErrThrottled) {
			t.Errorf("%v", err)
		}
		wantMessage(t, err, what+": the server throttles: it refused a request that had waited too long")
	}
}

// TestThrottledMulti: a refused multi is not repeated, and the error says that nothing
// was done.
func TestThrottledMulti(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	throttle(p, isMulti)
	first := len(p.requests())
	err := w.Multi(t.Context(), []znode.Op{znode.Create("/a", nil)})
	if !errors.Is(err, zkconn.ErrThrottled) || errors.Is(err, zkconn.ErrUnknownOutcome) {
		t.Errorf("%v", err)
	}
	if n := len(p.requests()) - first; n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}
