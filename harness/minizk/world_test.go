package minizk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// world is one server that runs a scenario. What clients see is recorded in lines that do not
// depend on the server: zxids relative to where the scenario began, sessions by name, times
// only as set or not, lists of children sorted.
type world struct {
	side
	t        tb
	base     int64
	sessions map[int64]string
	clients  []*client
	named    map[string]*client // the newest of each name
	lines    []string
}

// side is a server that scenarios run on.
type side struct {
	addr string
	// pass moves a manual clock. For a server with a real clock it does nothing: the scenario
	// waits for what is due.
	pass func(time.Duration)
}

func onReal(addr string) side { return side{addr: addr, pass: func(time.Duration) {}} }

func onMini(s *minizk.Server) side { return side{addr: s.Addr(), pass: s.Advance} }

// tb is the part of testing.TB that rapid's T has too.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// dir is the node below which scenarios work. play creates it before each scenario and deletes it
// afterwards.
const dir = "/s"

var open = znode.OpenACL()

func play(t tb, on side, scenario func(*world)) string {
	t.Helper()
	ctx := context.Background()
	janitor, err := zkconn.OpenWriter(ctx, zkconn.Config{Address: zkconn.Address{Servers: []string{on.addr}}, Auth: []zkconn.Auth{zkconn.DigestAuth(superUser, superPassword)}})
	if err != nil {
		t.Fatal(err)
	}
	defer janitor.Close()
	made := errors.Join(janitor.RemoveTree(ctx, dir), janitor.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: dir, ACL: open}}))
	root, _, err := janitor.Exists(ctx, dir)
	if err := errors.Join(made, err); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, side: on, base: root.Czxid, sessions: map[int64]string{}, named: map[string]*client{}}
	defer func() {
		for _, c := range slices.Backward(w.clients) {
			c.hangUp()
		}
		if err := janitor.RemoveTree(ctx, dir); err != nil {
			t.Fatal(err)
		}
	}()
	scenario(w)
	return strings.Join(w.lines, "\n") + "\n"
}

func (w *world) note(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *world) dial(name string) *client {
	w.t.Helper()
	c, err := dialRaw(w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	cl := &client{w: w, name: name, c: c}
	w.clients = append(w.clients, cl)
	return cl
}
