package services

import (
	"fmt"
	"slices"

	"mrtq/internal/layout"
)

// demandsPage has the table of all demands.
const demandsPage = "docs/deployed-services.md"

// ownRule is the id that a demand has as a rule of the map. It is "" if the map
// already has rules for it.
func ownRule(d *Demand) string {
	if d.Rules != nil {
		return ""
	}
	id := d.ID
	if d.Node != "" {
		id += "/" + d.Node
	}
	if d.Key != "" {
		id += "." + d.Key
	}
	return id
}

// AddRules adds to the map of the layout the demands for which it has no rule.
func AddRules(m *layout.Map) error {
	for i := range Demands {
		d := &Demands[i]
		id := ownRule(d)
		if id == "" || m.Rule(id) != nil {
			continue
		}
		rule := &layout.Rule{ID: id, Severity: severityOf(d.Stops...), Path: patternOf[d.Of] + d.Node, Says: d.String(), Document: demandsPage + ", " + d.ID}
		if d.ID == "R02" {
			rule.Mend = "Wait until the worker is done. If no worker is, end its session or delete the lock."
		}
		if err := m.AddRule(rule); err != nil {
			return err
		}
	}
	return nil
}

// severityOf is an error if one of the effects blocks a migration.
func severityOf(stops ...Stop) layout.Severity {
	if slices.ContainsFunc(stops, func(s Stop) bool { return s.Effect.Blocking() }) {
		return layout.Error
	}
	return layout.Warning
}

var patternOf = map[Scope]string{
	OfTree: "/", OfBatch: "/batches/{bid}/", OfOpenBatch: "/batches/{bid}/", OfJob: "/jobs/{jid}/", OfDoneJob: "/jobs/{jid}/", OfOpenJob: "/jobs/{jid}/",
	OfFailedJob: "/jobs/{jid}/", OfStoringJob: "/jobs/{jid}/", OfRecordingJob: "/jobs/{jid}/", OfAccess: "/access/{queue}/{qid}/", OfWaitingAccess: "/access/{queue}/{qid}/",
}

// Rules returns the code that checks the demands of [AddRules], one znode after the
// other. It passes each violation to report. In memory it keeps the batchID of every
// batch and the paths of the jobs without a profile.
func Rules(report func(layout.Found)) layout.Native {
	c := newChecker(func(it *item, v Violation) {
		if v.Demand.Rules != nil || it != nil && it.statedByMap(v.Demand) {
			return
		}
		report(layout.Found{Rule: ownRule(v.Demand), Path: v.Path, Expected: v.Demand.wanted(), Found: v.What + ": " + v.Then(), Severity: severityOf(v.Stop)})
	})
	c.held = func(v layout.Visit) { report(heldLock(v)) }
	return c
}

// statedByMap reports whether the map has a rule for a violation of the item, too: the
// znode must exist and be JSON.
func (it *item) statedByMap(d *Demand) bool {
	n := it.node(d.Node)
	switch {
	case d.Key != "":
		return false
	case n == nil:
		return slices.Contains([]string{"submission", "status", "configuration", "token"}, d.Node)
	}
	return n.bad != "" && (!n.empty || d.Node == "status")
}

// wanted is the demand in words, without the item.
func (d *Demand) wanted() string {
	if d.Key != "" {
		return d.Key + " that is " + d.Type.Words
	}
	return d.Says
}

// heldLock is the finding for a lock. An ephemeral one is only information, because a
// worker holds it while it works.
func heldLock(v layout.Visit) layout.Found {
	f := layout.Found{Rule: "R02/lock", Severity: layout.Warning, Path: v.Znode.Path, Expected: "no lock when no service is at work", Found: "a lock that outlives its session"}
	if _, object := objectLocks[v.Node.ID]; object {
		f.Rule = "R02"
	}
	if owner := v.Znode.Stat.EphemeralOwner; owner != 0 {
		f.Severity, f.Found = layout.Info, fmt.Sprintf("a lock of session %#x", owner)
	}
	return f
}
