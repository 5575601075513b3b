package life_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// What everybody but the operator does. Each act differs from the others in what it leaves: a record that changed, is
// gone or came back; a job that was begun, changed, finished or removed; a hold that was lifted or replaced; a run
// that went on.

// deed is something that somebody else does. It does nothing if what it is about is not there.
type deed struct {
	name string
	do   func(*explored)
	// operator says that a second operator does it, who has to wait while the first one leads.
	operator bool
}

// The records of which the acts take one, by their places in paths.
const (
	ofBatch   = 0 // the first of a batch
	beside    = 1 // another one of the batch
	heldOne   = 2
	failedOne = 3
	doneOne   = 4
	atWork    = 5 // a legacy worker has it
	inventory = 6
	smallOne  = 7
	largeOne  = 8
)

func (e *explored) fill() {
	e.truth = truth{bytes: map[string][]byte{}, fates: map[string]fate{}, dead: map[string]bool{}, loose: map[string]bool{}, names: map[string]string{}, told: map[string]bool{}}
	for i, r := range []struct {
		batch  string
		status legacy.Status
	}{{"bid-1", legacy.Pending}, {"bid-1", legacy.Pending}, {"bid-1", legacy.Held}, {"bid-2", legacy.Failed}, {"bid-2", legacy.Completed}, {"bid-3", legacy.Consumed}} {
		e.paths = append(e.paths, e.deposited(fmt.Sprint(i+1), r.batch, r.status))
	}
	key, path := e.manifest("1", legacy.Pending)
	e.fates[key] = fate{1, 1}
	e.paths = append(e.paths, path, e.requested("/accessSmall.1", "token-1"), e.requested("/accessLarge.1", "token-2"))
	for _, path := range e.paths {
		e.bytes[path], _, _ = e.conn.Get(path)
	}
	e.create("/foreign", []byte("of somebody else"), 0)
}

func (e *explored) deposited(id, batch string, status legacy.Status) string {
	e.fates["jid-"+id] = fate{1, 1}
	if status == legacy.Completed {
		e.fates["jid-"+id] = fate{0, 0}
	}
	if status == legacy.Failed {
		e.told["jid-"+id] = true
	}
	return e.deposit(id, batch, status)
}

func (e *explored) newID() string {
	e.submissions++
	return fmt.Sprint(19 + e.submissions)
}

func (e *explored) requested(root, token string) string {
	e.fates[token] = fate{1, 1}
	return e.request(root, token)
}

