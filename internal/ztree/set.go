package ztree

import (
	"mrtq/internal/jute"
)

// nextVersion returns the version after have, or BadVersion if want is neither have nor -1.
func nextVersion(have, want int32) (int32, error) {
	if want != -1 && want != have {
		return 0, jute.BadVersion
	}
	return have + 1, nil
}

// SetData replaces a node's data, which the tree keeps, and returns its new Stat.
func (t *Tree) SetData(tx Tx, who Caller, r jute.SetDataRequest) (jute.Stat, error) {
	n, err := t.setData(tx, who, r)
	if err != nil {
		return jute.Stat{}, err
	}
	t.commit()
	return t.stat(n), nil
}

func (t *Tree) setData(tx Tx, who Caller, r jute.SetDataRequest) (*node, error) {
	if err := validatePath(r.Path); err != nil {
		return nil, err
	}
	n := t.lookup(r.Path)
	if n == nil {
		return nil, jute.NoNode
	}
	if err := n.acl.allow(jute.PermWrite, who.IDs); err != nil {
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

// SetACL replaces a node's access list, which the tree keeps, and returns its new Stat. It
// cannot be part of a multi.
func (t *Tree) SetACL(who Caller, r jute.SetACLRequest) (jute.Stat, error) {
	if err := validatePath(r.Path); err != nil {
		return jute.Stat{}, err
	}
	acls, err := fixACL(r.ACL, who.IDs)
	if err != nil {
		return jute.Stat{}, err
	}
	n := t.lookup(r.Path)
	if n == nil {
		return jute.Stat{}, jute.NoNode
	}
	if err := n.acl.allow(jute.PermAdmin, who.IDs); err != nil {
		return jute.Stat{}, err
	}
	aversion, err := nextVersion(n.aversion, r.Version)
	if err != nil {
		return jute.Stat{}, err
	}
	n.aversion = aversion
	n.acl = t.share(acls, n.acl)
	return t.stat(n), nil
}

// Check compares a node's version with the request's, as part of a multi or alone. If they differ,
// the error is BadVersion.
func (t *Tree) Check(who Caller, r jute.PathVersion) error {
	if err := validatePath(r.Path); err != nil {
		return err
	}
	n := t.lookup(r.Path)
	if n == nil {
		return jute.NoNode
	}
	if err := n.acl.allow(jute.PermRead, who.IDs); err != nil {
		return err
	}
	_, err := nextVersion(n.version, r.Version)
	return err
}
