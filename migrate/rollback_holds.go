package migrate

import (
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// If the new queues were released, a rollback holds them again before it removes
// anything. So no worker starts on a job that is about to be removed. At the end the
// rollback lifts the holds that it set.

// holdAgain returns the operations that hold the queues which are not held. It returns
// none if the rollback removes nothing.
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
	return h.Set(paths, HoldNote{By: rollbackName(u.Run), At: m.Now().UTC(), Why: "mrtq rolls back " + u.Run}), nil
}

// rollbackName is the name under which a rollback sets its holds.
func rollbackName(run string) string { return "rollback of " + run }

// setByRollback reports whether the rollback of a run created a hold, or a folder of
// holds.
func setByRollback(run string, n *znode.Node) bool {
	note, ok := ParseHoldNote(n.Data)
	return ok && note.By == rollbackName(run) && setByAdministrator(n)
}

// holdNodes returns the paths at which a rollback may have created holds and their
// folders.
func holdNodes() []string {
	paths := []string{newqueue.LocksPath, newqueue.QueueLocksPath}
	for _, q := range newqueue.QueueHolds {
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	return paths
}
