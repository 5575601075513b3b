package minizk_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// step is one random operation. Every step has all fields, even if its operation does not use them,
// so that rapid shrinks all steps in the same way.
type step struct {
	Client int
	Do     int
	Path   string
	Data   []byte
	Flag   int32
	Ver    int32
	Watch  bool
	ACL    []znode.ACL
	Multi  []step
}

// The paths collide often, and some are wrong.
var somePaths = []string{"", "/a", "/a/b", "/a/b/c", "/b", "/b/a", "/c", "/a/", "/a//b", "/a/.", "bad"}

var someACLs = [][]znode.ACL{
	open, open, open, open, nil,
	{acl(31, "auth", "")},
	{acl(31, "auth", "x"), acl(1, "world", "anyone")},
	{acl(31, "digest", digest(ownerSecret)), acl(1, "world", "anyone")},
	{acl(31, "digest", digest(ownerSecret)), acl(30, "world", "anyone")},
	{acl(31, "digest", digest(ownerSecret)), acl(4, "ip", "127.0.0.0/8"), acl(8, "digest", digest("x:x"))},
}

var someData = [][]byte{nil, {}, []byte("x"), []byte("longer data")}

func stepGen(deep bool) *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		s := step{
			Client: rapid.IntRange(0, 2).Draw(t, "client"),
			Do:     rapid.IntRange(0, len(actions)-1).Draw(t, "do"),
			Path:   rapid.SampledFrom(somePaths).Draw(t, "path"),
			Data:   rapid.SampledFrom(someData).Draw(t, "data"),
			Flag:   rapid.Int32Range(0, 6).Draw(t, "flag"),
			Ver:    rapid.SampledFrom([]int32{-1, -1, 0, 1, 2, 3}).Draw(t, "version"),
			Watch:  rapid.Bool().Draw(t, "watch"),
			ACL:    rapid.SampledFrom(someACLs).Draw(t, "acl"),
		}
		if deep {
			s.Multi = rapid.SliceOfN(stepGen(false), 0, 5).Draw(t, "multi")
		}
		return s
	})
}

func (s step) path() string {
	if strings.HasPrefix(s.Path, "/") || s.Path == "" {
		return dir + s.Path
	}
	return s.Path
}

func (s step) createRequest() jute.Request {
	return jute.Request{Path: s.newPath(), Data: s.Data, ACL: s.ACL, Flags: s.Flag}
}

// newPath returns a path below dir for a create. A sequential sibling of dir would show how many
// children the root has had, which differs between the servers.
func (s step) newPath() string {
	if s.path() == dir {
		return dir + "/"
	}
	return s.path()
}

// subOp makes an operation of a multi: a change, or a read for multiRead.
func (s step) subOp(read bool) jute.Request {
	if read {
		return jute.Request{Op: []jute.OpCode{jute.OpGetData, jute.OpGetChildren}[s.Do%2], Path: s.path(), Watch: s.Watch}
	}
	ops := []jute.OpCode{jute.OpCreate, jute.OpCreate2, jute.OpDelete, jute.OpSetData, jute.OpCheck, jute.OpCreateContainer, jute.OpCreateTTL}
	r := jute.Request{Op: ops[s.Do%7], Path: s.path(), Data: s.Data, Version: s.Ver}
	if s.Do%7 < 2 || s.Do%7 > 4 {
		r.Path, r.ACL, r.Flags, r.TTL = s.newPath(), s.ACL, s.Flag, []int64{1 << 30, 0, -1, 1 << 50}[s.Ver&3]
	}
	return r
}

func (s step) multi(c *client, op jute.OpCode) {
	var ops []jute.Request
	for _, sub := range s.Multi {
		ops = append(ops, sub.subOp(op == jute.OpMultiRead))
	}
	c.multi(op, ops...)
}

