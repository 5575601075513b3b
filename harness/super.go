package harness

import (
	"mrtq/internal/zkconn"
	"mrtq/internal/ztree"
)

// superUser is the account to which ACLs don't apply. Clean needs it because a
// test may have created a znode that no other account may delete.
const superUser = "super"

func (s *Server) superDigest() string {
	return ztree.DigestID([]byte(superUser + ":" + s.secret)).Name
}

// super returns a client whose sessions no ACL applies to. It works only on
// servers that the harness started.
func (s *Server) super() Client {
	return Client{Credentials: []zkconn.Auth{zkconn.DigestAuth(superUser, s.secret)}}
}
