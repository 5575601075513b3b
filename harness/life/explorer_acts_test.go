package life_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// deed is something that somebody else does. It does nothing if what it is about is not there.
type deed struct {
	name string
	do   func(*explored)
	// operator says that a second operator does it, who has to wait while the first one leads.
	operator bool
	// early is what comes before the command, in the middle of a turn.
	early func(*explored)
}

// fill creates the legacy queue, and something that nobody may touch.
func (e *explored) fill() {
	e.truth = truth{fates: map[string]fate{}, dead: map[string]bool{}, loose: map[string]bool{}}
	for i, r := range []struct {
		batch  string
		status legacy.Status
	}{{"bid-1", legacy.Pending}, {"bid-1", legacy.Pending}, {"bid-1", legacy.Held}, {"bid-2", legacy.Failed}, {"bid-2", legacy.Completed}, {"bid-3", legacy.Consumed}} {
		e.paths = append(e.paths, e.submitted(fmt.Sprint(i+1), r.batch, r.status))
	}
	for _, root := range []string{"/mrt.inventory.full", "/accessSmall.1", "/accessLarge.1"} {
		e.paths = append(e.paths, e.submitted(root, "", legacy.Pending))
	}
	e.bytes = map[string][]byte{}
	for _, path := range e.paths {
		e.bytes[path], _, _ = e.conn.Get(path)
	}
	e.create("/foreign", []byte("of somebody else"), 0)
	e.create("/mrt.lock/ark_1", nil, 0)
	e.removeAll("/mrt.lock/ark_1")
}

