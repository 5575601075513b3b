package migrate

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// An item that no deployed service could work on is a difference if the migration made it
// and its record lacks nothing. If others made it, verify lists it, and it is no difference.
func TestVerifyNamesWhatNoServiceCouldWork(t *testing.T) {
	const theirs = "/jobs/jid0000000090"
	theirConfiguration := func(c newqueue.Object) func(*testing.T, *site) {
		return func(t *testing.T, s *site) { do(t, s, znode.Set(theirs+"/configuration", encode(c), -1)) }
	}
	for _, tc := range []struct {
		name   string
		record legacy.Payload
		status legacy.Status
		before func(*testing.T, *site)
		after  func(*testing.T, *site)
		wanted []named
		found  string // what verify says of the other client's job
	}{
		{"as migrated", ingestRecord(nil), legacy.Pending, nil, nil, nil, ""},
		{"a record without a profile", ingestRecord(legacy.Payload{"profile": nil}), legacy.Pending, nil, nil, nil, ""},
		{"others' job has a profile, and ours has none", ingestRecord(legacy.Payload{"profile": nil}), legacy.Pending, theirConfiguration(newqueue.Object{"profile": "p"}), nil,
			[]named{{NotServiceable, "/jobs/jid0000000091/configuration", "other jobs have one"}}, ""},
		{"others' job calls its batch something else", ingestRecord(nil), legacy.Pending, theirConfiguration(newqueue.Object{"batchID": "bid-x"}), nil, nil, `batchID is "bid-x", and its batch has "another"`},
		{"an entry for others' job in our batch that is done", ingestRecord(nil), legacy.Completed, nil, func(t *testing.T, s *site) {
			do(t, s, znode.Create("/batches/bid0000000091/states/batch-processing/jid0000000090", none))
		}, []named{{NodeExtra, "/batches/bid0000000091/states/batch-processing/jid0000000090", ""}, {NotServiceable, "/batches/bid0000000091/status", "1 unfinished jobs"}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := liveTarget(t, newqueue.MrtZK)
			othersJob(t, s, newqueue.MrtZK)
			if tc.before != nil {
				tc.before(t, s)
			}
			src := source(t, queue(t, map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, tc.status, tc.record)}))
			opt := inDialect(newqueue.MrtZK)
			opt.Policies.Completed = Migrate
			mustMigrate(t, s, src, opt)
			if tc.after != nil {
				tc.after(t, s)
			}
			v := verdict(t, src, treeOf(t, s), VerifyOptions{})
			mustName(t, v, tc.wanted...)
			for _, d := range v.Differences {
				if !slices.ContainsFunc(tc.wanted, func(n named) bool { return n.kind == d.Kind && n.path == d.Path }) {
					t.Errorf("named as well: %s", d)
				}
			}
			found := slices.ContainsFunc(v.Services, func(f ServiceFinding) bool {
				return slices.ContainsFunc(f.Items, func(i ServiceItem) bool { return i.Path == theirs && strings.Contains(i.What, tc.found) })
			})
			if !found {
				t.Errorf("verify does not report %q about others' job: %v", tc.found, v.Services)
			}
		})
	}
}
