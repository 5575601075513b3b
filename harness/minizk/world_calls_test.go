package minizk_test

import (
	"fmt"

	"mrtq/harness/internal/rawzk"
	"mrtq/internal/jute"
)

func (c *client) create(path, data string, flags int32) rawzk.Packet {
	c.w.t.Helper()
	return c.createWith(jute.OpCreate, jute.CreateRequest{Path: path, Data: []byte(data), ACL: open, Flags: flags})
}

func (c *client) createWith(op jute.OpCode, r jute.CreateRequest) rawzk.Packet {
	c.w.t.Helper()
	what := fmt.Sprintf("%s %q flags %d", op, r.Path, r.Flags)
	if op == jute.OpCreateTTL {
		what += fmt.Sprintf(" ttl %d", r.TTL)
	}
	return c.do(what, op, jute.AppendCreateRequest(nil, op, r))
}

func (c *client) delete(path string, version int32) rawzk.Packet {
	c.w.t.Helper()
	return c.do(fmt.Sprintf("delete %q v %d", path, version), jute.OpDelete, jute.AppendPathVersion(nil, jute.PathVersion{Path: path, Version: version}))
}

func (c *client) set(path string, b []byte, version int32) rawzk.Packet {
	c.w.t.Helper()
	return c.do(fmt.Sprintf("setData %q %s v %d", path, data(b), version), jute.OpSetData, jute.AppendSetDataRequest(nil, jute.SetDataRequest{Path: path, Data: b, Version: version}))
}

func (c *client) setACL(path string, acl []jute.ACL, version int32) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("setACL %q %v v %d", path, acl, version), jute.OpSetACL, jute.AppendSetACLRequest(nil, jute.SetACLRequest{Path: path, ACL: acl, Version: version}))
}

// read does exists, getData, getChildren or getChildren2.
func (c *client) read(op jute.OpCode, path string, watch bool) rawzk.Packet {
	c.w.t.Helper()
	what := fmt.Sprintf("%s %q", op, path)
	if watch {
		what += " watching"
	}
	return c.do(what, op, jute.AppendPathWatch(nil, jute.PathWatch{Path: path, Watch: watch}))
}

// ask does getACL, getAllChildrenNumber, getEphemerals or sync.
func (c *client) ask(op jute.OpCode, path string) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("%s %q", op, path), op, jute.AppendString(nil, path))
}

// watchOp does addWatch, checkWatches or removeWatches.
func (c *client) watchOp(op jute.OpCode, path string, n int32) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("%s %q %d", op, path, n), op, jute.AppendPathInt(nil, jute.PathInt{Path: path, N: n}))
}

func (c *client) auth(scheme, secret string) {
	c.w.t.Helper()
	c.doXid("auth "+scheme, jute.XidAuth, jute.OpAuth, jute.AppendAuthRequest(nil, jute.AuthRequest{Scheme: scheme, Auth: []byte(secret)}))
}

// setWatches sends r with empty lists in place of null ones.
func (c *client) setWatches(op jute.OpCode, r jute.SetWatchesRequest) {
	c.w.t.Helper()
	for _, l := range []*[]*string{&r.Data, &r.Exist, &r.Child, &r.Persistent, &r.PersistentRecurse} {
		if *l == nil {
			*l = watches()
		}
	}
	c.doXid(op.String(), jute.XidSetWatches, op, jute.AppendSetWatchesRequest(nil, op, r))
}

// watches are the paths for setWatches.
func watches(paths ...string) []*string {
	out := []*string{}
	for _, p := range paths {
		out = append(out, &p)
	}
	return out
}

func (c *client) multi(op jute.OpCode, ops ...jute.MultiOp) {
	c.w.t.Helper()
	var names []string
	for i := range ops {
		names = append(names, fmt.Sprintf("%s %s", ops[i].Op, ops[i].Path()))
	}
	c.do(fmt.Sprintf("%s %v", op, names), op, jute.AppendMultiOps(nil, ops))
}

func mCreate(path string, flags int32) jute.MultiOp {
	return jute.MultiOp{Op: jute.OpCreate, Create: jute.CreateRequest{Path: path, Data: []byte("m"), ACL: open, Flags: flags}}
}

func mDelete(path string, version int32) jute.MultiOp {
	return jute.MultiOp{Op: jute.OpDelete, Version: jute.PathVersion{Path: path, Version: version}}
}

func mCheck(path string, version int32) jute.MultiOp {
	return jute.MultiOp{Op: jute.OpCheck, Version: jute.PathVersion{Path: path, Version: version}}
}

func mSet(path, data string, version int32) jute.MultiOp {
	return jute.MultiOp{Op: jute.OpSetData, Set: jute.SetDataRequest{Path: path, Data: []byte(data), Version: version}}
}

func mRead(op jute.OpCode, path string) jute.MultiOp {
	return jute.MultiOp{Op: op, Read: jute.PathWatch{Path: path}}
}
