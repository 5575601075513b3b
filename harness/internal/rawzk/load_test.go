package rawzk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// Stream sends all requests in order, with any window.
func TestStream(t *testing.T) {
	s := start(t)
	for _, window := range []int{1, 7, 1000} {
		c := open(t, s)
		root := fmt.Sprintf("/w%d", window)
		err := c.Stream(300, window, func(i int) (jute.OpCode, []byte) {
			path := root
			if i > 0 {
				path = fmt.Sprintf("%s/%d", root, i)
			}
			return packet(create(path))
		})
		if err != nil {
			t.Fatalf("window %d: %v", window, err)
		}
		reply, _, err := c.Do(packet(jute.Request{Op: jute.OpGetChildren, Path: root}))
		if names := jute.NewDecoder(reply.Body).Strings("children"); err != nil || len(names) != 299 {
			t.Errorf("window %d: %d children, %v", window, len(names), err)
		}
	}
}

// Stream returns an error if the server refuses a request, or a multi, although a refused multi's
// reply is OK. Null data, whose bytes look like a refusal, is no error.
func TestStreamReportsRefusals(t *testing.T) {
	s := start(t)
	err := open(t, s).Stream(100, 10, func(i int) (jute.OpCode, []byte) { return packet(create("/twice")) })
	if !errors.Is(err, jute.NodeExists) {
		t.Errorf("got %v", err)
	}
	multi := jute.Request{Op: jute.OpMulti, Ops: []jute.Request{{Op: jute.OpDelete, Path: "/twice", Version: -1}}}
	err = open(t, s).Stream(100, 10, func(i int) (jute.OpCode, []byte) { return packet(multi) })
	if err == nil || !strings.Contains(err.Error(), "it was refused") {
		t.Errorf("got %v", err)
	}
	c := open(t, s)
	if err := c.Stream(1, 1, func(int) (jute.OpCode, []byte) {
		return packet(jute.Request{Op: jute.OpCreate, Path: "/null", ACL: everybody})
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Stream(10, 3, func(int) (jute.OpCode, []byte) {
		return packet(jute.Request{Op: jute.OpGetData, Path: "/null"})
	}); err != nil {
		t.Error(err)
	}
}

// If the server ends, Stream returns an error.
func TestStreamWithoutAServer(t *testing.T) {
	s := start(t)
	c := open(t, s)
	err := c.Stream(100_000, 10, func(i int) (jute.OpCode, []byte) {
		if i == 500 {
			s.Close()
		}
		return packet(jute.Request{Op: jute.OpGetData, Path: "/zookeeper"})
	})
	if err == nil {
		t.Error("no error")
	}
}

var everybody = []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", Name: "anyone"}}}

func create(path string) jute.Request {
	return jute.Request{Op: jute.OpCreate, Path: path, Data: []byte("x"), ACL: everybody}
}

// packet returns what a client sends for a request.
func packet(r jute.Request) (jute.OpCode, []byte) { return r.Op, jute.AppendRequest(nil, &r) }

func start(t *testing.T) *minizk.Server {
	s, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func open(t *testing.T, s *minizk.Server) *rawzk.Conn {
	c, err := rawzk.Open(s.Addr(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