var deeds = []deed{
	// Legacy workers.
	{name: "a legacy worker takes a record", do: func(e *explored) { e.take(ofBatch) }},
	{name: "a legacy worker does a record", do: func(e *explored) { e.take(ofBatch); e.finish(e.paths[ofBatch]) }},
	{name: "a legacy worker does a record, and cleans up", do: func(e *explored) { e.take(ofBatch); e.finish(e.paths[ofBatch]); e.clean() }},
	{name: "a legacy worker fails a record", do: func(e *explored) { e.take(ofBatch); e.set(ofBatch, legacy.Consumed, legacy.Failed) }},
	{name: "a legacy worker takes a record and requeues it", do: func(e *explored) { e.take(ofBatch); e.requeue(ofBatch) }},
	{name: "a legacy worker takes a record and dies", do: func(e *explored) {
		if e.take(beside) {
			e.dead[e.paths[beside]] = true
			e.mayBeLost(e.key(e.paths[beside]))
		}
	}},
	{name: "a legacy worker finishes, and cleans up", do: func(e *explored) { e.finish(e.paths[atWork]); e.clean() }},
	{name: "legacy inventory does its record", do: func(e *explored) { e.take(inventory); e.finish(e.paths[inventory]) }},
	{name: "a legacy access worker takes a request", do: func(e *explored) { e.take(smallOne) }},
	{name: "a legacy access worker does a large request", do: func(e *explored) { e.take(largeOne); e.finish(e.paths[largeOne]) }},
	{name: "the legacy workers do everything", do: (*explored).legacyDry},
	{name: "a legacy worker locks an object", do: (*explored).lock},
	// Submitters.
	{name: "a record is submitted", do: func(e *explored) { e.deposited(e.newID(), "bid-1", legacy.Pending) }},
	{name: "a record of a new batch is submitted", do: func(e *explored) { e.deposited(e.newID(), "bid-9", legacy.Pending) }},
	{name: "a submitter lost the answer, and submits a record again", do: (*explored).submitAgain},
	{name: "a request is submitted", do: func(e *explored) {
		if there, _, _ := e.conn.Exists("/accessSmall.1"); there {
			e.requested("/accessSmall.1", "token-"+e.newID())
		}
	}},
	// Administrators of the legacy queue.
	{name: "a legacy administrator releases a held record", do: func(e *explored) { e.set(heldOne, legacy.Held, legacy.Pending) }},
	{name: "a legacy administrator requeues a failed record", do: func(e *explored) { e.set(failedOne, legacy.Failed, legacy.Pending) }},
	{name: "a legacy administrator marks a record as deleted", do: func(e *explored) {
		if e.set(ofBatch, legacy.Pending, legacy.Deleted) {
			e.mayBeLost(e.key(e.paths[ofBatch]))
		}
	}},
	{name: "a legacy administrator deletes a record", do: func(e *explored) { e.lose(e.paths[ofBatch]) }},
	{name: "a legacy administrator deletes a completed record", do: func(e *explored) { e.lose(e.paths[doneOne]) }},
	{name: "a legacy administrator renames a record", do: func(e *explored) { e.rename(ofBatch) }},
	{name: "a legacy administrator writes a record as it is", do: func(e *explored) { e.rewrite(ofBatch, "Someone", "Someone") }},
	{name: "a legacy administrator changes a record", do: func(e *explored) { e.rewrite(ofBatch, "Someone", "Another") }},
	{name: "a legacy administrator clears a queue", do: func(e *explored) { e.clear("/accessSmall.1") }},
	{name: "a legacy administrator clears a queue, and makes it again", do: func(e *explored) {
		if e.clear("/ingest") {
			e.create("/ingest", nil, 0)
		}
	}},
	{name: "a new record gets the name of one that is gone", do: (*explored).reuseName},
	{name: "a legacy administrator deletes a record, and a new one gets its name", do: func(e *explored) { e.lose(e.paths[ofBatch]); e.reuseName() }},
	{name: "a legacy administrator restores a record", do: func(e *explored) {
		if _, err := e.conn.Create(e.paths[ofBatch], e.bytes[e.paths[ofBatch]], 0, zk.WorldACL(zk.PermAll)); err == nil {
			e.mayRepeat(e.paths[ofBatch], e.key(e.paths[ofBatch]))
		}
	}},
	{name: "somebody deletes kept bytes", do: (*explored).removeKept},
	{name: "somebody changes kept bytes", do: func(e *explored) {
		if paths := slices.Sorted(maps.Keys(keptBelow(e.tree(), ""))); len(paths) > 0 {
			value(e.conn.Set(paths[0], []byte("nothing"), -1))
		}
	}},
	// Workers and services of the new queue.
	{name: "a worker acquires a job", do: func(e *explored) { e.acquire() }},
	{name: "a worker acquires a job, and its session ends", do: func(e *explored) {
		if e.acquire() {
			e.stopWorkers()
		}
	}},
	{name: "a worker does one step", do: func(e *explored) { e.steps(1) }},
	{name: "a worker fails a job", do: func(e *explored) {
		turn(e.world.Workers())
		e.fails = true
		turn(e.world.Workers())
		e.fails = false
	}},
	{name: "the workers do everything", do: func(e *explored) { must(e.world.Run()) }},
	{name: "the workers do everything, and the cleanup", do: func(e *explored) { must(e.world.Run()); must(e.world.Clean()) }},
	{name: "the cleanup", do: func(e *explored) { must(e.world.Clean()) }},
	{name: "the reporter", do: func(e *explored) { turn(e.world.Workers(), "report", "BatchReport", "watcher") }},
	{name: "inventory", do: func(e *explored) { turn(e.world.Workers(), "recording", "Inventory", "Record") }},
	{name: "an access worker", do: func(e *explored) { turn(e.world.Workers(), "access large", "Access") }},
	// Administrators of the new queue.
	{name: "an administrator holds a job", do: func(e *explored) { e.administer(daemons.HoldJob, "pending") }},
	{name: "an administrator releases a job", do: func(e *explored) { e.administer(daemons.ReleaseJob, "held") }},
	{name: "an administrator requeues a job", do: func(e *explored) { e.administer(daemons.RequeueJob, "failed") }},
	{name: "an administrator deletes a held job", do: func(e *explored) { e.administer(daemons.DeleteJob, "held") }},
	{name: "an administrator deletes a failed job, and the cleanup", do: func(e *explored) { e.administer(daemons.DeleteJob, "failed"); must(e.world.Clean()) }},
	{name: "an administrator sets a priority", do: func(e *explored) { e.administer(daemons.SetPriority, "pending") }},
	{name: "an administrator removes a pending job by hand", do: (*explored).removeJob},
	{name: "an administrator holds a queue", do: func(e *explored) { _ = e.world.Do(daemons.PauseQueue, string(newqueue.HoldIngest)) }},
	{name: "an administrator lifts the holds on access", do: func(e *explored) { e.lift(newqueue.HoldAccessSmall); e.lift(newqueue.HoldAccessLarge) }},
	{name: "an administrator lifts a hold, and the workers take a turn", do: func(e *explored) { e.lift(newqueue.HoldIngest); turn(e.world.Workers()) }},
	{name: "an administrator replaces a hold", do: func(e *explored) {
		e.lift(newqueue.HoldIngest)
		_ = e.world.Do(daemons.PauseQueue, string(newqueue.HoldIngest))
	}},
	// The operator of another target of the same legacy queue.
	{name: "another target is migrated", do: func(e *explored) { e.other("migrate") }},
	{name: "another target releases", do: func(e *explored) { e.other("release") }},
	{name: "another target is rolled back", do: func(e *explored) { e.other("rollback") }},
	{name: "another target is completed", do: func(e *explored) { e.other("complete") }},
	// Second operators.
	{name: "a second operator migrates", operator: true, do: func(e *explored) { e.second("migrate") }},
	{name: "a second operator releases", operator: true, do: func(e *explored) { e.second("release") }},
	{name: "a second operator rolls back", operator: true, do: func(e *explored) { e.second("rollback") }},
	{name: "a second operator completes", operator: true, do: func(e *explored) { e.second("complete") }},
	{name: "a second operator holds", do: func(e *explored) { e.second("hold") }},
	{name: "the election is removed, and a second operator migrates", do: func(e *explored) { e.noElection(); e.second("migrate") }},
	{name: "the election is removed, and a second operator releases", do: func(e *explored) { e.noElection(); e.second("release") }},
	{name: "the election is removed, and a second operator rolls back", do: func(e *explored) { e.noElection(); e.second("rollback") }},
	{name: "the election is removed, and a second operator completes", do: func(e *explored) { e.noElection(); e.second("complete") }},
}

