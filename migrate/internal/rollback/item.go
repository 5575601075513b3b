package rollback

import (
	"cmp"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
)

// Action is what becomes of a job or request.
type Action string

// The actions, and why.
const (
	Remove          Action = "remove"    // it is as the run left it
	ActedOn         Action = "acted-on"  // it is not as the run left it: acted on, locked or damaged; it is kept
	OnlyCopy        Action = "only-copy" // its record is not in the source any more; it is kept
	RemovedByOthers Action = "removed"   // it was removed: finished and cleaned up, or deleted
)

// Item is a job or request of the run, and what becomes of it.
type Item struct {
	Record string      `json:"record"`
	Hash   ledger.Hash `json:"hash"` // of the record, as it was migrated
	Job    string      `json:"job"`
	Action Action      `json:"verdict"`
	Why    string      `json:"why"` // of what is removed: why only Force does that
}

// IsRemoved reports whether other clients removed the job.
func (i Item) IsRemoved() bool { return i.Action == RemovedByOthers }

// look is a job or request as it was read.
type look struct {
	entry   *ledger.Migrated
	nodes   []znode.Node // its own znode first; none if it is not there
	entries []znode.Node // its entries that are there
	missing string       // an entry that is not there
}

// item decides about a job or request.
func (r *Rollback) item(l look) Item {
	i := Item{Record: l.entry.Record, Hash: l.entry.Hash, Job: l.entry.Job, Action: Remove}
	why := ""
	switch {
	case len(l.nodes) == 0:
		i.Action, why = RemovedByOthers, "it was removed: finished and cleaned up, or deleted"
	case r.isOnlyCopy(l.entry) && r.t.Released(r.run, rules.KindOf(l.entry.Job).Hold()):
		i.Action, why = OnlyCopy, "its record is not in the source any more"
	case l.locked() != "":
		i.Action, why = ActedOn, l.locked()
	default:
		if why = l.actedOn(r.run.Restored || r.run.WasRestored()); why != "" && !r.opt.Force {
			i.Action = ActedOn
		}
	}
	i.Why = why
	return i
}

// isOnlyCopy reports whether the record of a job is not in the source any more. Without a
// source, it is known of those that mrtq retire has removed.
func (r *Rollback) isOnlyCopy(e *ledger.Migrated) bool {
	if r.opt.Source == nil {
		return e.Retired
	}
	return !r.opt.Source.Has(e.Record)
}

// locked says which znode of a job a session has; "" if none has. A worker is working on it, so
// it is never removed.
func (l look) locked() string {
	for _, n := range l.nodes {
		if n.Stat.EphemeralOwner != 0 {
			return "a session has " + znode.Name(n.Path)
		}
	}
	return ""
}

// actedOn says what shows that another client has changed a job; "" if it is as the run
// left it: every znode has version 0, it has as many children as were created in it, and
// all its znodes come from one transaction. A restored target does not show that.
func (l look) actedOn(restored bool) string {
	root, all := l.nodes[0], slices.Concat(l.nodes, l.entries)
	// That its status was written says more than that something was created below it.
	slices.SortStableFunc(all, func(a, b znode.Node) int { return cmp.Compare(b.Stat.Version, a.Stat.Version) })
	for _, n := range all {
		switch name := n.Path[strings.LastIndexByte(n.Path, '/')+1:]; {
		case n.Unreadable != "":
			return name + " can't be read: " + n.Unreadable
		case n.Stat.EphemeralOwner != 0:
			return "a session has " + name
		case n.Stat.Version != 0:
			return name + " was written"
		case n.Stat.Aversion != 0:
			return name + " has another ACL"
		case n.Stat.Cversion != n.Stat.NumChildren:
			return "a znode below " + name + " was created or deleted"
		case n.Stat.Czxid != root.Stat.Czxid && !restored:
			return name + " was created in another transaction"
		}
	}
	if l.missing != "" {
		return l.missing + " is not there"
	}
	return ""
}
