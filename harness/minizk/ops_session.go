package minizk

import (
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/ztree"
)

func (s *Server) ping(*request) error { return nil }

func (s *Server) closeSession(r *request) error {
	s.endSession(r.c.session, "closed")
	r.last = true
	return nil
}

// auth adds an identity to the connection, not to the session, so clients send it again when they
// reconnect. It accepts any digest, because there is nothing to check it against. It ends the
// connection if the digest is null, or if the scheme is unknown.
func (s *Server) auth(r *request) error {
	switch r.Scheme {
	case "digest":
		if r.Data == nil {
			r.last = true
			return jute.AuthFailed
		}
		id := ztree.DigestID(r.Data)
		if id.Name == s.opt.SuperDigest {
			r.c.addIdentity(ztree.Super)
		}
		r.c.addIdentity(id)
	case "ip":
		// The connection has it already.
	default:
		r.last = true
		return jute.AuthFailed
	}
	return nil
}

// addIdentity adds an identity. Lists that were returned before do not change.
func (c *conn) addIdentity(id jute.ID) {
	if !slices.Contains(c.ids, id) {
		c.ids = append(slices.Clip(c.ids), id)
	}
}

// sasl answers without a token, as a server without a login module does. Then the client gives up.
func (s *Server) sasl(r *request) error {
	r.body = jute.AppendBuffer(r.body, nil)
	return nil
}

// whoAmI lists the scheme and the user of each of the connection's identities. It leaves out a
// digest's hash.
func (s *Server) whoAmI(r *request) error {
	r.body = jute.AppendInt(r.body, int32(len(r.c.ids)))
	for _, id := range r.c.ids {
		user := id.Name
		if id.Scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		r.body = jute.AppendString(jute.AppendString(r.body, id.Scheme), user)
	}
	return nil
}
