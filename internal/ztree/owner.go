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
//	anything else         the session of an ephemeral node
//
// A session's id begins with its server's number, and a server whose configuration allows TTLs has a
// number below 0xff.
const (
	ownerContainer int64 = math.MinInt64
	ttlMark        int64 = -0x0100000000000000 // 0xff in the first byte
	maxTTL         int64 = 0xffffffffff
)

type ownerKind int

const (
	kindPersistent ownerKind = iota
	kindEphemeral
	kindContainer
	kindTTL
)

func kindOf(owner int64) ownerKind {
	switch {
	case owner == 0:
		return kindPersistent
	case owner == ownerContainer:
		return kindContainer
	case owner&^maxTTL == ttlMark:
		return kindTTL
	}
	return kindEphemeral
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
