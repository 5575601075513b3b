package daemons_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// findings are the errors and warnings of mrtq check.
func findings(t *testing.T, tree *znode.Tree) []layout.Finding {
	all := value(deployedMap(t).Check(t.Context(), layout.InMemory(tree), layout.Options{}))(t).Findings
	return slices.DeleteFunc(all, func(f layout.Finding) bool { return f.Severity == layout.Info })
}

// deployedMap is the map of the layout, with what the deployed services demand.
func deployedMap(t *testing.T) *layout.Map {
	return value(merritt.Named("merritt", merritt.Options{Dialect: string(newqueue.MrtZK)}))(t)
}

// says reports whether a finding names an effect.
func says(f layout.Finding, s services.Stop) bool { return strings.HasSuffix(f.Found, ": "+s.String()) }

// happened reports whether a trouble is what a finding says: the effect, on its item or on
// that item's batch. Any item will do for a finding outside of all.
func happened(tree *znode.Tree, f layout.Finding, t daemons.Trouble) bool {
	item := regexp.MustCompile(`^(/batches/|/jobs/jid|/access/[^/]+/)[^/]+`).FindString(f.Path)
	return says(f, services.Stop{Daemon: t.Daemon, Effect: t.Effect}) && (item == "" || t.Item == item || t.Item == batchOf(tree, item))
}

// For each bad item the check names the daemon that fails first, and the effect. Both
// come true. The services have no trouble with what they wrote, so that each trouble with a damaged
// tree (TestEveryBrokenRequirementIsFoundAndStopsItsDaemon) comes from the damage.
func TestPlanPredictsWhatTheServicesDo(t *testing.T) {
	for name, legacyQueue := range corpora(t) {
		t.Run(name, func(t *testing.T) {
			s := migrated(t, legacyQueue)
			tree := s.tree(t)
			w := s.services(t)
			found := findings(t, tree)
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
			for _, trouble := range first {
				if !slices.ContainsFunc(found, func(f layout.Finding) bool { return happened(tree, f, trouble) }) {
					t.Errorf("nothing predicted %s", trouble)
				}
			}
			must(t, w.Clean())
			if name == "as deployed" && len(w.Troubles) > 0 {
				t.Errorf("the services have troubles with records that deployed services wrote: %v", w.Troubles)
			}
		})
	}
}
