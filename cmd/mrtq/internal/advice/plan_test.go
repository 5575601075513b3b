package advice

import (
	"strings"
	"testing"

	"mrtq/migrate/migration"
)

// TestUnblock: what each kind of problem needs, alone and together with others.
func TestUnblock(t *testing.T) {
	a := Adviser{Name: "plan", Takes: func(string, string) bool { return true }}
	for name, c := range map[string]struct {
		resumes bool
		kinds   []migration.ProblemKind
		fits    string // of the last
		next    string
	}{
		"undecodable":              {kinds: []migration.ProblemKind{migration.ProblemUndecodable}, next: "First: decide whether you want --undecodable quarantine. Next: mrtq plan S T --undecodable quarantine"},
		"no queue":                 {kinds: []migration.ProblemKind{migration.ProblemNoQueue}, next: "First: check the address of the target. Next: mrtq plan S T --new-queue"},
		"inventory waits":          {kinds: []migration.ProblemKind{migration.ProblemInventoryWaiting}, next: "First: let the legacy inventory service finish its queue. Next: mrtq plan S T"},
		"unserviceable":            {kinds: []migration.ProblemKind{migration.ProblemUnserviceable}, next: "First: repair or remove the records that no service could work on. Next: mrtq plan S T"},
		"released, restored":       {kinds: []migration.ProblemKind{migration.ProblemRestored, migration.ProblemReleased}, next: `First: hold the queues, if their workers may stop: mrtq hold T --why "$REASON" Next: mrtq plan S T`},
		"other dialect":            {kinds: []migration.ProblemKind{migration.ProblemOtherDialect}, fits: "mrt-zk", next: "First: decide whether you want --dialect mrt-zk. Next: mrtq plan S T --dialect mrt-zk"},
		"all at once":              {kinds: []migration.ProblemKind{migration.ProblemRestored, migration.ProblemNoQueue, migration.ProblemUnserviceable, migration.ProblemInventoryWaiting}, next: "First: let the legacy inventory service finish its queue, and repair or remove the records that no service could work on, and check the address of the target, and decide whether you want --restored. Next: mrtq plan S T --new-queue --restored"},
		"to repair":                {kinds: []migration.ProblemKind{"too-large"}, next: "First: resolve the listed problems. Next: mrtq plan S T"},
		"no dialect":               {kinds: []migration.ProblemKind{migration.ProblemNoDialect, migration.ProblemNoQueue}, next: "First: check the address of the target. Choose: For dialect "},
		"a rollback is unfinished": {kinds: []migration.ProblemKind{migration.ProblemNoQueue, migration.ProblemRollbackUnfinished}, fits: "run0000000001", next: "Next: mrtq rollback T"},
		"another legacy queue":     {kinds: []migration.ProblemKind{migration.ProblemOtherOrigin}, next: "First: make sure that this is the legacy queue that was migrated. This says what comes first. Next: mrtq status T"},
		"the same, and it resumes": {resumes: true, kinds: []migration.ProblemKind{migration.ProblemOtherOrigin}, next: "First: look for the legacy queue that was migrated. If it was removed or made again, this goes back. Next: mrtq rollback T"},
		"it resumes with others":   {resumes: true, kinds: []migration.ProblemKind{migration.ProblemOtherChoices}, next: "Next: mrtq migrate T"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &migration.Plan{Resumes: c.resumes}
			plan.Unfinished.ID = "run0000000002"
			for _, kind := range c.kinds {
				plan.Problems = append(plan.Problems, migration.Problem{Kind: kind})
			}
			plan.Problems[len(c.kinds)-1].Fits = c.fits
			next := shown(a.unblock(Situation{Source: "S", Target: "T", Plan: plan}))
			if next != c.next && !(c.kinds[0] == migration.ProblemNoDialect && strings.HasPrefix(next, c.next)) {
				t.Errorf("%s\nexpected %s", next, c.next)
			}
		})
	}
}
