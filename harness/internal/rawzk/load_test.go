package rawzk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk"
	"mrtq/harness/minizk/wire"
)

// Stream sends all requests in order, with any window.
func TestStream(t *testing.T) {
	s := start(t)
	for _, window := range []int{1, 7, 1000} {
		c := open(t, s)
		root := fmt.Sprintf("/w%d", window)
		err := c.Stream(300, window, func(i int) (wire.OpCode, []byte) {
			path := root
			if i > 0 {
				path = fmt.Sprintf("%s/%d", root, i)
			}
			return wire.OpCreate, create(path)
		})
		if err != nil {
			t.Fatalf("window %d: %v", window, err)
		}
		reply, _, err := c.Do(wire.OpGetChildren, wire.AppendPathWatch(nil, wire.PathWatch{Path: root}))
		if names := wire.NewDecoder(reply.Body).Strings("children"); err != nil || len(names) != 299 {
			t.Errorf("window %d: %d children, %v", window, len(names), err)
		}
	}
}

// Stream returns an error if the server refuses a request, or a multi, although a refused multi's
// reply is OK. Null data, whose bytes look like a refusal, is no error.
func TestStreamReportsRefusals(t *testing.T) {
	s := start(t)
	err := open(t, s).Stream(100, 10, func(i int) (wire.OpCode, []byte) { return wire.OpCreate, create("/twice") })
	if !errors.Is(err, wire.NodeExists) {
		t.Errorf("got %v", err)
	}
	multi := func(path string) []byte {
		return wire.AppendMultiOps(nil, []wire.MultiOp{{Op: wire.OpDelete, Version: wire.PathVersion{Path: path, Version: -1}}})
	}
	err = open(t, s).Stream(100, 10, func(i int) (wire.OpCode, []byte) { return wire.OpMulti, multi("/twice") })
	if err == nil || !strings.Contains(err.Error(), "it was refused") {
		t.Errorf("got %v", err)
	}
	c := open(t, s)
	if err := c.Stream(1, 1, func(int) (wire.OpCode, []byte) {
		return wire.OpCreate, wire.AppendCreateRequest(nil, wire.OpCreate, wire.CreateRequest{Path: "/null", ACL: everybody})
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Stream(10, 3, func(int) (wire.OpCode, []byte) {
		return wire.OpGetData, wire.AppendPathWatch(nil, wire.PathWatch{Path: "/null"})
	}); err != nil {
		t.Error(err)
	}
}

// If the server ends, Stream returns an error.
func TestStreamWithoutAServer(t *testing.T) {
	s := start(t)
	c := open(t, s)
	err := c.Stream(100_000, 10, func(i int) (wire.OpCode, []byte) {
		if i == 500 {
			s.Close()
		}
		return wire.OpGetData, wire.AppendPathWatch(nil, wire.PathWatch{Path: "/zookeeper"})
	})
	if err == nil {
		t.Error("no error")
	}
}

var everybody = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", Name: "anyone"}}}

func create(path string) []byte {
	return wire.AppendCreateRequest(nil, wire.OpCreate, wire.CreateRequest{Path: path, Data: []byte("x"), ACL: everybody})
}

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
