package minizk_test

import (
	"fmt"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// send does a request, and writes it as what into the transcript.
func (c *client) send(what string, r jute.Request) rawPacket {
	c.w.t.Helper()
	return c.do(what, r.Op, jute.AppendRequest(nil, &r))
}

func (c *client) create(path, data string, flags int32) rawPacket {
	c.w.t.Helper()
	return c.createWith(jute.OpCreate, newNode(path, data, flags))
}

func (c *client) createWith(op jute.OpCode, r jute.Request) rawPacket {
	c.w.t.Helper()
	r.Op = op
	what := fmt.Sprintf("%s %q flags %d", r.Op, r.Path, r.Flags)
	if r.Op == jute.OpCreateTTL {
		what += fmt.Sprintf(" ttl %d", r.TTL)
	}
	return c.send(what, r)
}

func (c *client) delete(path string, version int32) rawPacket {
	c.w.t.Helper()
	return c.send(fmt.Sprintf("delete %q v %d", path, version), opDelete(path, version))
}

func (c *client) set(path string, b []byte, version int32) rawPacket {
	c.w.t.Helper()
	return c.send(fmt.Sprintf("setData %q %s v %d", path, data(b), version), jute.Request{Op: jute.OpSetData, Path: path, Data: b, Version: version})
}

func (c *client) setACL(path string, acl []znode.ACL, version int32) {
	c.w.t.Helper()
	c.send(fmt.Sprintf("setACL %q %v v %d", path, acl, version), jute.Request{Op: jute.OpSetACL, Path: path, ACL: acl, Version: version})
}

// read does exists, getData, getChildren or getChildren2.
func (c *client) read(op jute.OpCode, path string, watch bool) rawPacket {
	c.w.t.Helper()
	what := fmt.Sprintf("%s %q", op, path)
	if watch {
		what += " watching"
	}
	return c.send(what, jute.Request{Op: op, Path: path, Watch: watch})
}

// ask does getACL, getAllChildrenNumber, getEphemerals or sync.
func (c *client) ask(op jute.OpCode, path string) {
	c.w.t.Helper()
	c.send(fmt.Sprintf("%s %q", op, path), opRead(op, path))
}

// watchOp does addWatch, checkWatches or removeWatches.
func (c *client) watchOp(op jute.OpCode, path string, kind int32) {
	c.w.t.Helper()
	c.send(fmt.Sprintf("%s %q %d", op, path, kind), jute.Request{Op: op, Path: path, Kind: kind})
}

func (c *client) auth(scheme, secret string) {
	c.w.t.Helper()
	r := jute.Request{Op: jute.OpAuth, Scheme: scheme, Data: []byte(secret)}
	c.doXid("auth "+scheme, jute.XidAuth, r.Op, jute.AppendRequest(nil, &r))
}

func (c *client) setWatches(op jute.OpCode, since int64, lists ...[]string) {
	c.w.t.Helper()
	c.doXid(op.String(), jute.XidSetWatches, op, jute.AppendRequest(nil, &jute.Request{Op: op, Since: since, Watches: lists}))
}

func (c *client) multi(op jute.OpCode, ops ...jute.Request) {
	c.w.t.Helper()
	var names []string
	for i := range ops {
		names = append(names, fmt.Sprintf("%s %s", ops[i].Op, ops[i].Path))
	}
	c.send(fmt.Sprintf("%s %v", op, names), jute.Request{Op: op, Ops: ops})
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
