package migrate

import (
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// services holds a target in dialect mrt-zk to what the deployed services
// demand. What the records themselves lack was named by the plan and migrated
// by the operator's choice: it is told again, and is no difference. Anything
// else of what the migration made is one.
func (v *verifier) services() {
	if v.dialect != newqueue.MrtZK || len(v.ex.runs) == 0 {
		return
	}
	expected := map[string]bool{}
	for _, x := range services.Check(v.want) {
		expected[x.String()] = true
	}
	named := map[string]bool{}
	for _, d := range v.verdict.Differences {
		named[d.Path] = true
	}
	records, inventory := map[string]string{}, map[string]bool{}
	for _, j := range v.jobs {
		records[j.root()] = j.rec.Path
		if j.rec.Queue == Inventory && isUnfinished(j.land) {
			inventory[j.root()], inventory[newqueue.BatchPath(j.bid)] = true, true
		}
	}
	var found findings
	for _, x := range services.Check(v.ex.tree) {
		made := v.isOurs(x.Path) || v.isOurs(x.Item)
		switch {
		case named[x.Path]:
		case made && !expected[x.String()]:
			v.differ(NotServiceable, x.Path, x.What+": "+x.Then())
		case strings.HasPrefix(x.Item, newqueue.BatchesPath) && inventory[x.Item]:
			// Told of its records.
		default:
			found.violation(x, records[x.Item], inventory[x.Item])
		}
	}
	v.verdict.Services = found.all()
}
