package offline

import (
	"math"

	"mrtq/internal/znode"
)

// createsOf is how many children a znode has ever had, which a server counts and a
// Stat only implies; see [znode.Stat.NextSequence].
func createsOf(s znode.Stat) int32 {
	creates, _ := s.NextSequence()
	return creates
}

// setCreates gives a Stat the Cversion that shows so many creates beside its
// number of children, as DataNode.copyStat has it.
func setCreates(s *znode.Stat, creates int32) {
	s.Cversion = int32(2*uint32(creates) - uint32(s.NumChildren))
}

// addChild is what a create makes of the parent's Stat. At the largest number the
// server's counter stays, and with it Pzxid.
func addChild(s *znode.Stat, zxid int64) {
	creates := createsOf(*s)
	if creates < math.MaxInt32 {
		creates++
		s.Pzxid = zxid
	}
	s.NumChildren++
	setCreates(s, creates)
}

// removeChild is what a delete makes of it.
func removeChild(s *znode.Stat, zxid int64) {
	creates := createsOf(*s)
	s.Pzxid = zxid
	s.NumChildren--
	setCreates(s, creates)
}

// What the server keeps where the owning session of a znode stands, if none owns
// it (EphemeralType): containers, and znodes with a time to live.
const (
	ownerContainer int64 = math.MinInt64
	ownerTTL       int64 = -0x0100000000000000 // 0xff in the first byte
	ttlTypeBits    int64 = 0x00ffff0000000000
)

// ephemeral reports whether a session owns the znode.
func ephemeral(owner int64) bool {
	return owner != 0 && owner != ownerContainer && !(owner&ownerTTL == ownerTTL && owner&ttlTypeBits == 0)
}
