package ztree

import (
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func nextVersion(have, want int32) (int32, error) {
	if want != -1 && want != have {
		return 0, jute.BadVersion
	}
	return have + 1, nil
}

func (db *Database) allowed(who Caller, path string, perm int32) (*znode.Node, error) {
	if err := validatePath(path); err != nil {
		return nil, err
	}
	return db.permitted(who, path, perm)
}

func (db *Database) setData(tx Tx, who Caller, r *jute.Request) (*znode.Node, error) {
	n, err := db.allowed(who, r.Path, znode.PermWrite)
	if err != nil {
		return nil, err
	}
	version, err := nextVersion(n.Stat.Version, r.Version)
	if err != nil {
		return nil, err
	}
	data, stat := n.Data, n.Stat
	n.Data, n.Stat.DataLength, n.Stat.Version, n.Stat.Mzxid, n.Stat.Mtime = r.Data, int32(len(r.Data)), version, tx.Zxid, tx.Time
	db.onUndo(func() { n.Data, n.Stat = data, stat })
	db.events = append(db.events, event{jute.EventDataChanged, n})
	return n, nil
}

func (db *Database) setACL(who Caller, r *jute.Request) (*znode.Node, error) {
	if err := validatePath(r.Path); err != nil {
		return nil, err
	}
	acls, err := fixACL(r.ACL, who.IDs)
	if err != nil {
		return nil, err
	}
	n, err := db.permitted(who, r.Path, znode.PermAdmin)
	if err != nil {
		return nil, err
	}
	aversion, err := nextVersion(n.Stat.Aversion, r.Version)
	if err != nil {
		return nil, err
	}
	n.Stat.Aversion = aversion
	n.ACL = db.share(acls)
	return n, nil
}

func (db *Database) check(who Caller, r *jute.Request) error {
	n, err := db.allowed(who, r.Path, znode.PermRead)
	if err == nil {
		_, err = nextVersion(n.Stat.Version, r.Version)
	}
	return err
}