// act lets an act happen, while an operator's process is stopped in the middle of a command; nil if there is none.
func (e *explored) act(d *deed, stopped *operator) {
	e.say("%s", d.name)
	if d.operator && stopped != nil && e.leads(stopped) {
		e.say("  after the session of the first operator, whose process was stopped, has ended")
		e.endSessions(stopped)
		e.deposed = true
	}
	key := e.key(e.paths[inventory])
	before := e.world.Executions()[key].Times()
	e.reused = ""
	d.do(e)
	if stopped != nil { // the command may have read the record that had the name (docs/life.md, rule 4)
		e.mayBeLost(e.reused)
	}
	if begun := e.turn != nil || e.world.Executions()[key].Times() > before; begun && key != "" && e.key(e.paths[inventory]) != "" {
		e.mayRepeat(e.paths[inventory], key) // the deployed inventory service ignores holds; mrtq asks about it
	}
	e.oneQueue()
}

// What legacy workers and administrators do, as the legacy library does it: with the version that they read.

func (e *explored) status(path string, from, to legacy.Status) bool {
	data, stat, err := e.conn.Get(path)
	if err != nil || len(data) < 9 || legacy.Status(data[0]) != from {
		return false
	}
	data[0] = byte(to)
	binary.BigEndian.PutUint64(data[1:], uint64(time.Now().UnixMilli()))
	_, err = e.conn.Set(path, data, stat.Version)
	return err == nil
}

