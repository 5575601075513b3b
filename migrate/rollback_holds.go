package migrate

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A rollback holds the new queues again before it takes anything back, if they
// were released, so that no worker takes on a job that is about to go. In the end
// it lifts what it set.

// holdAgain are the operations that hold the queues on which no hold is; none if
// nothing is to be taken back.
func (m *Migrator) holdAgain(u *Undo) ([]znode.Op, error) {
	if u.Done == (Done{}) {
		return nil, nil
	}
	h, err := HoldsIn(u.target.tree)
	if err != nil {
		return nil, err
	}
	paths, err := HoldPaths(newqueue.QueueHolds, nil)
	if err != nil {
		return nil, err
	}
	return h.Set(paths, HoldNote{By: rollbackOf(u.Run), At: m.Now().UTC(), Why: "mrtq takes back " + u.Run}), nil
}

// rollbackOf is who sets the holds of a rollback.
func rollbackOf(run string) string { return "rollback of " + run }

// setByRollback reports whether the rollback of a run made a hold, or a folder of
// holds.
func setByRollback(run string, n *znode.Node) bool {
	note, ok := ParseHoldNote(n.Data)
	return ok && note.By == rollbackOf(run) && administrators(n)
}

// holdNodes are where a rollback may have made holds and their folders.
func holdNodes() []string {
	paths := []string{newqueue.LocksPath, newqueue.QueueLocksPath}
	for _, q := range newqueue.QueueHolds {
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	return paths
}
