package minizk_test

import (
	"fmt"

	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk/wire"
)

func (c *client) create(path, data string, flags int32) rawzk.Packet {
	c.w.t.Helper()
	return c.createWith(wire.OpCreate, wire.CreateRequest{Path: path, Data: []byte(data), ACL: open, Flags: flags})
}

func (c *client) createWith(op wire.OpCode, r wire.CreateRequest) rawzk.Packet {
	c.w.t.Helper()
	what := fmt.Sprintf("%s %q flags %d", op, r.Path, r.Flags)
	if op == wire.OpCreateTTL {
		what += fmt.Sprintf(" ttl %d", r.TTL)
	}
	return c.do(what, op, wire.AppendCreateRequest(nil, op, r))
}

func (c *client) delete(path string, version int32) rawzk.Packet {
	c.w.t.Helper()
	return c.do(fmt.Sprintf("delete %q v %d", path, version), wire.OpDelete, wire.AppendPathVersion(nil, wire.PathVersion{Path: path, Version: version}))
}

func (c *client) set(path string, b []byte, version int32) rawzk.Packet {
	c.w.t.Helper()
	return c.do(fmt.Sprintf("setData %q %s v %d", path, data(b), version), wire.OpSetData, wire.AppendSetDataRequest(nil, wire.SetDataRequest{Path: path, Data: b, Version: version}))
}

func (c *client) setACL(path string, acl []wire.ACL, version int32) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("setACL %q %v v %d", path, acl, version), wire.OpSetACL, wire.AppendSetACLRequest(nil, wire.SetACLRequest{Path: path, ACL: acl, Version: version}))
}

// read does exists, getData, getChildren or getChildren2.
func (c *client) read(op wire.OpCode, path string, watch bool) rawzk.Packet {
	c.w.t.Helper()
	what := fmt.Sprintf("%s %q", op, path)
	if watch {
		what += " watching"
	}
	return c.do(what, op, wire.AppendPathWatch(nil, wire.PathWatch{Path: path, Watch: watch}))
}

// ask does getACL, getAllChildrenNumber, getEphemerals or sync.
func (c *client) ask(op wire.OpCode, path string) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("%s %q", op, path), op, wire.AppendString(nil, path))
}

// watchOp does addWatch, checkWatches or removeWatches.
func (c *client) watchOp(op wire.OpCode, path string, n int32) {
	c.w.t.Helper()
	c.do(fmt.Sprintf("%s %q %d", op, path, n), op, wire.AppendPathInt(nil, wire.PathInt{Path: path, N: n}))
}

func (c *client) auth(scheme, secret string) {
	c.w.t.Helper()
	c.doXid("auth "+scheme, wire.XidAuth, wire.OpAuth, wire.AppendAuthRequest(nil, wire.AuthRequest{Scheme: scheme, Auth: []byte(secret)}))
}

// setWatches sends r with empty lists in place of null ones.
func (c *client) setWatches(op wire.OpCode, r wire.SetWatchesRequest) {
	c.w.t.Helper()
	for _, l := range []*[]*string{&r.Data, &r.Exist, &r.Child, &r.Persistent, &r.PersistentRecurse} {
		if *l == nil {
			*l = watches()
		}
	}
	c.doXid(op.String(), wire.XidSetWatches, op, wire.AppendSetWatchesRequest(nil, op, r))
}

// watches are the paths for setWatches.
func watches(paths ...string) []*string {
	out := []*string{}
	for _, p := range paths {
		out = append(out, &p)
	}
	return out
}

func (c *client) multi(op wire.OpCode, ops ...wire.MultiOp) {
	c.w.t.Helper()
	var names []string
	for i := range ops {
		names = append(names, fmt.Sprintf("%s %s", ops[i].Op, ops[i].Path()))
	}
	c.do(fmt.Sprintf("%s %v", op, names), op, wire.AppendMultiOps(nil, ops))
}

func mCreate(path string, flags int32) wire.MultiOp {
	return wire.MultiOp{Op: wire.OpCreate, Create: wire.CreateRequest{Path: path, Data: []byte("m"), ACL: open, Flags: flags}}
}

func mDelete(path string, version int32) wire.MultiOp {
	return wire.MultiOp{Op: wire.OpDelete, Version: wire.PathVersion{Path: path, Version: version}}
}

func mCheck(path string, version int32) wire.MultiOp {
	return wire.MultiOp{Op: wire.OpCheck, Version: wire.PathVersion{Path: path, Version: version}}
}

func mSet(path, data string, version int32) wire.MultiOp {
	return wire.MultiOp{Op: wire.OpSetData, Set: wire.SetDataRequest{Path: path, Data: []byte(data), Version: version}}
}

func mRead(op wire.OpCode, path string) wire.MultiOp {
	return wire.MultiOp{Op: op, Read: wire.PathWatch{Path: path}}
}
