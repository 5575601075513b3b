package daemons_test

import (
	"strings"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/newqueue/services"
)

// For each bad item the plan names the daemon that fails first, and the effect. Both
// come true.
func TestPlanPredictsWhatTheServicesDo(t *testing.T) {
	for name, legacyQueue := range corpora(t) {
		t.Run(name, func(t *testing.T) {
			s := migrated(t, legacyQueue)
			tree := s.tree(t)
			w := s.services(t)
			violations := services.Check(tree)
			for _, job := range jobs(tree, "Failed") {
				must(t, w.Do(daemons.RequeueJob, strings.TrimPrefix(job, "/jobs/")))
			}
			for _, job := range jobs(tree, "Held") {
				must(t, w.Do(daemons.ReleaseJob, strings.TrimPrefix(job, "/jobs/")))
			}
			must(t, w.Run())
			must(t, w.Leftovers())
			first := map[string]daemons.Trouble{}
			for _, trouble := range w.Troubles {
				if _, there := first[trouble.Item]; !there {
					first[trouble.Item] = trouble
				}
			}
			predicted := map[string]bool{}
			for _, v := range violations {
				if got, there := first[v.Item]; there && got.Daemon == v.Stop.Daemon && got.Effect == v.Stop.Effect {
					predicted[v.Item] = true
				}
			}
			for item, trouble := range first {
				if !predicted[item] {
					t.Errorf("nothing predicted %s", trouble)
				}
			}
			if name == "as deployed" && len(w.Troubles) > 0 {
				t.Errorf("the services have troubles with records that deployed services wrote: %v", w.Troubles)
			}
		})
	}
}
