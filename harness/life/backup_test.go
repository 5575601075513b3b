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
	m.backup = &backup{m.tree(m.newZK), m.state()}
}

// state is what was done for each record, whether it is there, and its jobs.
func (m *migration) state() map[string]string {
	state, jobs, old, tree := map[string]string{}, m.jobs(), m.tree(m.oldZK), m.tree(m.newZK)
	for _, r := range m.records {
		state[r.path] = fmt.Sprint(m.world.Executions()[r.key], r.over, old.Get(r.path) != nil)
		for _, job := range jobs[r.path] {
			state[r.path] += job
			if n := tree.Get(job + "/status"); n != nil { // someone may be deleting the job
				state[r.path] += string(n.Data)
			}
		}
	}
	return state
}

// restore puts the backup back. Whatever was done since may be done again, or never.
func (m *migration) restore() {
	if m.backup == nil {
		return
	}
	m.say("the backup is restored")
	for _, name := range m.tree(m.newZK).Children("/") {
		if name != "zookeeper" {
			removeAll(m.newConn, "/"+name)
		}
	}
	m.putBack(m.backup.tree, "/")
	for actor := range m.turns {
		m.disturb(actor)
	}
	state := m.state()
	for _, r := range m.records {
		if m.backup.state[r.path] != state[r.path] {
			m.told(r.path, true, true, word{"the restored backup", true})
		}
	}
	for _, r := range m.records {
		r.waits = false
	}
	m.restored, m.jobsToo = true, true
}

// wipe removes /migration, as CDL's script does. Every command must refuse. Then it is put
// back from a dump.
func (m *migration) wipe() {
	before := m.tree(m.newZK)
	if before.Get("/migration/runs/run0000000000") == nil || before.Get("/jobs") == nil {
		return
	}
	m.say("/migration is wiped")
	removeAll(m.newConn, "/migration")
	w := m.open(m.newZK.Dial)
	_, verify := migrate.Verify(m.ctx, m.legacyQueue(), &w.Reader, migrate.VerifyOptions{})
	_, release := migrate.Release(m.ctx, m.legacyQueue(), w, migrate.ReleaseOptions{})
	_, rollback := migrate.Rollback(m.ctx, w, "", migrate.RollbackOptions{})
	_, again := migrate.Migrate(m.ctx, m.legacyQueue(), w, migrate.MigrateOptions{Options: m.options()})
	for i, err := range []error{verify, rollback, again, release} {
		if !errors.Is(err, migrate.ErrDamaged) && (i < 3 || err != nil) {
			m.failf("a wiped /migration was not noticed", "command %d: %v", i, err)
		}
	}
	m.say("/migration is put back from a dump")
	m.putBack(before, "/migration")
	m.restored = true
}