// submitted submits a record. Its batch is "" if it is not for ingest.
func (e *explored) submitted(id, batch string, status legacy.Status) string {
	root, key := "/ingest/mrtQ-0000", "jid-"+id
	payload := legacy.Payload{"batchID": batch, "jobID": key, "profile": "merritt_content", "type": "file", "filename": id + ".zip",
		"update": false, "submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id, "title": "Title of " + id, "creator": "Someone"}
	switch {
	case batch == "" && strings.HasPrefix(id, "/mrt.inventory"):
		root, key = "/mrt.inventory.full/mrtQ-00", "http://store.example.org/manifest/1/ark%3A%2F99999%2F"+strings.ReplaceAll(id, "/", "")
		payload = legacy.Payload{"manifestURL": key}
	case batch == "":
		root, key = id[:strings.LastIndex(id, ".1")+2]+"/mrtQ-00", "token-"+id
		payload = legacy.Payload{"token": key, "cloud-content-byte": json.Number("5"), "delivery-node": json.Number("7"), "status": json.Number("201")}
	}
	e.fates[key] = fate{1, 1}
	if status == legacy.Completed || status == legacy.Deleted {
		e.fates[key] = fate{0, 0}
	}
	data := value(legacy.Encode(legacy.NewHeader(status, time.Now(), legacy.Milliseconds), legacy.JSON, payload))
	return e.create(root, data, zk.FlagSequence)
}

// deeds are all acts.
var deeds = []deed{
	// Legacy workers.
	{name: "a legacy worker takes a record", do: func(e *explored) { e.take(e.paths[0]) }},
	{name: "a legacy worker does a record", do: func(e *explored) { e.take(e.paths[0]); e.finish(e.paths[0]) }},
	{name: "a legacy worker does a record, and cleans up", do: func(e *explored) { e.take(e.paths[0]); e.finish(e.paths[0]); e.clean() }},
	{name: "a legacy worker fails a record", do: func(e *explored) { e.take(e.paths[0]); e.status(e.paths[0], legacy.Consumed, legacy.Failed) }},
	{name: "a legacy worker takes a record and requeues it", do: func(e *explored) { e.take(e.paths[0]); e.requeue(e.paths[0]) }},
	{name: "a legacy worker takes a record and dies", do: func(e *explored) {
		if e.take(e.paths[1]) {
			e.dead[e.paths[1]] = true
			e.allow(e.paths[1], 0, 1)
		}
	}},
	{name: "a legacy worker finishes", do: func(e *explored) { e.finish(e.paths[5]) }},
	{name: "a legacy worker finishes, and cleans up", do: func(e *explored) { e.finish(e.paths[5]); e.clean() }},
	{name: "a legacy worker fails", do: func(e *explored) { e.status(e.paths[5], legacy.Consumed, legacy.Failed) }},
	{name: "a legacy worker requeues", do: func(e *explored) { e.requeue(e.paths[5]) }},
	{name: "legacy inventory takes its record", do: func(e *explored) { e.take(e.paths[6]) }},
	{name: "legacy inventory does its record", do: func(e *explored) { e.take(e.paths[6]); e.finish(e.paths[6]) }},
	{name: "a legacy access worker takes a request", do: func(e *explored) { e.take(e.paths[7]) }},
	{name: "a legacy access worker does a small request", do: func(e *explored) { e.take(e.paths[7]); e.finish(e.paths[7]) }},
	{name: "a legacy access worker does a large request", do: func(e *explored) { e.take(e.paths[8]); e.finish(e.paths[8]) }},
	{name: "each legacy worker takes a turn", do: (*explored).legacyTurns},
	{name: "the legacy workers do everything", do: (*explored).legacyDry},
	{name: "the legacy cleanup", do: (*explored).clean},
	// Submitters.
	{name: "a record is submitted", do: func(e *explored) { e.submitted("20", "bid-1", legacy.Pending) }},
	{name: "a record of a new batch is submitted", do: func(e *explored) { e.submitted("21", "bid-9", legacy.Pending) }},
	{name: "a request is submitted", do: func(e *explored) { e.submitted("/accessSmall.1/22", "", legacy.Pending) }},
	{name: "an inventory record is submitted", do: func(e *explored) { e.submitted("/mrt.inventory.full/23", "", legacy.Pending) }},
	// Administrators of the legacy queue.
	{name: "a legacy administrator holds a record", do: func(e *explored) { e.status(e.paths[0], legacy.Pending, legacy.Held) }},
	{name: "a legacy administrator releases a held record", do: func(e *explored) { e.status(e.paths[2], legacy.Held, legacy.Pending) }},
	{name: "a legacy administrator requeues a failed record", do: func(e *explored) { e.status(e.paths[3], legacy.Failed, legacy.Pending) }},
	{name: "a legacy administrator marks a record as deleted", do: func(e *explored) {
		if e.status(e.paths[0], legacy.Pending, legacy.Deleted) {
			e.allow(e.paths[0], 0, 1)
		}
	}},
	{name: "a legacy administrator deletes a record", do: func(e *explored) { e.lose(e.paths[0]) }},
	{name: "a legacy administrator deletes a failed record", do: func(e *explored) { e.lose(e.paths[3]) }},
	{name: "a legacy administrator deletes a completed record", do: func(e *explored) { e.lose(e.paths[4]) }},
	{name: "a legacy administrator renames a record", do: func(e *explored) { e.rename(e.paths[0]) }},
	{name: "a legacy administrator writes a record as it is", do: func(e *explored) { e.rewrite(e.paths[0], func(b []byte) []byte { return b }) }},
	{name: "a legacy administrator changes a record", do: func(e *explored) {
		e.rewrite(e.paths[0], func(b []byte) []byte { return bytes.Replace(b, []byte("Someone"), []byte("Another"), 1) })
	}},
	{name: "a legacy administrator clears a queue", do: func(e *explored) { e.clear("/accessSmall.1", false) }},
	{name: "a legacy administrator clears a queue, and makes it again", do: func(e *explored) { e.clear("/ingest", true) }},
	{name: "a legacy administrator restores a record", do: func(e *explored) {
		if there, _, _ := e.conn.Exists(e.paths[0]); !there && e.bytes[e.paths[0]] != nil {
			if _, err := e.conn.Create(e.paths[0], e.bytes[e.paths[0]], 0, zk.WorldACL(zk.PermAll)); err == nil {
				e.allow(e.paths[0], 1, 2)
			}
		}
	}},
	{name: "a legacy worker locks an object", do: func(e *explored) { e.lock("jid-6") }},
	{name: "a legacy worker unlocks an object", do: func(e *explored) { _ = e.conn.Delete("/mrt.lock/ark_6", -1) }},
	{name: "somebody deletes kept bytes", do: func(e *explored) { e.removeAll("/mrtq-handed-over") }},
	// The new queue.
	{name: "a worker acquires a job", do: func(e *explored) { e.acquire() }},
	{name: "a worker acquires a job, and its session ends", do: func(e *explored) {
		if a := e.acquire(); a != nil {
			a.Kill()
			a.Expire()
			e.turn = nil
		}
	}},
	{name: "a worker does one step", do: func(e *explored) { e.newWorkers(1) }},
	{name: "a worker fails a job", do: func(e *explored) {
		e.newTurns() // in dialect design a job of which no step has succeeded can't be requeued
		e.fails = true
		e.newTurns()
		e.fails = false
	}},
	{name: "each worker takes a turn", do: (*explored).newTurns},
	{name: "the workers do everything", do: func(e *explored) { must(e.world.Run()) }},
	{name: "the workers do everything, and the cleanup", do: func(e *explored) { must(e.world.Run()); must(e.world.Clean()) }},
	{name: "the reporter", do: func(e *explored) { e.turnOf("report", "BatchReport", "watcher") }},
	{name: "the cleanup", do: func(e *explored) { must(e.world.Clean()) }},
	{name: "inventory", do: func(e *explored) { e.turnOf("recording", "Inventory", "Record") }},
	{name: "an access worker that has looked for holds before does a request", early: (*explored).look, do: func(e *explored) {
		if e.turn != nil {
			_, _ = e.turn.Finish()
			e.turn = nil
		}
	}},
	{name: "an access worker", do: func(e *explored) { e.turnOf("access large", "Access") }},
	// Administrators of the new queue.
	{name: "an administrator holds a job", do: func(e *explored) { e.administer(daemons.HoldJob, "pending") }},
	{name: "an administrator releases a job", do: func(e *explored) { e.administer(daemons.ReleaseJob, "held") }},
	{name: "an administrator requeues a job", do: func(e *explored) { e.administer(daemons.RequeueJob, "failed") }},
	{name: "an administrator deletes a held job", do: func(e *explored) { e.administer(daemons.DeleteJob, "held") }},
	{name: "an administrator deletes a failed job", do: func(e *explored) { e.administer(daemons.DeleteJob, "failed") }},
	{name: "an administrator deletes a failed job, and the cleanup", do: func(e *explored) { e.administer(daemons.DeleteJob, "failed"); must(e.world.Clean()) }},
	{name: "an administrator sets a priority", do: func(e *explored) { e.administer(daemons.SetPriority, "pending") }},
	{name: "an administrator removes a pending job by hand", do: (*explored).removeJob},
	{name: "an administrator holds a queue", do: func(e *explored) { _ = e.world.Do(daemons.PauseQueue, string(newqueue.HoldIngest)) }},
	{name: "an administrator lifts a hold", do: func(e *explored) { e.lift(newqueue.HoldIngest) }},
	{name: "an administrator lifts the holds on access", do: func(e *explored) { e.lift(newqueue.HoldAccessSmall); e.lift(newqueue.HoldAccessLarge) }},
	{name: "an administrator lifts a hold, and the workers take a turn", do: func(e *explored) { e.lift(newqueue.HoldIngest); e.newTurns() }},
	{name: "an administrator replaces a hold", do: func(e *explored) {
		e.lift(newqueue.HoldIngest)
		_ = e.world.Do(daemons.PauseQueue, string(newqueue.HoldIngest))
	}},
	// Second operators.
	{name: "a second operator migrates", operator: true, do: func(e *explored) { e.second("migrate") }},
	{name: "a second operator releases", operator: true, do: func(e *explored) { e.second("release") }},
	{name: "a second operator releases access", operator: true, do: func(e *explored) { e.second("release access") }},
	{name: "a second operator rolls back", operator: true, do: func(e *explored) { e.second("rollback") }},
	{name: "a second operator completes", operator: true, do: func(e *explored) { e.second("complete") }},
	{name: "a second operator holds", do: func(e *explored) { e.second("hold") }},
	{name: "the election is removed", do: (*explored).noElection},
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
	}
	inventory := e.key(e.paths[6])
	before := e.world.Executions()[inventory].Times()
	d.do(e)
	if inventory != "" && e.key(e.paths[6]) != "" && e.world.Executions()[inventory].Times() > before {
		e.allow(e.paths[6], 1, 2) // the deployed inventory service ignores holds; mrtq asks about it
	}
	e.oneQueue()
}

