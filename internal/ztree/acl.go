package ztree

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Lists never change, so nodes can share one.
var (
	openUnsafe = znode.OpenACL()
	readUnsafe = []znode.ACL{{Perms: znode.PermRead, Scheme: "world", ID: "anyone"}}
)

func isAnyone(a znode.ACL) bool { return a.Scheme == "world" && a.ID == "anyone" }

// mostLists is how many different lists a database remembers to share them.
const mostLists = 4096

// share returns a list equal to acls, the same one for all nodes that have it if possible, to save
// memory.
func (db *Database) share(acls []znode.ACL) []znode.ACL {
	if znode.IsOpenACL(acls) {
		return openUnsafe
	}
	key := string(jute.AppendACLs(nil, acls))
	if known := db.lists[key]; known != nil {
		return known
	}
	if len(db.lists) >= mostLists {
		clear(db.lists)
	}
	db.lists[key] = acls
	return acls
}

type provider struct {
	// authenticated says whether an entry with scheme "auth" also means identities of this scheme.
	authenticated bool
	valid         func(name string) bool
	matches       func(id, acl string) bool
}

var providers = map[string]provider{
	"digest": {authenticated: true, valid: validDigest, matches: func(id, acl string) bool { return id == acl }},
	"ip":     {valid: func(name string) bool { _, ok := parseNet(name); return ok }, matches: matchIP},
}

// DigestID returns the identity of a client that sends secret, which is "user:password". The
// identity has the scheme "digest", the user and the SHA-1 of the secret. Without a colon
// everything is the user: the server accepts that.
func DigestID(secret []byte) jute.ID {
	user, _, _ := strings.Cut(string(secret), ":")
	sum := sha1.Sum(secret)
	return jute.ID{Scheme: "digest", Name: user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// validDigest reports whether name is user:hash. Empty parts at the end do not count, as in Java's
// split.
func validDigest(name string) bool {
	return len(strings.Split(strings.TrimRight(name, ":"), ":")) == 2
}

// parseNet reads an IPv4 address, or a network such as 10.0.0.0/8.
func parseNet(s string) (netip.Prefix, bool) {
	if !strings.Contains(s, "/") {
		s += "/32"
	}
	n, err := netip.ParsePrefix(s)
	return n, err == nil && n.Addr().Is4()
}

func matchIP(id, acl string) bool {
	have, ok1 := parseNet(id)
	want, ok2 := parseNet(acl)
	return ok1 && ok2 && want.Contains(have.Addr())
}

// Super is the identity to which no ACL applies. No client can claim it: only the server gives it.
var Super = jute.ID{Scheme: "super"}

func allow(n *znode.Node, perms int32, ids []jute.ID) error {
	if n.Unreadable != "" && perms&znode.PermRead != 0 {
		return jute.NoAuth
	}
	if slices.Contains(ids, Super) {
		return nil
	}
	for _, a := range n.ACL {
		if a.Perms&perms == 0 {
			continue
		}
		if isAnyone(a) {
			return nil
		}
		p, ok := providers[a.Scheme]
		if !ok {
			continue
		}
		for _, id := range ids {
			if id.Scheme == a.Scheme && p.matches(id.Name, a.ID) {
				return nil
			}
		}
	}
	return jute.NoAuth
}

// fixACL checks the list of a create or setACL, removes duplicates, and replaces an entry with scheme
// "auth" by the caller's own identities. The error is InvalidACL.
func fixACL(acls []znode.ACL, ids []jute.ID) ([]znode.ACL, error) {
	var out []znode.ACL
	seen := map[znode.ACL]bool{} // a packet has room for 80,000 entries, so don't compare each with each
	for _, a := range acls {
		p, known := providers[a.Scheme]
		before := len(out)
		switch {
		case seen[a]:
			continue
		case isAnyone(a), known && p.valid(a.ID):
			out = append(out, a)
		case a.Scheme == "auth":
			for _, id := range ids {
				if providers[id.Scheme].authenticated {
					out = append(out, znode.ACL{Perms: a.Perms, Scheme: id.Scheme, ID: id.Name})
				}
			}
		}
		if len(out) == before {
			return nil, jute.InvalidACL
		}
		seen[a] = true
	}
	if len(out) == 0 {
		return nil, jute.InvalidACL
	}
	return out, nil
}

// redact hides the hashes of digest identities from those who may not change the list.
func redact(acls []znode.ACL) []znode.ACL {
	out := slices.Clone(acls)
	for i, a := range out {
		if user, _, ok := strings.Cut(a.ID, ":"); ok && a.Scheme == "digest" {
			out[i].ID = user + ":x"
		}
	}
	return out
}
