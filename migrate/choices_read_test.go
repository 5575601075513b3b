package migrate

import (
	"context"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// The choices for verifying a target are those of its newest run, except for those that the
// caller gives.
func TestReadChoices(t *testing.T) {
	opt := options(permissive())
	s := serve(t, znode.NewTree())
	src := source(t, queue(t, fourRecords(t)))
	read := func(ctx context.Context) (*LegacyQueue, func(), error) {
		q, err := OpenLegacyQueue(ctx, side.Tree(src.Tree), src.Queues, legacy.Options{Time: legacy.TimeMillis})
		return q, func() {}, err
	}
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Migrate(t.Context(), read, opt, nil); err != nil {
		t.Fatal(err)
	}
	target := side.Tree(treeOf(t, s))
	none := side.Tree(znode.NewTree())
	failed := opt.Policies
	failed.Consumed = AsFailed
	byDefault := DefaultPolicies()
	byDefault.Consumed = AsFailed
	for _, c := range []struct {
		name     string
		target   Side
		own      map[string]string
		time     string
		want     legacy.TimePolicy
		policies *Policies
	}{
		{"the run's", target, nil, "", legacy.TimeMillis, nil},
		{"another unit", target, nil, "s", legacy.TimeSeconds, nil},
		{"one policy", target, map[string]string{"consumed": AsFailed}, "", legacy.TimeMillis, &failed},
		{"no run", none, nil, "", legacy.TimeAuto, nil},
		{"no run, one policy", none, map[string]string{"consumed": AsFailed}, "ms", legacy.TimeMillis, &byDefault},
	} {
		got, err := ReadChoices(t.Context(), c.target, c.own, c.time)
		if err != nil || got.Reads.Time != c.want || (got.Policies == nil) != (c.policies == nil) || got.Policies != nil && *got.Policies != *c.policies {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := ReadChoices(t.Context(), target, map[string]string{"consumed": "maybe"}, ""); err == nil {
		t.Error("consumed maybe: no error")
	}
}

// The dialect is that of the options or of the queue in the target. If neither decides it,
// the plan says so.
func TestDialectIsADecision(t *testing.T) {
	src := source(t, queue(t, fourRecords(t)))
	chosen := serve(t, znode.NewTree())
	opt := options(permissive())
	opt.Dialect = newqueue.MrtZK
	opt.Policies.Unserviceable = Migrate
	mustMigrate(t, chosen, src, opt)
	for _, c := range []struct {
		name          string
		target        *znode.Tree
		given, want   newqueue.Dialect
		assumed, fits bool
	}{
		{"given", znode.NewTree(), newqueue.MrtZK, newqueue.MrtZK, false, true},
		{"nobody's", znode.NewTree(), "", newqueue.Design, true, false},
		{"the target's", treeOf(t, chosen), "", newqueue.MrtZK, false, true},
		{"not the target's", treeOf(t, chosen), newqueue.Design, newqueue.Design, false, false},
	} {
		opt.Dialect = c.given
		p := makePlan(t, src, c.target, opt)
		if p.Dialect != c.want || p.DialectAssumed != c.assumed || p.Blocked() == c.fits {
			t.Errorf("%s: %s, assumed %v, problems %v", c.name, p.Dialect, p.DialectAssumed, p.Problems)
		}
	}
}