// What legacy workers and administrators do, as the legacy library does it.

// status sets a record to another status, with its version, as a legacy worker does.
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

func (e *explored) take(path string) bool { return e.status(path, legacy.Pending, legacy.Consumed) }

// finish does the work of a consumed record.
func (e *explored) finish(path string) {
	key := e.key(path)
	if key != "" && e.status(path, legacy.Consumed, legacy.Completed) {
		e.world.DoneBefore(key)
	}
}

// requeue is that of the legacy library: it creates the record again before it marks the old one.
func (e *explored) requeue(path string) {
	data, _, err := e.conn.Get(path)
	if err != nil || legacy.Status(data[0]) != legacy.Consumed {
		return
	}
	data[0] = byte(legacy.Pending)
	e.create(path[:len(path)-10], data, zk.FlagSequence)
	e.status(path, legacy.Consumed, legacy.Deleted)
}

func (e *explored) clean() {
	for _, a := range e.world.LegacyWorkers() {
		if a.Name == "legacy cleanup" {
			_, err := a.Step()
			must(err)
		}
	}
}

// lose deletes a record: nobody needs its work any more.
func (e *explored) lose(path string) {
	key := e.key(path)
	if key != "" && e.conn.Delete(path, -1) == nil {
		f := e.fates[key]
		e.fates[key] = fate{0, f.most}
	}
}

