package side

import "mrtq/internal/zkconn"

// Session is a session with a server as a side. A znode that vanishes while it is read
// counts as missing. If the session may not read a znode, that is an error, unless the
// session marks such znodes ([zkconn.Reader.MarkUnreadable]). acl says which znodes' ACLs
// are read. Each costs one more request. nil means none.
func Session(r *zkconn.Reader, acl func(path string) bool) Side { return r.WithACLs(acl) }

// Server returns the session that a side reads, or nil if it reads none.
func Server(s Side) *zkconn.Reader {
	r, _ := s.(*zkconn.Reader)
	return r
}

// AllACLs reads the ACL of every znode.
func AllACLs(string) bool { return true }
