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
	var expected map[string]bool // what the records lack; asked for only if something is wrong
	isExpected := func(x services.Violation) bool {
		if expected == nil {
			expected = map[string]bool{}
			for _, w := range services.Check(v.want) {
				expected[w.String()] = true
			}
		}
		return expected[x.String()]
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
		case v.opt.Others && v.atWork(x.Path):
		case made && !isExpected(x):
			v.differ(NotServiceable, x.Path, x.What+": "+x.Then())
		case strings.HasPrefix(x.Item, newqueue.BatchesPath) && inventory[x.Item]:
			// Told of its records.
		default:
			found.violation(x, records[x.Item], inventory[x.Item])
		}
	}
	v.verdict.Services = found.all()
}

// atWork reports whether a session holds a node: the lock of a worker.
func (v *verifier) atWork(path string) bool {
	n := v.ex.tree.Get(path)
	return n != nil && n.Stat.EphemeralOwner != 0
}