func (e *explored) rename(path string) {
	data, _, err := e.conn.Get(path)
	if err == nil && legacy.Status(data[0]) == legacy.Pending {
		e.create(path[:len(path)-10], data, zk.FlagSequence)
		must(e.conn.Delete(path, -1))
	}
}

func (e *explored) rewrite(path string, change func([]byte) []byte) {
	data, stat, err := e.conn.Get(path)
	if err == nil && legacy.Status(data[0]) == legacy.Pending {
		_, err = e.conn.Set(path, change(data), stat.Version)
		must(err)
	}
}

func (e *explored) clear(root string, again bool) {
	names, _, err := e.conn.Children(root)
	if err != nil {
		return
	}
	for _, name := range names {
		e.lose(znode.Join(root, name))
	}
	must(e.conn.Delete(root, -1))
	if again {
		e.create(root, nil, 0)
	}
}

func (e *explored) lock(jid string) {
	data := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))
	if there, _, _ := e.conn.Exists("/mrt.lock"); there {
		_, _ = e.conn.Create("/mrt.lock/ark_6", append(data, jid...), 0, zk.WorldACL(zk.PermAll))
	}
}

func (e *explored) legacyTurns() {
	for _, a := range e.world.LegacyWorkers() {
		_, err := a.Step()
		must(err)
	}
}

// legacyDry lets the legacy workers work until nothing is left for them.
func (e *explored) legacyDry() {
	e.finishLegacy()
	for worked := true; worked; {
		worked = false
		for _, a := range e.world.LegacyWorkers() {
			did, err := a.Step()
			must(err)
			worked = worked || did
		}
	}
}

// finishLegacy lets each legacy worker finish what it has.
func (e *explored) finishLegacy() {
	_ = e.conn.Delete("/mrt.lock/ark_6", -1)
	for _, root := range migrate.DefaultQueues().Roots() {
		names, _, _ := e.conn.Children(root)
		for _, name := range names {
			if path := znode.Join(root, name); !e.dead[path] {
				e.finish(path)
			}
		}
	}
}

