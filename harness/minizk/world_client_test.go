package minizk_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
)

// client is one connection of a scenario.
type client struct {
	w    *world
	name string
	c    *rawConn
	dead bool // disconnected
	// closed says that the session has ended, too. A dead client that is not closed can resume
	// its session.
	closed bool
}

const sessionTimeout = 20 * time.Second

func (c *client) open() {
	c.w.t.Helper()
	c.connect(jute.ConnectRequest{TimeoutMillis: int32(sessionTimeout.Milliseconds()), Password: make([]byte, jute.PasswordLen), HasReadOnly: true})
	if c.dead {
		c.w.t.Fatalf("%s got no session", c.name)
	}
}

// connect sends the given connect request and records the answer.
func (c *client) connect(r jute.ConnectRequest) {
	resp, err := c.c.Connect(r)
	if err != nil {
		c.cut(err)
		c.w.note("%s connect: disconnected", c.name)
		return
	}
	if resp.SessionID != 0 {
		if _, known := c.w.sessions[resp.SessionID]; !known {
			c.w.sessions[resp.SessionID] = c.name
		}
	}
	zeros := !slices.ContainsFunc(resp.Password, func(b byte) bool { return b != 0 })
	c.w.note("%s connect: version %d timeout %d session %s password %d bytes, zeros %v, readonly flag %v %v", c.name,
		resp.ProtocolVersion, resp.TimeoutMillis, c.w.owner(resp.SessionID), len(resp.Password), zeros, resp.HasReadOnly, resp.ReadOnly)
	if resp.TimeoutMillis == 0 {
		if _, err := c.c.ReadFrame(); err != nil {
			c.cut(err)
			c.w.note("%s disconnected", c.name)
		}
	}
}

// cut records that the server has ended the connection. A silent server is a different case.
func (c *client) cut(err error) {
	c.w.t.Helper()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.w.t.Fatalf("%s: the server neither answered nor ended the connection, after\n%s", c.name, strings.Join(c.w.lines[max(0, len(c.w.lines)-60):], "\n"))
	}
	c.dead = true
}

// resume moves the session to a new connection, whether or not the old one still works.
func (c *client) resume() {
	c.w.t.Helper()
	old := c.c
	fresh, err := dialRaw(c.w.addr)
	if err != nil {
		c.w.t.Fatal(err)
	}
	c.c, c.dead = fresh, false
	c.connect(jute.ConnectRequest{TimeoutMillis: int32(sessionTimeout.Milliseconds()), SessionID: old.Session.SessionID, Password: old.Session.Password, HasReadOnly: true})
	old.Close()
	if c.dead {
		c.w.t.Fatalf("%s cannot resume its session", c.name)
	}
}

// takeOver is another client's attempt to resume the session with a wrong password. It fails,
// but the session's connection is cut.
func (c *client) takeOver(password []byte) {
	c.w.t.Helper()
	thief := c.w.dial(c.name + "'s thief")
	thief.connect(jute.ConnectRequest{TimeoutMillis: int32(sessionTimeout.Milliseconds()), SessionID: c.c.Session.SessionID, Password: password, HasReadOnly: true})
	c.expectEnd()
}

// hangUp ends the client's session, even if the server has cut its connection. Otherwise the
// session would expire, and take a zxid, during another scenario.
func (c *client) hangUp() {
	session := c.c.Session
	if c.dead && session.TimeoutMillis != 0 {
		c.c.Close()
		fresh, err := dialRaw(c.w.addr)
		if err != nil {
			return // the server is dead: known difference create-ttl-without-mode
		}
		c.c = fresh
		_, err = fresh.Connect(jute.ConnectRequest{TimeoutMillis: session.TimeoutMillis, SessionID: session.SessionID, Password: session.Password})
		c.dead = err != nil // or the session has ended already
	}
	if !c.dead && c.c.Session.TimeoutMillis != 0 {
		_, _, _ = c.c.Do(jute.OpCloseSession, nil)
	}
	c.c.Close()
}

