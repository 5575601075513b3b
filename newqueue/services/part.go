package services

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// BatchRest counts the entries and jobs of one batch in the whole queue. A tree with
// only a part of the queue does not show them all.
type BatchRest struct {
	Entries func(newqueue.BatchFolder) int // how many entries a folder has
	Jobs    int                            // how many jobs have this batch as their bid
}

// CheckPart is [Check] for a tree with only a part of a queue: some batches, jobs
// or requests, and all entries of these jobs. rest returns what the tree does not
// show of a batch. CheckPart also returns violations that exist only because the
// rest of the queue is missing: of demands on the tree, and on items of other
// parts. The caller has to ignore these. CheckPart assumes that at least one job
// has a profile: see [Demand.OnlyWithProfiles].
func CheckPart(tree *znode.Tree, rest func(bid string) BatchRest) []Violation {
	c := newChecker(tree)
	c.rest = rest
	for _, it := range c.items {
		it.profiles = true
	}
	return c.check()
}

// OnlyWithProfiles reports whether the demand counts only if at least one job of
// the queue has a profile.
func (d *Demand) OnlyWithProfiles() bool { return d.ID == "R30" }

// HasProfile reports whether at least one job of a tree has a profile.
func HasProfile(tree *znode.Tree) bool {
	for _, jid := range tree.Children(newqueue.JobsPath) {
		o, err := newqueue.ParseObject(dataOf(tree, newqueue.JobPath(jid)+"/configuration"))
		if err != nil {
			continue
		}
		if v, _ := o.Value("profile"); isText(v) {
			return true
		}
	}
	return false
}

// entryCount is how many entries a folder of a batch has.
func (c *checker) entryCount(bid string, f newqueue.BatchFolder) int {
	if c.rest != nil {
		return c.rest(bid).Entries(f)
	}
	return len(c.tree.Children(newqueue.BatchFolderPath(bid, f)))
}

// jobs is how many jobs have a batch as their bid.
func (c *checker) jobs(bid string) int {
	if c.rest != nil {
		return c.rest(bid).Jobs
	}
	return c.children[bid]
}
