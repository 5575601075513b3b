package migrate

import (
	"fmt"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A migration sets its holds in the transaction that begins or resumes the run, with
// empty data. A hold with a note belongs to the person who set it, even if they set it
// during a run.

// newHold says who set a hold.
func newHold(n *znode.Node, runs []Run) Hold {
	hold := Hold{Path: n.Path, node: n}
	if n.Stat.Ctime != 0 {
		hold.Since = time.UnixMilli(n.Stat.Ctime).UTC()
	}
	if note, ok := ParseHoldNote(n.Data); ok {
		hold.By, hold.Since, hold.Why = note.By, note.At, note.Why
		return hold
	}
	for _, r := range runs {
		if r.hasSet(n) {
			hold.By, hold.CoversRun = r.ID, true
		}
	}
	return hold
}

// hasSet reports whether the run set a hold. In a copy the transactions show nothing. There,
// an empty hold that the run's record names counts as the run's.
func (r Run) hasSet(n *znode.Node) bool {
	if !slices.Contains(r.Holds, n.Path) || !znode.SameData(n.Data, none) || n.Stat.EphemeralOwner != 0 {
		return false
	}
	at := n.Stat.Czxid
	switch {
	case r.Copied, r.stat.Czxid == 0, r.Steps != r.stat.Version:
		return true
	case r.From != 0:
		return r.From <= at && at <= r.To
	case slices.Contains(r.HeldAgain, n.Path):
		return r.stat.Czxid <= at && at <= r.stat.Mzxid
	}
	return at == r.stat.Czxid
}

// isHold reports whether a path is the path of a hold on a queue or a collection.
func isHold(path string) bool {
	folder := znode.Parent(path)
	return folder == newqueue.QueueLocksPath || folder == newqueue.CollectionLocksPath
}

// whyStays says why a rollback leaves a hold that the run didn't set.
func (h Hold) whyStays() string {
	switch {
	case h.By == "":
		return "another client set this hold; it stays"
	case h.Why != "":
		return fmt.Sprintf("%s set this hold on %s (%s); it stays", h.By, h.Since.Format(time.RFC3339), h.Why)
	}
	return fmt.Sprintf("%s set this hold on %s; it stays", h.By, h.Since.Format(time.RFC3339))
}
