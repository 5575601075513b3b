package migrate

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// TestStatusWhileAMigratorWorks: while a migrator is at work, the status does not count its
// changes as those of others, and its only advice is to wait.
func TestStatusWhileAMigratorWorks(t *testing.T) {
	s := liveTarget(t, newqueue.Design)
	mustMigrate(t, s, source(t, corpus(t)), options(permissive()))
	place, err := s.client.Create(ElectionPath+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		atWork int
		step   Step
	}{{1, StepWait}, {0, StepRelease}} {
		status, err := ReadStatus(t.Context(), s.Target.Side(nil))
		if err != nil {
			t.Fatal(err)
		}
		if status.AtWork != want.atWork || status.Step != want.step || status.Unfinished() != (want.atWork > 0) {
			t.Errorf("%d at work, step %q, unfinished %t; want %+v", status.AtWork, status.Step, status.Unfinished(), want)
		}
		if want.atWork > 0 {
			if err := s.client.Delete(place, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
}
