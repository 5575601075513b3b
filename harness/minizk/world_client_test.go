package minizk_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
)

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

func (c *client) open(what string) {
	c.w.t.Helper()
	c.connect(what, jute.ConnectRequest{TimeoutMillis: int32(sessionTimeout.Milliseconds()), Password: make([]byte, jute.PasswordLen), HasReadOnly: true})
	if c.dead {
		c.w.t.Fatalf("%s got no session", c.name)
	}
}

func (c *client) connect(what string, r jute.ConnectRequest) {
	c.w.t.Helper()
	resp, err := c.c.Connect(r)
	if err != nil {
		c.cut(err)
		c.w.note("%s%s disconnected", what, arrow)
		return
	}
	if resp.SessionID != 0 {
		if _, known := c.w.sessions[resp.SessionID]; !known {
			c.w.sessions[resp.SessionID] = c.name
		}
	}
	zeros := !slices.ContainsFunc(resp.Password, func(b byte) bool { return b != 0 })
	c.w.note("%s%s version %d timeout %d session %s password %d bytes, zeros %v, readonly flag %v %v", what, arrow,
		resp.ProtocolVersion, resp.TimeoutMillis, c.w.owner(resp.SessionID), len(resp.Password), zeros, resp.HasReadOnly, resp.ReadOnly)
	if resp.TimeoutMillis == 0 {
		if _, err := c.c.ReadFrame(); err != nil {
			c.cut(err)
			c.w.note("\t%s disconnected", c.name)
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
func (c *client) resume(what string) {
	c.w.t.Helper()
	old := c.c
	fresh, err := dialRaw(c.w.addr)
	if err != nil {
		c.w.t.Fatal(err)
	}
	c.c, c.dead = fresh, false
	c.connect(what, jute.ConnectRequest{TimeoutMillis: int32(sessionTimeout.Milliseconds()), SessionID: old.Session.SessionID, Password: old.Session.Password, HasReadOnly: true})
	old.Close()
	if c.dead {
		c.w.t.Fatalf("%s cannot resume its session", c.name)
	}
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

// do sends a request and records its reply and the events before it. The xid 0 stands for the next one.
func (c *client) do(what string, xid int32, op jute.OpCode, body []byte) {
	c.w.t.Helper()
	if c.dead {
		c.w.t.Fatalf("%s: it is disconnected", what)
	}
	var p rawPacket
	var before []rawPacket
	var err error
	if xid == 0 {
		p, before, err = c.c.Do(op, body)
	} else {
		p, before, err = c.c.DoXid(xid, op, body)
	}
	from := len(c.w.lines)
	c.events(before...)
	if op == jute.OpCloseSession {
		c.closed = true
		slices.Sort(c.w.lines[from:]) // its nodes are deleted in no defined order
	}
	switch {
	case errors.Is(err, errOtherXid):
		c.dead = true
		c.w.note("%s%s %v", what, arrow, err)
	case err != nil:
		c.cut(err)
		c.w.note("%s%s disconnected", what, arrow)
	default:
		c.w.note("%s%s %s", what, arrow, c.w.reply(op, p))
	}
}

func (c *client) events(all ...rawPacket) {
	for _, p := range all {
		c.w.note("\t%s event %s", c.name, c.w.event(p))
	}
}

func (c *client) bytes(framed bool, b []byte) {
	c.w.t.Helper()
	var err error
	if framed {
		err = c.c.WriteFrame(b)
	} else {
		_, err = c.c.Write(b)
	}
	if err != nil {
		c.w.t.Fatal(err)
	}
}

func (c *client) expectEvent(what string) {
	c.w.t.Helper()
	p, err := c.c.ReadPacket()
	if err != nil || p.Xid != jute.XidNotification {
		c.w.t.Fatalf("%s waits for an event, got reply to %d, %v", c.name, p.Xid, err)
	}
	c.w.note("%s%s event %s", what, arrow, c.w.event(p))
}

func (c *client) expectEnd(what string) {
	c.w.t.Helper()
	for {
		p, err := c.c.ReadPacket()
		if err != nil {
			c.cut(err)
			c.w.note("%s%s disconnected", what, arrow)
			return
		}
		if p.Xid == jute.XidNotification {
			c.events(p)
			continue
		}
		c.w.note("\t%s unexpected reply to %d", c.name, p.Xid)
	}
}
