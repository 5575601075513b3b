package life_test

import (
	"errors"
	"fmt"

	"mrtq/internal/znode"
	"mrtq/migrate"
)

// backup is the new queue as it was, and what was done for each record until then.
type backup struct {
	tree  *znode.Tree
	state map[string]string
}

// takeBackup and restore: see [migrate.ErrRestored].
func (m *migration) takeBackup() {
	m.say("a backup is made")
	m.backup = &backup{m.tree(), m.state()}
}

// state is what was done for each record, whether it is there, and its jobs.
func (m *migration) state() map[string]string {
	state, jobs, tree := map[string]string{}, m.jobs(), m.tree()
	for _, r := range m.records {
		state[r.path] = fmt.Sprint(m.world.Executions()[r.key], r.over, tree.Get(r.path) != nil)
		for _, job := range jobs[r.path] {
			state[r.path] += job
			if n := tree.Get(job + "/status"); n != nil { // someone may be deleting the job
				state[r.path] += string(n.Data)
			}
		}
	}
	return state
}

// restore puts the backup of the new queue back. Whatever was done since may be done again, or never.
func (m *migration) restore() {
	if m.backup == nil {
		return
	}
	m.say("the backup is restored")
	for _, name := range newRoots {
		m.removeAll("/" + name)
		m.putBack(m.backup.tree, "/"+name)
	}
	for actor := range m.turns {
		m.disturb(actor)
	}
	state := m.state()
	for _, r := range m.records {
		if m.backup.state[r.path] != state[r.path] {
			r.twice, r.never = "the restored backup", "the restored backup"
		}
	}
	for _, r := range m.records {
		r.waits = false
	}
	m.restored, m.jobsToo = true, true
}

// newRoots are what a backup of the new queue has: the bytes of records that were handed over are not among it.
var newRoots = []string{"batches", "batch-uuids", "jobs", "access", "locks", "migration"}

// wipe removes /migration, as CDL's script does. Every command must refuse. Then it is put
// back from a dump.
func (m *migration) wipe() {
	before := m.tree()
	if before.Get("/migration/runs/run0000000000") == nil || before.Get("/jobs") == nil {
		return
	}
	m.say("/migration is wiped")
	m.removeAll("/migration")
	w := m.source
	_, verify := migrate.Verify(m.ctx, nil, &w.Reader, migrate.VerifyOptions{})
	_, release := migrate.Release(m.ctx, w, migrate.ReleaseOptions{})
	_, rollback := migrate.Rollback(m.ctx, w, "", migrate.RollbackOptions{})
	_, complete := migrate.Complete(m.ctx, w, migrate.CompleteOptions{})
	_, again := migrate.Migrate(m.ctx, value(m.legacyQueue(m.ctx, w)), w, migrate.MigrateOptions{Options: m.options()})
	for i, err := range []error{verify, rollback, again, complete, release} {
		if !errors.Is(err, migrate.ErrDamaged) && (i < 4 || err != nil) {
			m.failf("a wiped /migration was not noticed", "command %d: %v", i, err)
		}
	}
	m.say("/migration is put back from a dump")
	m.putBack(before, "/migration")
	m.restored = true
}
