package offline

import (
	"math"

	"mrtq/internal/znode"
)

// createsOf is how many children a znode has ever had. A server counts them, and a
// Stat only implies the number: see [znode.Stat.NextSequence].
func createsOf(s znode.Stat) int32 {
	creates, _ := s.NextSequence()
	return creates
}

// setCreates sets a Stat's Cversion. Together with the number of children, it says how
// many creates there were (DataNode.copyStat).
func setCreates(s *znode.Stat, creates int32) {
	s.Cversion = int32(2*uint32(creates) - uint32(s.NumChildren))
}

// addChild changes the parent's Stat for a create. At the largest number, the server's
// counter and Pzxid no longer change.
func addChild(s *znode.Stat, zxid int64) {
	creates := createsOf(*s)
	if creates < math.MaxInt32 {
		creates++
		s.Pzxid = zxid
	}
	s.NumChildren++
	setCreates(s, creates)
}

// removeChild changes the parent's Stat for a delete.
func removeChild(s *znode.Stat, zxid int64) {
	creates := createsOf(*s)
	s.Pzxid = zxid
	s.NumChildren--
	setCreates(s, creates)
}

// The values of a Stat's EphemeralOwner that are not sessions (EphemeralType): they
// mark containers, and znodes with a time to live.
const (
	ownerContainer int64 = math.MinInt64
	ownerTTL       int64 = -0x0100000000000000 // 0xff in the first byte
	ttlTypeBits    int64 = 0x00ffff0000000000
)

// ephemeral reports whether a session owns the znode.
func ephemeral(owner int64) bool {
	return owner != 0 && owner != ownerContainer && !(owner&ownerTTL == ownerTTL && owner&ttlTypeBits == 0)
}
