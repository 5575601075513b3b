package migrate

import (
	"hash/maphash"
	"sync/atomic"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// aclSample is how many ACLs a sample has. That is enough to notice that a whole
// queue or folder was given another ACL.
const aclSample = 200

// ACLSample chooses the znodes of a target whose ACLs are read, so that [Verify] can
// compare them. Each ACL costs a request. A sample always has the runs' records, the
// election and the holds. Of the rest it has a part that is spread evenly, or all. It
// is safe for concurrent use.
type ACLSample struct {
	all   bool
	seed  maphash.Seed
	every atomic.Uint64 // one znode in this many is read; 0 reads all
}

// NewACLSample returns a sample of some znodes, or of all.
func NewACLSample(all bool) *ACLSample { return &ACLSample{all: all, seed: maphash.MakeSeed()} }

// Wants reports whether the sample has a znode.
func (s *ACLSample) Wants(path string) bool {
	parent := znode.Parent(path)
	if s.all || parent == RunsPath || parent == newqueue.QueueLocksPath || path == ElectionPath {
		return true
	}
	every := s.every.Load()
	return every == 0 || maphash.String(s.seed, path)%every == 0
}

// nodesEachJob is about how many znodes a job has.
const nodesEachJob = 11

// spread fits the sample to the number of the target's jobs.
func (s *ACLSample) spread(jobs int) {
	if s != nil {
		s.every.Store(uint64(max(jobs*nodesEachJob/aclSample, 1)))
	}
}
