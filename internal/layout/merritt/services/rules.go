package services

import "mrtq/internal/layout"

// demandsPage has the table of all demands.
const demandsPage = "docs/deployed-services.md"

// AddTo adds the demands to the map of the layout, with the code that checks them.
func AddTo(m *layout.Map) error {
	var rules []*layout.Rule
	added := map[string]bool{}
	for i := range Demands {
		d := &Demands[i]
		if added[d.rule()] {
			continue
		}
		added[d.rule()] = true
		rule := &layout.Rule{ID: d.rule(), Severity: severityOf(d.Then), Path: patternOf[d.Of] + d.Node, Says: d.String(), Document: demandsPage + ", " + d.ID}
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

// severityOf is an error if the effect blocks a migration.
func severityOf(e Effect) layout.Severity {
	if e.Blocking() {
		return layout.Error
	}
	return layout.Warning
}

var patternOf = map[Scope]string{
	OfTree: "/", OfBatch: "/batches/{bid}/", OfOpenBatch: "/batches/{bid}/", OfJob: "/jobs/{jid}/", OfDoneJob: "/jobs/{jid}/", OfOpenJob: "/jobs/{jid}/",
	OfFailedJob: "/jobs/{jid}/", OfStoringJob: "/jobs/{jid}/", OfRecordingJob: "/jobs/{jid}/", OfAccess: "/access/{queue}/{qid}/", OfWaitingAccess: "/access/{queue}/{qid}/",
}