// must sends a request of the test itself, which is not recorded and must
// succeed.
func (c *client) must(r jute.Request) rawPacket {
	c.w.t.Helper()
	xid := int32(1000)
	if r.Op == jute.OpPing {
		xid = jute.XidPing
	}
	p, _, err := c.c.DoXid(xid, r.Op, jute.AppendRequest(nil, &r))
	if err != nil || p.Err != jute.OK {
		c.w.t.Fatalf("%s %s: %v %v", c.name, r.Op, p.Err, err)
	}
	return p
}

// wipe removes a path and everything below it.
func (c *client) wipe(path string) {
	c.w.t.Helper()
	p, _, err := c.c.Do(packet(jute.Request{Op: jute.OpGetChildren, Path: path}))
	if err != nil {
		c.w.t.Fatal(err)
	}
	if p.Err == jute.NoNode {
		return
	}
	if p.Err == jute.OK { // otherwise it may not be read, and must have no children
		for _, name := range jute.NewDecoder(p.Body).Strings("children") {
			c.wipe(path + "/" + name)
		}
	}
	p, _, err = c.c.Do(packet(jute.Request{Op: jute.OpDelete, Path: path, Version: -1}))
	if err != nil || p.Err != jute.OK && p.Err != jute.NoNode {
		c.w.t.Fatalf("wipe %s: %v %v", path, p.Err, err)
	}
}

// do sends a request and records its reply and the events before it.
func (c *client) do(what string, op jute.OpCode, body []byte) rawPacket {
	return c.doXid(what, 0, op, body)
}

func (c *client) doXid(what string, xid int32, op jute.OpCode, body []byte) rawPacket {
	c.w.t.Helper()
	if c.dead {
		c.w.t.Fatalf("%s is disconnected and cannot %s", c.name, what)
	}
	var p rawPacket
	var before []rawPacket
	var err error
	if xid == 0 {
		p, before, err = c.c.Do(op, body)
	} else {
		p, before, err = c.c.DoXid(xid, op, body)
	}
	for _, e := range before {
		c.w.note("%s event %s", c.name, c.w.event(e))
	}
	if err != nil {
		c.cut(err)
		c.w.note("%s %s: disconnected", c.name, what)
		return p
	}
	c.w.note("%s %s: %s", c.name, what, c.w.reply(op, p))
	return p
}

// unanswered sends a request that gets no reply. The next reply belongs to a later ping.
func (c *client) unanswered(what string, r jute.Request) {
	c.w.t.Helper()
	if _, err := c.c.Queue(packet(r)); err != nil {
		c.w.t.Fatal(err)
	}
	c.w.note("%s %s:", c.name, what)
	c.settle()
}

// settle records the events that have arrived: it sends a ping and reads up to the reply. It
// also records the ping's zxid, which shows how many transactions there have been.
func (c *client) settle() {
	c.w.t.Helper()
	c.doXid("ping", jute.XidPing, jute.OpPing, nil)
}

// settleSorted does what settle does, and sorts the events between two replies, because their order
// is not defined.
func (c *client) settleSorted() {
	c.w.t.Helper()
	from := len(c.w.lines)
	c.settle()
	slices.Sort(c.w.lines[from : len(c.w.lines)-1])
}

// expectEvent waits for the next notification and records it.
func (c *client) expectEvent() {
	c.w.t.Helper()
	p, err := c.c.ReadPacket()
	if err != nil || p.Xid != jute.XidNotification {
		c.w.t.Fatalf("%s waits for an event, got reply to %d, %v", c.name, p.Xid, err)
	}
	c.w.note("%s event %s", c.name, c.w.event(p))
}

// expectEnd records that the server ends the connection, and what came before.
func (c *client) expectEnd() {
	for {
		p, err := c.c.ReadPacket()
		if err != nil {
			c.cut(err)
			c.w.note("%s disconnected", c.name)
			return
		}
		if p.Xid == jute.XidNotification {
			c.w.note("%s event %s", c.name, c.w.event(p))
			continue
		}
		c.w.note("%s unexpected reply to %d", c.name, p.Xid)
	}
}

// The operations, and how the transcript writes them.