func (e *explored) set(record int, from, to legacy.Status) bool {
	return e.status(e.paths[record], from, to)
}

func (e *explored) take(record int) bool { return e.set(record, legacy.Pending, legacy.Consumed) }

func (e *explored) finish(path string) {
	key := e.key(path)
	if key != "" && e.status(path, legacy.Consumed, legacy.Completed) {
		e.world.DoneBefore(key)
	}
}

// requeue creates the record again before it marks the old one, as the legacy library does.
func (e *explored) requeue(record int) {
	data, _, err := e.conn.Get(e.paths[record])
	if err == nil && legacy.Status(data[0]) == legacy.Consumed {
		data[0] = byte(legacy.Pending)
		e.create("/ingest/mrtQ-0000", data, zk.FlagSequence)
		e.set(record, legacy.Consumed, legacy.Deleted)
	}
}

// submitAgain makes two records of one key, as the legacy library does after a lost connection. The legacy queue does both.
func (e *explored) submitAgain() {
	path := e.paths[ofBatch]
	data, _, err := e.conn.Get(path)
	if key := e.key(path); err == nil && legacy.Status(data[0]) == legacy.Pending {
		e.create("/ingest/mrtQ-0000", data, zk.FlagSequence)
		e.fates[key] = fate{e.fates[key].least, e.fates[key].most + 1}
	}
}

func (e *explored) clean() { turn(e.world.LegacyWorkers(), "legacy cleanup") }

// lose deletes a record: nobody needs its work any more.
func (e *explored) lose(path string) {
	if key := e.key(path); key != "" && e.conn.Delete(path, -1) == nil {
		e.mayBeLost(key)
	}
}

func (e *explored) rename(record int) {
	data, _, err := e.conn.Get(e.paths[record])
	if err == nil && legacy.Status(data[0]) == legacy.Pending {
		e.create("/ingest/mrtQ-0000", data, zk.FlagSequence)
		must(e.conn.Delete(e.paths[record], -1))
	}
}

func (e *explored) rewrite(record int, from, to string) {
	data, stat, err := e.conn.Get(e.paths[record])
	if err == nil && legacy.Status(data[0]) == legacy.Pending {
		value(e.conn.Set(e.paths[record], bytes.Replace(data, []byte(from), []byte(to), 1), stat.Version))
	}
}

func (e *explored) clear(root string) bool {
	names, _, err := e.conn.Children(root)
	if err != nil {
		return false
	}
	for _, name := range names {
		e.lose(znode.Join(root, name))
	}
	must(e.conn.Delete(root, -1))
	return true
}

// reuseName submits a record to a queue whose numbers are behind, as after a restore of its records.
func (e *explored) reuseName() {
	old := e.paths[ofBatch]
	queue, _, _ := e.conn.Exists(znode.Parent(old))
	if there, _, _ := e.conn.Exists(old); there || !queue {
		return
	}
	id := e.newID()
	path := e.deposited(id, "bid-9", legacy.Pending)
	data, _, _ := e.conn.Get(path)
	must(e.conn.Delete(path, -1))
	e.create(old, data, 0)
	e.reused = "jid-" + id
}

func (e *explored) makeQueues() {
	for _, root := range migration.DefaultQueues().Roots() {
		if there, _, _ := e.conn.Exists(root); !there {
			e.create(root, nil, 0)
		}
	}
}

func (e *explored) lock() {
	data := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))
	_, _ = e.conn.Create("/mrt.lock/ark_6", append(data, "jid-6"...), 0, zk.WorldACL(zk.PermAll))
}

func (e *explored) records() (paths []string) {
	for _, root := range migration.DefaultQueues().Roots() {
		names, _, _ := e.conn.Children(root)
		for _, name := range names {
			paths = append(paths, znode.Join(root, name))
		}
	}
	return paths
}

func (e *explored) finishLegacy() {
	_ = e.conn.Delete("/mrt.lock/ark_6", -1)
	for _, path := range e.records() {
		if !e.dead[path] {
			e.finish(path)
		}
	}
}

func (e *explored) legacyDry() {
	e.finishLegacy()
	for turn(e.world.LegacyWorkers()) {
	}
}

