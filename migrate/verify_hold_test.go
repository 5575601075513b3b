package migrate

import (
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A hold that an administrator set with mrtq hold is no difference, in the place of a run's
// hold or beside it. A znode elsewhere does not become a hold by having a note.
func TestVerifyKnowsAnAdministratorsHold(t *testing.T) {
	note := alice.Encode()
	again := func(path string, data []byte) []znode.Op {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, data)}
	}
	var away, all []znode.Op
	for _, h := range newqueue.QueueHolds {
		away, all = append(away, znode.Delete(newqueue.QueueHoldPath(h), -1)), append(all, znode.Create(newqueue.QueueHoldPath(h), note))
	}
	away = append(away, znode.Delete(newqueue.QueueLocksPath, -1))
	const collection = newqueue.CollectionLocksPath + "/demo"
	for _, tc := range []struct {
		name   string
		change []znode.Op
		want   []named // all that differs
	}{
		{"in the place of the run's", again(ingestHold, note), nil},
		{"on a collection, with the folder", []znode.Op{znode.Create(newqueue.CollectionLocksPath, note), znode.Create(collection, note)}, nil},
		{"all of them, and the folder too", slices.Concat(away, []znode.Op{znode.Create(newqueue.QueueLocksPath, note)}, all), nil},
		{"without a note, in the place of the run's", again(ingestHold, none), []named{{Recreated, ingestHold, "no run was at work"}}},
		{"with other data, in the place of the run's", again(ingestHold, []byte("by hand")), []named{{NodeChanged, ingestHold, "by hand"}, {Recreated, ingestHold, ""}}},
		{"on a collection, without a note", []znode.Op{znode.Create(newqueue.CollectionLocksPath, note), znode.Create(collection, none)}, []named{{NodeExtra, collection, "after the run began"}}},
		{"on a collection, its note written again", []znode.Op{znode.Create(newqueue.CollectionLocksPath, note), znode.Create(collection, note), znode.Set(collection, note, -1)}, []named{{NodeExtra, collection, "after the run began"}}},
		{"a note below a hold", []znode.Op{znode.Create(ingestHold+"/x", note)}, []named{{NodeExtra, ingestHold + "/x", "after the run began"}}},
		{"a note among the locks", []znode.Op{znode.Create(newqueue.LocksPath+"/x", note)}, []named{{NodeExtra, newqueue.LocksPath + "/x", "after the run began"}}},
		{"a note in a job", []znode.Op{znode.Create(job1+"/x", note)}, []named{{NodeExtra, job1 + "/x", "it belongs to " + job1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, src := heldSite(t)
			do(t, s, tc.change...)
			v := verdict(t, src, treeOf(t, s), VerifyOptions{})
			mustName(t, v, tc.want...)
			for _, d := range v.Differences {
				if !slices.ContainsFunc(tc.want, func(n named) bool { return n.kind == d.Kind && n.path == d.Path }) {
					t.Errorf("named as well: %s", d)
				}
			}
		})
	}
}
