package ztree

import (
	"math"

	"mrtq/internal/jute"
)

// A node's owner field holds a session, 0, or a code for a node without a session
// (EphemeralType in the server):
//
//	0                     persistent
//	0x8000000000000000    container
//	0xff0000 + 40 bits    TTL in milliseconds
//	0x800000 + 40 bits    TTL in milliseconds, by 3.5.3 and with emulate353TTLNodes
//	anything else         the session of an ephemeral node
//
// A session's id begins with its server's number. So the sessions of servers 0xff and 0x80 look like
// TTLs for some hours after their machine has started.
const (
	ownerContainer int64 = math.MinInt64
	ttlMark        int64 = -0x0100000000000000 // 0xff in the first byte
	ttlTypeBits    int64 = 0x00ffff0000000000
	maxTTL         int64 = 0xffffffffff
)

// looksLikeTTL reports whether an owner is a TTL's code, or the id of a session that looks like one.
func looksLikeTTL(owner int64) bool {
	mark := uint64(owner) >> 56
	return (mark == 0xff || mark == 0x80) && owner&ttlTypeBits == 0
}

type ownerKind int

const (
	kindPersistent ownerKind = iota
	kindEphemeral
	kindContainer
	kindTTL
)

func (t *Tree) kindOf(owner int64) ownerKind {
	switch {
	case owner == 0:
		return kindPersistent
	case owner == ownerContainer:
		return kindContainer
	case looksLikeTTL(owner):
		if _, session := t.oddSessions[owner]; !session {
			return kindTTL
		}
	}
	return kindEphemeral
}

// OpenSession says that a session is open. The tree has to know it only if the session's id looks
// like a TTL, which no id of this process's servers does.
func (t *Tree) OpenSession(id int64) {
	if !looksLikeTTL(id) {
		return
	}
	t.oddSessions[id] = struct{}{}
	// A snapshot may have nodes of a session that was opened later.
	for path, n := range t.ttls {
		if n.owner == id {
			delete(t.ttls, path)
			t.own(path, n)
		}
	}
}

func ttlOf(owner int64) int64 { return owner & maxTTL }

// mode is the meaning of a create request's flags.
type mode struct{ ephemeral, sequential, container, ttl bool }

var modes = map[int32]mode{
	jute.ModePersistent:              {},
	jute.ModeEphemeral:               {ephemeral: true},
	jute.ModeSequential:              {sequential: true},
	jute.ModeEphemeralSequential:     {ephemeral: true, sequential: true},
	jute.ModeContainer:               {container: true},
	jute.ModePersistentTTL:           {ttl: true},
	jute.ModePersistentSequentialTTL: {ttl: true, sequential: true},
}

// ownerFor returns a new node's owner. The operation decides the kind of node, not the flags:
// create with the container flag creates a persistent node, and createContainer without the flag
// creates a container.
func ownerFor(op jute.OpCode, m mode, ttl, session int64) int64 {
	switch {
	case op == jute.OpCreateContainer:
		return ownerContainer
	case op == jute.OpCreateTTL:
		return ttlMark | ttl
	case m.ephemeral:
		return session
	}
	return 0
}
