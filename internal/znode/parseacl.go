package znode

import (
	"fmt"
	"slices"
	"strings"
)

// ParseACL parses scheme:id:perms[,…]. An id may have colons, as those of digest do. A list
// that is open to all is nil. An error shows no digest.
func ParseACL(s string) ([]ACL, error) {
	bits := map[rune]int32{'r': 1, 'w': 2, 'c': 4, 'd': 8, 'a': 16}
	var acl []ACL
	for _, item := range strings.Split(s, ",") {
		scheme, rest, ok := strings.Cut(item, ":")
		said := item // in an error, without the digest
		if user, _, more := strings.Cut(rest, ":"); scheme == "digest" && more {
			said = "digest:" + user + ":…"
		}
		i := strings.LastIndexByte(rest, ':')
		if !ok || i < 0 {
			return nil, fmt.Errorf("%q: expected scheme:id:perms, such as world:anyone:cdrwa", said)
		}
		entry := ACL{Scheme: scheme, ID: rest[:i]}
		if scheme == "" || entry.ID == "" && scheme != "auth" || rest[i+1:] == "" {
			return nil, fmt.Errorf("%q: expected scheme:id:perms, none of them empty", said)
		}
		for _, c := range rest[i+1:] {
			if bits[c] == 0 {
				return nil, fmt.Errorf("%q: permission %q: expected r, w, c, d or a", said, c)
			}
			entry.Perms |= bits[c]
		}
		acl = append(acl, entry)
	}
	if IsOpenACL(acl) {
		return nil, nil
	}
	return acl, nil
}

// CheckFileACL refuses schemes that only a server understands: auth means the session's
// credentials, and others depend on the server's configuration.
func CheckFileACL(acl []ACL) error {
	for _, a := range acl {
		if !slices.Contains([]string{"world", "digest", "ip"}, a.Scheme) {
			return fmt.Errorf("scheme %q: a file's znodes can have world, digest and ip", a.Scheme)
		}
	}
	return nil
}