// turn lets workers take a turn, those with these names or all. It reports whether anybody found work.
func turn(workers []*daemons.Actor, names ...string) (worked bool) {
	for _, a := range workers {
		if len(names) == 0 || slices.Contains(names, a.Name) {
			worked = value(a.Step()) || worked
		}
	}
	return worked
}

// What the new queue's workers and administrators do.

// failsNow spares the first step in dialect design, and in the other one after a job was held: nobody can resume a job that has
// failed there.
func (e *explored) failsNow(worker, record string) bool {
	if !e.fails || strings.HasPrefix(worker, "legacy") {
		return false
	}
	for _, j := range e.jobs() {
		if j.key == record && j.state == "pending" && (e.dialect == newqueue.Design || j.last == "held") {
			return false
		}
	}
	return true
}

func (e *explored) steps(n int) {
	for _, a := range e.world.Workers() {
		for n > 0 && value(a.Step()) {
			n--
		}
	}
}

// acquire lets a worker acquire a job, and stops it there. It reports whether any worker found one.
func (e *explored) acquire() bool {
	e.finishTurn()
	e.alone = true
	defer func() { e.alone = false }()
	for _, a := range e.world.Workers() {
		a.Kill() // a new process, with a session of its own
		t := a.Begin()
		for at, more := t.Next(); more; at, more = t.Next() {
			if !strings.HasPrefix(at.Write, "create ") { // folders and locks come before
				e.turn = t
				return true
			}
		}
	}
	return false
}

func (e *explored) finishTurn() {
	if e.turn != nil {
		_, _ = e.turn.Finish()
		e.turn = nil
	}
}

func (e *explored) stopWorkers() {
	for _, a := range e.world.Workers() {
		a.Kill()
		a.Expire()
	}
	e.turn = nil
}

// administer does something with the first job in a state that no worker has locked. The deployed admin tool looks at no lock, so that it can
// leave entries of such a job for good, whether the job was migrated or not (docs/deployed-services.md, "The admin tool").
func (e *explored) administer(a daemons.Action, state string) {
	states := value(e.world.States("/jobs"))
	first := ""
	for jid, s := range states {
		locked, _, err := e.conn.Exists("/jobs/" + jid + "/lock")
		must(err)
		if strings.ToLower(s) == state && !locked && (first == "" || jid < first) {
			first = jid
		}
	}
	if first == "" {
		return
	}
	key := e.jobs()["/jobs/"+first].key
	if err := e.world.Do(a, first); err == nil && a == daemons.DeleteJob {
		e.mayBeLost(key)
	}
}

// removeJob removes a pending job with its entries, as with zkCli. Its work is lost only if the job had it, and not a record.
func (e *explored) removeJob() {
	for job, j := range e.jobs() {
		if j.path != e.paths[ofBatch] || j.state != "pending" {
			continue
		}
		jid := znode.Name(job)
		for n := range e.tree().All("/") {
			if name := znode.Name(n.Path); (name == jid || strings.HasSuffix(name, "-"+jid)) && n.Path != job {
				_ = e.conn.Delete(n.Path, -1)
			}
		}
		e.removeAll(job)
		e.damaged = true
		if e.key(j.path) != j.key {
			e.mayBeLost(j.key)
		}
	}
}

// lift lifts a hold by hand. If records are in both queues then, both can run; and so can a job whose record was done.
func (e *explored) lift(q newqueue.QueueHold) {
	if there, _, _ := e.conn.Exists(newqueue.QueueHoldPath(q)); !there {
		return
	}
	for _, j := range e.jobs() {
		there := e.key(j.path) == j.key
		done := slices.Contains([]string{"pending", "held"}, j.state) && e.world.Executions()[j.key].Times() > 0
		if (there || done || e.otherHas(j.key)) && j.hold == q {
			e.mayRepeat(j.path, j.key)
		}
	}
	must(e.world.Do(daemons.UnpauseQueue, string(q)))
}

func (e *explored) second(what string) {
	o := e.operator()
	defer o.close()
	e.say("  a second operator: %s: %v", what, e.command(e.ctx, o, what).error)
}

func (e *explored) noElection() {
	e.removeAll("/migration/election")
	e.deposed = true
}
