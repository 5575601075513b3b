package migrate

import (
	"hash/maphash"
	"sync/atomic"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// aclSample is how many ACLs are read unless all are: enough to notice that a
// whole queue or folder was given another.
const aclSample = 200

// ACLSample says of which znodes of a target the ACL is to be read, which costs a
// request each and which [Verify] then compares: the runs' records, the election
// and holds, and of the rest a sample that is spread evenly, or all. It is safe
// for concurrent use.
type ACLSample struct {
	all   bool
	seed  maphash.Seed
	every atomic.Uint64 // one of so many; 0 while little was read, and all are wanted
}

// NewACLSample is a sample, or all.
func NewACLSample(all bool) *ACLSample { return &ACLSample{all: all, seed: maphash.MakeSeed()} }

// Wants reports whether a znode's ACL is to be read.
func (s *ACLSample) Wants(path string) bool {
	parent := znode.Parent(path)
	if s.all || parent == RunsPath || parent == newqueue.QueueLocksPath || path == ElectionPath {
		return true
	}
	every := s.every.Load()
	return every == 0 || maphash.String(s.seed, path)%every == 0
}

// nodesEachJob is about how many znodes there are for each job.
const nodesEachJob = 11

// spread fits the sample to a target with so many jobs.
func (s *ACLSample) spread(jobs int) {
	if s != nil {
		s.every.Store(uint64(max(jobs*nodesEachJob/aclSample, 1)))
	}
}
