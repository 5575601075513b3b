package life_test

import (
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// rounds is how often everybody tries to finish what is left. A batch must be cleaned up
// before its late records can be migrated, and a run rolled back before its records can run
// in the legacy queue.
const rounds = 5

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
	forward := act{a: 2, b: 2} // with --hold-again, --restored, --others and --acted-on
	states := m.runs()
	if len(states) > 0 && states[len(states)-1] == migrate.RollingBack {
		_ = m.rollback(trouble{}, forward)
	}
	if len(states) > 0 && states[len(states)-1] == migrate.Retiring {
		_ = m.retire(trouble{}, forward)
	}
	_ = m.migrate(trouble{}, forward)
	if m.release(trouble{}, forward) != nil {
		// What is wrong was named. The operator accepts it.
		_ = m.release(trouble{}, act{a: 2, b: 3})
	}
	m.workOff()
}

// workOff lets the workers of both queues work until none finds anything.
func (m *migration) workOff() {
	m.say("the administrators resume everything, and the workers work until nothing is left")
	if m.left != nil { // it takes all that it finds, one record a turn
		for range m.records {
			m.turn(m.left, 0)
		}
	}
	for range 2 {
		m.resume()
		must(m.world.Run())
		must(m.world.Clean())
	}
	m.observe()
}

// resume lets an administrator release held jobs, and requeue failed ones.
func (m *migration) resume() {
	do := func(states map[string]string, prefix string, what map[string]daemons.Action) {
		for _, id := range slices.Sorted(maps.Keys(states)) {
			if action, ok := what[states[id]]; ok {
				m.decide(action, prefix+id)
				err := m.world.Do(action, prefix+id)
				m.say("an administrator: %s %s%s: %v", action, prefix, id, err)
				if r := m.recordOf("/jobs/" + id); err != nil && r != nil {
					// In dialect design a job of which no step has succeeded must be submitted again.
					r.never = word{"the refused requeue", true}
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
	do(states("/jobs"), "", map[string]daemons.Action{"held": daemons.ReleaseJob, "failed": daemons.RequeueJob})
	do(states("/batches"), "", map[string]daemons.Action{"failed": daemons.UpdateReport})
	for _, q := range newqueue.AccessQueues {
		parent := newqueue.AccessQueuePath(q)
		do(states(parent), parent+"/", map[string]daemons.Action{"failed": daemons.RequeueRequest})
	}
}
