package migrate

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A plan says how the records' times were read, so that the next run and verify
// read them the same way.
func TestPlanSaysHowTimesWereRead(t *testing.T) {
	tree := queue(t, fourRecords(t))
	q, err := OpenLegacyQueue(t.Context(), side.Tree(tree), DefaultQueues(), legacy.Options{Time: legacy.TimeMillis})
	if err != nil {
		t.Fatal(err)
	}
	p, err := MakePlan(t.Context(), q, side.Tree(znode.NewTree()), options(permissive()))
	if err != nil {
		t.Fatal(err)
	}
	if p.Settings.Time != "ms" {
		t.Errorf("read in ms, and the plan says %q", p.Settings.Time)
	}
}

// If an earlier run had other policies, the plan says which differ: as a problem if that run is
// unfinished, else as a warning.
func TestOtherPoliciesAreNamed(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	first := makePlan(t, src, treeOf(t, s), opt)
	mustMigrate(t, s, src, opt)
	opt.Policies.Consumed, opt.Policies.Undecodable = AsFailed, Block
	says := "consumed pending → failed, undecodable quarantine → block"
	p := makePlan(t, src, treeOf(t, s), opt)
	if !slices.ContainsFunc(p.Warnings, func(w Warning) bool { return strings.HasSuffix(w.Message, "other policies: "+says) }) {
		t.Errorf("a later run: warnings %v", p.Warnings)
	}
	begun := serve(t, znode.NewTree())
	begun.kill(t, 2, false)
	m := &Migrator{Target: begun.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), first.Expectation()); err == nil {
		t.Fatal("nothing was killed")
	}
	p = makePlan(t, src, treeOf(t, begun), opt)
	if !slices.ContainsFunc(p.Problems, func(x Problem) bool {
		return x.Kind == OtherPolicies && strings.HasSuffix(x.Message, "other policies: "+says)
	}) {
		t.Errorf("a run that was begun: problems %v", p.Problems)
	}
}

// If a later run has another ACL, the plan warns: half of the queue would be open to other
// clients than the other half. TestFinishedWithItsACL is about a run that is not finished.
func TestOtherACLIsNamed(t *testing.T) {
	opt := options(permissive())
	opt.ACL = []znode.ACL{{Perms: 31, Scheme: "ip", ID: "127.0.0.1"}}
	src := source(t, queue(t, fourRecords(t)))
	done := serve(t, znode.NewTree())
	mustMigrate(t, done, src, opt)
	opt.ACL = nil
	p := makePlan(t, src, treeOf(t, done), opt)
	const says = "under other policies: acl ip:127.0.0.1:rwcda → open"
	if !slices.ContainsFunc(p.Warnings, func(w Warning) bool { return strings.HasSuffix(w.Message, says) }) || !strings.HasSuffix(p.OtherPolicies(), says) {
		t.Errorf("warnings %v", p.Warnings)
	}
}
