package services

import (
	"slices"

	"mrtq/internal/layout"
)

// demandsPage has the table of all demands.
const demandsPage = "docs/deployed-services.md"

// ownRule is the id that a demand has as a rule of the map. It is "" if the map's own
// rules state all of it.
func ownRule(d *Demand) string {
	if d.stated() {
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

// AddTo adds the demands to the map of the layout, with the code that checks them. The map's
// own rules state some of them already.
func AddTo(m *layout.Map) error {
	var rules []*layout.Rule
	added := map[string]bool{}
	for i := range Demands {
		d := &Demands[i]
		id := ownRule(d)
		if id == "" || added[id] {
			continue
		}
		added[id] = true
		rule := &layout.Rule{ID: id, Severity: severityOf(d.Stops...), Path: patternOf[d.Of] + d.Node, Says: d.String(), Document: demandsPage + ", " + d.ID}
		switch d.ID {
		case "R01":
			rule.Repair = "Create it, without data."
		case "R02":
			rule.Repair = "Wait until the worker is done. If no worker is, end its session or delete the lock."
		default:
			rule.Repair = "Repair it before a service works on it, or delete what it belongs to."
		}
		rules = append(rules, rule)
	}
	return m.AddGoRules(newChecker, rules...)
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

// wanted is the demand in words, without the item.
func (d *Demand) wanted() string {
	if d.Key != "" {
		return d.Key + " that is " + d.Type.Words
	}
	return d.Says
}
