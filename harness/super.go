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

// auth is the super user's login on servers of our own, nil elsewhere.
func (s *Server) auth() *login {
	if s.backend.IsAddress() {
		return nil
	}
	return &login{scheme: "digest", secret: superUser + ":" + s.secret}
}
