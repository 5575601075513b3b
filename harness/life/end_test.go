package life_test

import (
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// end lets everything run that can run: nobody is disturbed any more. Then it checks that
// the work of each record was done.
func (m *migration) end() {
	m.say("-- the end")
	m.fails = map[string]bool{}
	for range rounds {
		for _, actor := range slices.Concat(m.world.Workers(), m.world.LegacyWorkers(), []*daemons.Actor{m.world.Cleanup()}) {
			if m.turns[actor] != nil {
				m.turn(actor, 0)
			}
		}
		m.finish()
		m.check()
	}
	m.checkEnd()
}

// finish is what an operator does to bring a migration to its end, and then all workers.
func (m *migration) finish() {
	forward := act{a: 2, b: 2} // with --hold-again, --restored and --others
	if states := m.runs(); len(states) > 0 && states[len(states)-1] == migrate.RollingBack {
		for range 3 { // it may ask about records
			if m.rollback(trouble{}, forward) == nil {
				break
			}
		}
	}
	_ = m.migrate(trouble{}, forward)
	for range 3 {
		if m.release(trouble{}, forward) == nil {
			break
		}
		m.legacyDry()
		m.stoppedWork = m.atWork // those who could finish have finished
	}
	m.workOff()
}

// legacyDry lets the legacy workers work until none finds anything.
func (m *migration) legacyDry() {
	for worked := true; worked; {
		worked = false
		for _, actor := range m.world.LegacyWorkers() {
			did, err := actor.Step()
			must(err)
			worked = worked || did
		}
	}
	m.observe()
}

// workOff lets the workers of both queues work until none finds anything.
func (m *migration) workOff() {
	m.say("the administrators resume everything, and the workers work until nothing is left")
	for range 2 {
		m.resume()
		m.legacyDry()
		must(m.world.Run())
		must(m.world.Clean())
	}
	m.observe()
}

// resume lets administrators release what is held, and requeue what has failed, in both queues.
func (m *migration) resume() {
	do := func(states map[string]string, prefix string, what map[string]daemons.Action) {
		for _, id := range slices.Sorted(maps.Keys(states)) {
			if action, ok := what[states[id]]; ok {
				m.decide(action, prefix+id)
				err := m.world.Do(action, prefix+id)
				m.say("an administrator: %s %s%s: %v", action, prefix, id, err)
				if r := m.recordOf("/jobs/" + id); err != nil && r != nil {
					// In dialect design a job of which no step has succeeded must be submitted again.
					r.never = "the refused requeue"
				}
			}
		}
	}
	states := func(parent string) map[string]string {
		all := map[string]string{}
		for id, state := range value(m.world.States(parent)) {
			all[id] = strings.ToLower(state)
		}
		return all
	}
	for _, r := range m.records {
		if data, _, err := m.conn.Get(r.path); err == nil && len(data) > 0 && !r.bad {
			switch legacy.Status(data[0]) {
			case legacy.Held, legacy.Failed:
				_ = m.world.SetLegacy(r.path, legacy.Pending)
			}
		}
	}
	do(states("/jobs"), "", map[string]daemons.Action{"held": daemons.ReleaseJob, "failed": daemons.RequeueJob})
	do(states("/batches"), "", map[string]daemons.Action{"failed": daemons.UpdateReport})
	for _, q := range newqueue.AccessQueues {
		parent := newqueue.AccessQueuePath(q)
		do(states(parent), parent+"/", map[string]daemons.Action{"failed": daemons.RequeueRequest})
	}
}
