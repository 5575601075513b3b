package life_test

import (
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// What depositors hear, and which batches have the names that the mails give.

// noteNames notes which batch has each name below /batch-uuids. It fails if follow has given a name to a second batch. A run may do so after a
// rollback has removed the first one.
func (e *explored) noteNames(follows bool) {
	tree := e.tree()
	for _, name := range tree.Children(newqueue.BatchUUIDsPath) {
		bid := string(tree.Get(newqueue.BatchUUIDPath(name)).Data)
		if was, used := e.names[name]; used && was != bid && follows {
			e.failf("a name is used twice", "%s was that of %s, and is that of %s", name, was, bid)
		}
		e.names[name] = bid
	}
}

// badReports are what goes wrong with reports, besides what the mails themselves show.
var badReports = []services.Effect{services.StopsReports, services.NeverReported, services.StuckReporting, services.ReportLost, services.ReportsEarly, services.ReportsWrong}

// mails fails unless each job that the new queue's workers did is in a mail, and in one only unless its work may be done again; and each batch in
// at most one.
func (e *explored) mails() {
	listed, batches := map[string][]string{}, map[string]int{}
	for _, m := range e.world.Emails {
		if batches[m.Batch]++; batches[m.Batch] > 1 {
			e.failf("a batch is reported twice", "%s: %+v", m.Batch, e.world.Emails)
		}
		for _, id := range slices.Concat(m.Completed, m.Failed) {
			listed[id] = append(listed[id], m.Batch)
		}
	}
	for _, t := range e.world.Troubles { // with other choices, the operator has been warned of some
		if slices.Contains(badReports, t.Effect) && e.choices == migration.DefaultChoices() {
			e.failf("a report goes wrong", "%s", t)
		}
	}
	executions := e.world.Executions()
	for _, key := range slices.Sorted(maps.Keys(e.fates)) {
		least, most := 0, max(1, e.fates[key].most)
		if e.told[key] && e.rolledBack() { // it was failed when it came: the report of its batch says so, and after the way back another one
			most++
		}
		if strings.HasPrefix(key, "jid-") && !e.told[key] && byNewWorkers(executions[key]) {
			least = min(1, e.fates[key].least)
		}
		if n := len(listed[key]); n < least || n > most {
			e.failf("a job is not in one mail", "%s is in those of %v; %+v\n%+v, names %v", key, listed[key], executions[key], e.world.Emails, e.names)
		}
	}
}

func (e *explored) rolledBack() bool {
	s := value(migrate.ReadStatus(e.ctx, &e.source.Reader))
	return slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State == migration.RunRolledBack })
}

// byNewWorkers reports whether the last who took a record is a worker of the new queue.
func byNewWorkers(x daemons.Execution) bool {
	return len(x.Workers) > 0 && !strings.Contains(x.Workers[len(x.Workers)-1], "legacy ")
}
