package harness

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
)

// superUser is the account that ACLs don't bind. Clean needs it: a test may
// well have locked a znode against everybody.
const superUser = "super"

// newSecret returns the super user's password of one server.
func newSecret() string { return rand.Text() }

// superDigest is what the server is told: user:base64(sha1(user:password)), as
// ZooKeeper's digest scheme has it.
func (s *Server) superDigest() string {
	sum := sha1.Sum([]byte(superUser + ":" + s.secret))
	return superUser + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// super is how a server of our own is used by who must not be bound by ACLs.
func (s *Server) super() Client {
	return Client{Credentials: []Credential{Digest(superUser, s.secret)}}
}
