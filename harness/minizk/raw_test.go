package minizk_test

import (
	"bytes"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// raw opens a session that is closed when the test ends.
func raw(t testing.TB, s *minizk.Server) *rawConn {
	t.Helper()
	c := value(openRaw(s.Addr(), sessionTimeout))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// resumed opens a new connection for an old session.
func resumed(t testing.TB, s *minizk.Server, old *rawConn) *rawConn {
	t.Helper()
	c := value(dialRaw(s.Addr()))(t)
	t.Cleanup(func() { c.Close() })
	resp, err := c.Connect(jute.ConnectRequest{TimeoutMillis: 20000, SessionID: old.Session.SessionID, Password: old.Session.Password, HasReadOnly: true})
	if err != nil || resp.TimeoutMillis == 0 {
		t.Fatalf("resume: %+v, %v", resp, err)
	}
	return c
}

func newNode(path, data string, flags int32) jute.Request {
	return jute.Request{Op: jute.OpCreate, Path: path, Data: []byte(data), ACL: open, Flags: flags}
}

func opCreate(path string, flags int32) jute.Request { return newNode(path, "m", flags) }

func opDelete(path string, version int32) jute.Request {
	return jute.Request{Op: jute.OpDelete, Path: path, Version: version}
}

func opCheck(path string, version int32) jute.Request {
	return jute.Request{Op: jute.OpCheck, Path: path, Version: version}
}

func opSet(path, data string, version int32) jute.Request {
	return jute.Request{Op: jute.OpSetData, Path: path, Data: []byte(data), Version: version}
}

func opRead(op jute.OpCode, path string) jute.Request { return jute.Request{Op: op, Path: path} }

func packet(r jute.Request) (jute.OpCode, []byte) { return r.Op, appendRequest(nil, r) }

// appendRequest appends the record of a request. Lists of setWatches that are missing are empty.
func appendRequest(b []byte, r jute.Request) []byte {
	at := jute.AppendString(b, r.Path)
	switch r.Op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer:
		return jute.AppendInt(jute.AppendACLs(jute.AppendBuffer(at, r.Data), r.ACL), r.Flags)
	case jute.OpCreateTTL:
		r.Op = jute.OpCreate
		return jute.AppendLong(appendRequest(b, r), r.TTL)
	case jute.OpDelete, jute.OpCheck:
		return jute.AppendInt(at, r.Version)
	case jute.OpSetData:
		return jute.AppendInt(jute.AppendBuffer(at, r.Data), r.Version)
	case jute.OpSetACL:
		return jute.AppendInt(jute.AppendACLs(at, r.ACL), r.Version)
	case jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2:
		return jute.AppendBool(at, r.Watch)
	case jute.OpGetACL, jute.OpGetAllChildrenNumber, jute.OpGetEphemerals, jute.OpSync:
		return at
	case jute.OpAddWatch, jute.OpCheckWatches, jute.OpRemoveWatches:
		return jute.AppendInt(at, r.Kind)
	case jute.OpAuth:
		return jute.AppendBuffer(jute.AppendString(jute.AppendInt(b, 0), r.Scheme), r.Data)
	case jute.OpSasl:
		return jute.AppendBuffer(b, r.Data)
	case jute.OpReconfig: // no members
		return jute.AppendLong(append(b, bytes.Repeat([]byte{0xff}, 12)...), -1)
	case jute.OpSetWatches, jute.OpSetWatches2:
		b = jute.AppendLong(b, r.Since)
		for i := range map[jute.OpCode]int{jute.OpSetWatches: 3, jute.OpSetWatches2: 5}[r.Op] {
			paths := []string{} // not null
			if i < len(r.Watches) {
				paths = append(paths, r.Watches[i]...)
			}
			b = jute.AppendStrings(b, paths)
		}
	case jute.OpMulti, jute.OpMultiRead:
		for _, op := range r.Ops {
			b = appendRequest(jute.AppendMultiHeader(b, jute.MultiHeader{Op: op.Op, Err: -1}), op)
		}
		return jute.AppendMultiEnd(b)
	}
	return b
}

// do sends a request and returns its code. For a cut connection it returns
// ConnectionLoss.
func do(t testing.TB, c *rawConn, r jute.Request) jute.Code {
	t.Helper()
	p, _, err := c.Do(packet(r))
	if err != nil {
		return jute.ConnectionLoss
	}
	return p.Err
}

func queue(t testing.TB, c *rawConn, requests ...jute.Request) {
	t.Helper()
	for _, r := range requests {
		must(t, errorOf(c.Queue(packet(r))))
	}
	must(t, c.Flush())
}

func want(t testing.TB, what string, got, want jute.Code) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// nodeAt returns the node at path from the tree itself, without a client; nil if there is none.
func nodeAt(t testing.TB, s *minizk.Server, path string) *znode.Node {
	t.Helper()
	return s.Snapshot().Get(path)
}