// actions are what a step can do. An action that is listed twice is tried more
// often.
var actions = []func(s step, c *client){
	func(s step, c *client) { c.createWith(jute.OpCreate, s.createRequest()) },
	func(s step, c *client) { c.createWith(jute.OpCreate2, s.createRequest()) },
	func(s step, c *client) {
		c.createWith(jute.OpCreate, jute.Request{Path: s.newPath(), ACL: open, Flags: s.Flag % 4})
	},
	func(s step, c *client) { c.createWith(jute.OpCreateContainer, s.createRequest()) },
	func(s step, c *client) {
		r := s.createRequest()
		r.TTL = 1 << 30
		c.createWith(jute.OpCreateTTL, r)
	},
	func(s step, c *client) { c.delete(s.path(), s.Ver) },
	func(s step, c *client) { c.delete(s.path(), -1) },
	func(s step, c *client) { c.set(s.path(), s.Data, s.Ver) },
	func(s step, c *client) { c.setACL(s.path(), s.ACL, s.Ver) },
	func(s step, c *client) { c.read(jute.OpExists, s.path(), s.Watch) },
	func(s step, c *client) { c.read(jute.OpGetData, s.path(), s.Watch) },
	func(s step, c *client) { c.read(jute.OpGetChildren, s.path(), s.Watch) },
	func(s step, c *client) { c.read(jute.OpGetChildren2, s.path(), s.Watch) },
	func(s step, c *client) { c.ask(jute.OpGetACL, s.path()) },
	func(s step, c *client) { c.ask(jute.OpGetAllChildrenNumber, s.path()) },
	func(s step, c *client) { c.ask(jute.OpGetEphemerals, s.path()) },
	func(s step, c *client) { c.ask(jute.OpSync, s.path()) },
	func(s step, c *client) { s.multi(c, jute.OpMulti) },
	func(s step, c *client) { s.multi(c, jute.OpMulti) },
	func(s step, c *client) { s.multi(c, jute.OpMultiRead) },
	func(s step, c *client) { c.watchOp(jute.OpAddWatch, watchable(s), s.Flag%2) },
	func(s step, c *client) { c.watchOp(jute.OpRemoveWatches, watchable(s), s.Flag%4) },
	func(s step, c *client) { c.watchOp(jute.OpCheckWatches, watchable(s), s.Flag%4) },
	// Each client has only one identity, because the servers order several differently (known
	// difference auth-order).
	func(s step, c *client) { c.auth("digest", []string{ownerSecret, "x:x", ownerSecret}[s.Client]) },
	func(s step, c *client) {
		c.setWatches(jute.OpSetWatches, c.w.base+int64(s.Ver), []string{s.path()}, []string{dir + "/c"}, []string{s.path()})
	},
	func(s step, c *client) {
		lists := make([][]string, 5)
		for _, i := range []int32{s.Flag, s.Ver + 5} {
			lists[i%5] = []string{watchable(s), dir + "/b"}
		}
		c.setWatches(jute.OpSetWatches2, c.w.base+int64(s.Flag), lists...)
	},
	func(s step, c *client) {
		// The version is wrong, because the real server does not answer a check with the
		// right one.
		c.send(fmt.Sprintf("check %q", s.path()), jute.Request{Op: jute.OpCheck, Path: s.path(), Version: 99})
	},
	func(_ step, c *client) { c.do("whoAmI", jute.OpWhoAmI, nil) },
	func(s step, c *client) { // ends the connection, but must not outlive the session
		c.auth("nosuchscheme", s.Path)
		c.expectEnd()
	},
	func(_ step, c *client) { c.resume() },
	func(_ step, c *client) { c.resume() },
	func(s step, c *client) { c.takeOver(make([]byte, jute.PasswordLen)) },
	func(_ step, c *client) {
		from := len(c.w.lines)
		c.do("close", jute.OpCloseSession, nil)
		slices.Sort(c.w.lines[from : len(c.w.lines)-1]) // its nodes are deleted in no particular order
		c.expectEnd()
		c.closed = true
	},
}

// watchable returns a path that begins with a slash, to avoid the known difference watch-path.
func watchable(s step) string {
	if !strings.HasPrefix(s.path(), "/") {
		return dir
	}
	return s.path()
}

// program runs steps with three clients, and records what each client receives after each step.
// Then it reads the whole tree.
func program(steps []step) func(*world) {
	return func(w *world) {
		names := []string{"A", "B", "C"}
		clients := make([]*client, len(names))
		for _, s := range steps {
			for i, name := range names {
				switch c := clients[i]; {
				case c == nil || c.closed:
					clients[i] = w.session(name)
				case c.dead: // the server cut the connection, but the session lives
					c.resume()
				}
			}
			actions[s.Do](s, clients[s.Client])
			for _, c := range clients {
				if !c.dead {
					c.settleSorted() // the nodes of a closed session are deleted in no particular order
				}
			}
		}
		for _, c := range clients {
			if c != nil && c.dead && !c.closed {
				c.resume() // so that the session can be closed: on a real server it would end later
			}
		}
		reader := w.session("reader")
		reader.auth("digest", ownerSecret)
		reader.tree(dir)
		reader.settle()
	}
}

// tree records everything below path.
func (c *client) tree(path string) {
	c.read(jute.OpGetData, path, false)
	c.ask(jute.OpGetACL, path)
	p := c.read(jute.OpGetChildren2, path, false)
	if p.Err != jute.OK {
		return
	}
	names := jute.NewDecoder(p.Body).Strings("names")
	slices.Sort(names)
	for _, name := range names {
		c.tree(path + "/" + name)
	}
}

// fewer lets a test try only some random programs, unless -torture or -rapid.checks is given.
func fewer(t *testing.T, programs string) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if *torture || checks.Value.String() != checks.DefValue {
		return
	}
	must(t, flag.Set("rapid.checks", programs))
	t.Cleanup(func() { _ = flag.Set("rapid.checks", checks.DefValue) })
}

// TestDifferential sends the same random operations to both servers and compares every reply,
// every event and the final trees. With -torture, or -rapid.checks, it tries more programs.
func TestDifferential(t *testing.T) {
	fewer(t, "40")
	addr := real38.addr(t)
	s := run(t, minizk.Options{})
	steps := rapid.SliceOfN(stepGen(true), 1, 30)
	rapid.Check(t, func(t *rapid.T) {
		p := program(steps.Draw(t, "steps"))
		sameLines(t, play(t, onMini(s), p), play(t, onReal(addr), p))
	})
}
