package harness

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
)

// superUser is the account to which ACLs don't apply. Clean needs it because a
// test may have denied everybody access to a znode.
const superUser = "super"

// newSecret returns the super user's password of one server.
func newSecret() string { return rand.Text() }

// superDigest is what the server is configured with:
// user:base64(sha1(user:password)), as in ZooKeeper's digest scheme.
func (s *Server) superDigest() string {
	sum := sha1.Sum([]byte(superUser + ":" + s.secret))
	return superUser + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// super is the configuration of a session that ACLs don't apply to. It works
// only on servers that the harness started.
func (s *Server) super() Client {
	return Client{Credentials: []Credential{Digest(superUser, s.secret)}}
}
