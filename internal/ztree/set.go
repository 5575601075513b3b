package ztree

import (
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// nextVersion returns the version after have, or BadVersion if want is neither have nor -1.
func nextVersion(have, want int32) (int32, error) {
	if want != -1 && want != have {
		return 0, jute.BadVersion
	}
	return have + 1, nil
}

// allowed finds the node of a request that changes it, if the caller has the permission for that.
func (t *Tree) allowed(who Caller, path string, perm int32) (*node, error) {
	if err := validatePath(path); err != nil {
		return nil, err
	}
	return t.permitted(who, path, perm)
}

func (t *Tree) setData(tx Tx, who Caller, r *jute.Request) (*node, error) {
	n, err := t.allowed(who, r.Path, znode.PermWrite)
	if err != nil {
		return nil, err
	}
	version, err := nextVersion(n.version, r.Version)
	if err != nil {
		return nil, err
	}
	data, oldVersion, mzxid, mtime := n.data, n.version, n.mzxid, n.mtime
	t.bytes += int64(len(r.Data) - len(data))
	n.data, n.version, n.mzxid, n.mtime = r.Data, version, tx.Zxid, tx.Time
	t.onUndo(func() {
		t.bytes -= int64(len(r.Data) - len(data))
		n.data, n.version, n.mzxid, n.mtime = data, oldVersion, mzxid, mtime
	})
	t.events = append(t.events, event{kind: jute.EventDataChanged, path: r.Path, acl: n.acl})
	return n, nil
}

func (t *Tree) setACL(who Caller, r *jute.Request) (*node, error) {
	if err := validatePath(r.Path); err != nil {
		return nil, err
	}
	acls, err := fixACL(r.ACL, who.IDs)
	if err != nil {
		return nil, err
	}
	n, err := t.allowed(who, r.Path, znode.PermAdmin)
	if err != nil {
		return nil, err
	}
	aversion, err := nextVersion(n.aversion, r.Version)
	if err != nil {
		return nil, err
	}
	n.aversion = aversion
	n.acl = t.share(acls, n.acl)
	return n, nil
}

func (t *Tree) check(who Caller, r *jute.Request) error {
	n, err := t.allowed(who, r.Path, znode.PermRead)
	if err == nil {
		_, err = nextVersion(n.version, r.Version)
	}
	return err
}