// What the new queue's workers and administrators do.

func (e *explored) failsNow(worker, _ string) bool {
	return e.fails && !strings.HasPrefix(worker, "legacy")
}

// newWorkers lets the workers do so many steps.
func (e *explored) newWorkers(steps int) {
	for _, a := range e.world.Workers() {
		for steps > 0 {
			if did, err := a.Step(); err != nil || !did {
				break
			}
			steps--
		}
	}
}

func (e *explored) newTurns() {
	for _, a := range e.world.Workers() {
		_, _ = a.Step()
	}
}

func (e *explored) turnOf(names ...string) {
	for _, a := range e.world.Workers() {
		if slices.Contains(names, a.Name) {
			_, _ = a.Step()
		}
	}
}

// newDry lets the workers work until nothing is left for them.
func (e *explored) newDry() {
	if e.turn != nil {
		_, _ = e.turn.Finish()
		e.turn = nil
	}
	must(e.world.Run())
}

// look lets an access worker of the deployed services look for holds, and find a request.
func (e *explored) look() {
	e.alone = true
	defer func() { e.alone = false }()
	for _, a := range e.world.Workers() {
		if a.Name == "Access (small)" {
			e.turn = a.Begin()
			if _, more := e.turn.Next(); !more {
				e.turn = nil
			}
		}
	}
}

// acquire lets a worker acquire a job, and not go on; nil if none finds any.
func (e *explored) acquire() *daemons.Actor {
	e.alone = true
	defer func() { e.alone = false }()
	for _, a := range e.world.Workers() {
		turn := a.Begin()
		for {
			at, more := turn.Next()
			if !more {
				break
			}
			if !strings.HasPrefix(at.Write, "create ") { // folders and locks come before
				e.turn = turn
				return a
			}
		}
	}
	return nil
}

// administer does something with the first job in a state.
func (e *explored) administer(a daemons.Action, state string) {
	states := value(e.world.States("/jobs"))
	var jids []string
	for jid, s := range states {
		if strings.ToLower(s) == state {
			jids = append(jids, jid)
		}
	}
	if len(jids) == 0 {
		return
	}
	key := e.keyOf("/jobs/" + slices.Min(jids))
	if err := e.world.Do(a, slices.Min(jids)); err == nil && a == daemons.DeleteJob {
		e.fates[key] = fate{0, e.fates[key].most}
	}
}

// removeJob removes a pending job with its entries, as with zkCli.
func (e *explored) removeJob() {
	for job, j := range e.jobs() {
		if j.path == e.paths[0] && j.state == "pending" {
			jid := znode.Name(job)
			for n := range e.tree().All("/") {
				if name := znode.Name(n.Path); (name == jid || strings.HasSuffix(name, "-"+jid)) && n.Path != job {
					_ = e.conn.Delete(n.Path, -1)
				}
			}
			e.removeAll(job)
			e.fates[j.key] = fate{0, e.fates[j.key].most}
		}
	}
}

// lift lifts a hold by hand. If records are in both queues then, both can run.
func (e *explored) lift(q newqueue.QueueHold) {
	if there, _, _ := e.conn.Exists(newqueue.QueueHoldPath(q)); !there {
		return
	}
	for _, j := range e.jobs() {
		if there, _, _ := e.conn.Exists(j.path); there && j.hold == q {
			e.allow(j.path, e.fates[j.key].least, 2)
			e.loose[j.path] = true
		}
	}
	must(e.world.Do(daemons.UnpauseQueue, string(q)))
}

// second is another operator's command.
func (e *explored) second(what string) {
	o := e.operator()
	defer o.close()
	e.say("  a second operator: %s: %v", what, e.command(o, what))
}

// noElection removes the places of those who wait for their turn or have it.
func (e *explored) noElection() { e.removeAll("/migration/election") }
