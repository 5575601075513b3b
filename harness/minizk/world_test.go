package minizk_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
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
	unsorted bool // lists of children are shown as they come
}

// side is a server that scenarios run on.
type side struct {
	addr string
	// pass moves a manual clock. For a server with a real clock it does nothing: the scenario
	// waits for what is due.
	pass func(time.Duration)
	// mayDie is set if a scenario may end the server. Then the scenario's nodes cannot be
	// deleted afterwards.
	mayDie bool
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

// ownerSecret is the password that scenarios protect nodes with, so that the janitor can
// delete them.
const ownerSecret = "o:o"

func newWorld(t tb, on side) *world {
	return &world{t: t, side: on, sessions: map[int64]string{}, named: map[string]*client{}}
}

// play runs a scenario on a server and returns its transcript.
func play(t tb, on side, scenario func(*world)) string {
	t.Helper()
	w := newWorld(t, on)
	janitor := w.janitor()
	janitor.wipe(dir)
	janitor.must(jute.Request{Op: jute.OpCreate, Path: dir, ACL: open})
	p := janitor.must(jute.Request{Op: jute.OpPing})
	w.base = p.Zxid
	w.lines = nil
	defer func() {
		for _, c := range slices.Backward(w.clients) {
			c.hangUp()
		}
		if on.mayDie {
			return
		}
		end := newWorld(t, on).janitor()
		end.wipe(dir)
		end.hangUp()
	}()
	scenario(w)
	return strings.Join(w.lines, "\n") + "\n"
}

func (w *world) note(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// dial connects without a session.
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

// janitor may delete what the scenarios protect.
func (w *world) janitor() *client {
	w.t.Helper()
	c := w.dial("janitor")
	c.open("")
	c.must(jute.Request{Op: jute.OpAuth, Scheme: "digest", Data: []byte(ownerSecret)})
	return c
}
