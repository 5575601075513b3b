package services

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// CheckPart is [Check] for a tree with only a part of a queue: some batches, jobs
// or requests, and all entries of these jobs. entries returns how many entries a
// folder of a batch has in the whole queue. CheckPart also returns violations that
// exist only because the rest of the queue is missing: of demands on the tree, and on
// items of other parts. The caller has to ignore these. CheckPart assumes that at
// least one job has a profile: see [Demand.OnlyWithProfiles].
func CheckPart(tree *znode.Tree, entries func(bid string, f newqueue.BatchFolder) int) []Violation {
	return check(tree, entries)
}

// OnlyWithProfiles reports whether the demand counts only if at least one job of
// the queue has a profile.
func (d *Demand) OnlyWithProfiles() bool { return d.ID == "R30" }

// HasProfile reports whether at least one job of a tree has a profile.
func HasProfile(tree *znode.Tree) bool {
	for _, jid := range tree.Children(newqueue.JobsPath) {
		n := tree.Get(newqueue.JobPath(jid) + "/configuration")
		if n == nil {
			continue
		}
		if o, err := newqueue.ParseObject(n.Data); err == nil && isText(o["profile"]) {
			return true
		}
	}
	return false
}
