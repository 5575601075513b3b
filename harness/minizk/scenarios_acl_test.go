package minizk_test

import (
	"fmt"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

func init() {
	scenarios["acl_lists"] = aclLists
	scenarios["acl_enforced"] = aclEnforced
	scenarios["acl_events"] = aclEvents
	scenarios["superuser"] = superuser
}

func acl(perms int32, scheme, name string) znode.ACL {
	return znode.ACL{Perms: perms, Scheme: scheme, ID: name}
}

func digest(secret string) string { return ztree.DigestID([]byte(secret)).Name }

// aclLists tries lists of all shapes, and reads back what the server keeps.
func aclLists(w *world) {
	a, b := w.session("A"), w.session("B")
	b.auth("digest", "b:b")
	anybody := acl(31, "world", "anyone")
	for i, list := range [][]znode.ACL{
		nil, {}, {anybody}, {anybody, anybody}, {acl(1, "world", "anyone"), acl(2, "world", "anyone")}, {acl(0, "world", "anyone")}, {acl(99, "world", "anyone")}, {acl(-1, "world", "anyone")},
		{acl(31, "world", "x")}, {acl(31, "world", "")}, {acl(31, "", "")}, {acl(31, "auth", "")}, {acl(3, "auth", "ignored"), anybody}, {anybody, acl(31, "auth", "")},
		{acl(31, "digest", "a")}, {acl(31, "digest", "a:b")}, {acl(31, "digest", "a:b:c")}, {acl(31, "digest", "a:")}, {acl(31, "digest", ":b")}, {acl(31, "digest", "a:b:")}, {acl(31, "digest", "")}, {acl(31, "digest", ":")},
		{acl(31, "ip", "127.0.0.1")}, {acl(31, "ip", "127.0.0.0/8")}, {acl(31, "ip", "127.0.0.1/33")}, {acl(31, "ip", "127.0.0.1/-1")}, {acl(31, "ip", "127.0.0.1/x")}, {acl(31, "ip", "127.0.0.1/0")},
		{acl(31, "ip", "256.0.0.1")}, {acl(31, "ip", "1.2.3")}, {acl(31, "ip", "1.2.3.4.5")}, {acl(31, "ip", "")}, {acl(31, "ip", "::1")}, {acl(31, "ip", "localhost")}, {acl(31, "ip", "1.2.3.")},
		{acl(31, "sasl", "x")}, {acl(31, "x509", "x")}, {acl(31, "super", "x:y")}, {anybody, acl(31, "nope", "x")},
	} {
		path := fmt.Sprintf("%s/n%d", dir, i)
		for _, c := range []*client{a, b} {
			c.createWith(jute.OpCreate, jute.Request{Path: path + c.name, ACL: list})
			c.ask(jute.OpGetACL, path+c.name)
		}
		b.create(path, "", 0)
		b.setACL(path, list, -1)
		b.ask(jute.OpGetACL, path)
		a.setACL(dir+"/nope", list, -1)
	}
	// kazoo writes the empty id of scheme auth as null.
	body := jute.AppendInt(jute.AppendBuffer(jute.AppendString(nil, dir+"/kazoo"), nil), 1)
	body = jute.AppendInt(jute.AppendString(jute.AppendInt(body, 31), "auth"), -1)
	b.do("create with a null id", jute.OpCreate, jute.AppendInt(body, 0))
	b.ask(jute.OpGetACL, dir+"/kazoo")
}

// aclEnforced tries every operation on nodes with every single permission.
func aclEnforced(w *world) {
	owner, other := w.session("owner"), w.session("other")
	owner.auth("digest", ownerSecret)
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/acl", ACL: open})
	for _, perms := range []int32{0, 1, 2, 4, 8, 16, 31} {
		node := fmt.Sprintf("%s/acl/%d", dir, perms)
		owner.createWith(jute.OpCreate, jute.Request{Path: node, Data: []byte("d"), ACL: open})
		owner.createWith(jute.OpCreate, jute.Request{Path: node + "/kid", ACL: open})
		owner.setACL(node, []znode.ACL{acl(31, "digest", digest(ownerSecret)), acl(perms, "digest", digest("x:x")), acl(perms, "ip", "127.0.0.0/8")}, -1)
		c := other
		c.read(jute.OpExists, node, false)
		c.read(jute.OpGetData, node, true)
		c.read(jute.OpGetChildren, node, true)
		c.read(jute.OpGetChildren2, node, false)
		c.ask(jute.OpGetACL, node)
		c.ask(jute.OpGetAllChildrenNumber, node)
		c.ask(jute.OpSync, node)
		c.multi(jute.OpMultiRead, opRead(jute.OpGetData, node), opRead(jute.OpGetChildren, node))
		c.multi(jute.OpMulti, opCheck(node, -1))
		c.set(node, []byte("x"), -1)
		c.set(node, []byte("x"), 77)
		c.create(node+"/new", "", 0)
		c.create(node+"/kid", "", 0)
		c.delete(node+"/kid", 77)
		c.delete(node+"/nope", -1)
		c.delete(node+"/kid", -1)
		c.multi(jute.OpMulti, opCreate(node+"/m", 0), opDelete(node+"/m", -1), opSet(node, "m", -1))
		c.setACL(node, open, 77)
		c.settle()
	}
	owner.create(dir+"/acl/none", "", 0)
	owner.setACL(dir+"/acl/none", []znode.ACL{acl(31, "auth", "")}, -1)
	other.read(jute.OpGetData, dir+"/acl/none", false)
	other.auth("digest", "o:wrong")
	other.read(jute.OpGetData, dir+"/acl/none", false)
	other.auth("digest", "o:o")
	other.read(jute.OpGetData, dir+"/acl/none", false)
	other.ask(jute.OpGetACL, dir+"/acl/none")
	// So that the janitor can clean up.
	for _, perms := range []int32{0, 1, 2, 4, 8, 16, 31} {
		owner.setACL(fmt.Sprintf("%s/acl/%d", dir, perms), open, -1)
	}
}

// aclEvents: a watch on a node that may not be read is used up without an
// event.
func aclEvents(w *world) {
	owner, other := w.session("owner"), w.session("other")
	owner.auth("digest", ownerSecret)
	private := []znode.ACL{acl(31, "auth", "")}
	owner.create(dir+"/p", "", 0)
	watch := func() {
		other.read(jute.OpExists, dir+"/p", true)
		other.read(jute.OpExists, dir+"/new", true)
		other.read(jute.OpGetChildren, dir+"/p", true)
		other.watchOp(jute.OpAddWatch, dir+"/p", jute.WatchPersistent)
		other.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	}
	watch()
	owner.setACL(dir+"/p", private, -1)
	owner.set(dir+"/p", []byte("1"), -1)
	other.settle()
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/new", ACL: private})
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/p/open", ACL: open})
	other.settle()
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/p/closed", ACL: private})
	owner.delete(dir+"/p/closed", -1)
	owner.delete(dir+"/p/open", -1)
	other.settle()
	owner.delete(dir+"/new", -1)
	owner.delete(dir+"/p", -1)
	other.settle()
	other.auth("digest", "o:o")
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/p", ACL: private})
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/p/closed", ACL: private})
	other.settle()
}

// superSecret is the superuser's password on both servers.
const superSecret = "super:secret"

// superuser: no ACL applies to this client. What it creates with scheme auth belongs to its digest.
func superuser(w *world) {
	owner, boss := w.session("owner"), w.session("boss")
	owner.auth("digest", ownerSecret)
	locked := []znode.ACL{acl(31, "auth", "")}
	owner.createWith(jute.OpCreate, jute.Request{Path: dir + "/p", Data: []byte("x"), ACL: locked})
	boss.auth("digest", "super:wrong")
	boss.read(jute.OpGetData, dir+"/p", false)
	boss.auth("digest", superSecret)
	boss.do("whoAmI", jute.OpWhoAmI, nil)
	boss.read(jute.OpGetData, dir+"/p", true)
	boss.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	boss.ask(jute.OpGetACL, dir+"/p")
	owner.set(dir+"/p", []byte("y"), -1)
	boss.settle()
	boss.set(dir+"/p", []byte("z"), -1)
	boss.createWith(jute.OpCreate2, jute.Request{Path: dir + "/p/kid", ACL: []znode.ACL{acl(1, "auth", "")}})
	boss.createWith(jute.OpCreate, jute.Request{Path: dir + "/p/super", ACL: []znode.ACL{acl(31, "super", "")}})
	boss.setACL(dir+"/p/kid", []znode.ACL{acl(0, "world", "anyone")}, -1)
	boss.read(jute.OpGetData, dir+"/p/kid", false)
	boss.multi(jute.OpMulti, opCheck(dir+"/p/kid", 0), opSet(dir+"/p/kid", "m", 0), opDelete(dir+"/p/kid", 1))
	boss.delete(dir+"/p", -1)
	boss.delete("/zookeeper", -1)
	boss.set("/zookeeper/config", nil, -7)
	boss.settle()
}
