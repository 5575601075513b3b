package life_test

import (
	"encoding/json"
	"fmt"
	"maps"
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

// others are all who are not operators: workers, services, administrators, depositors.
type others struct {
	*oracle
	turns     map[*daemons.Actor]*openTurn
	submitted int             // how many records were submitted
	fails     map[string]bool // the work on these records fails once
}

// openTurn is a turn that was stopped before a write.
type openTurn struct {
	*daemons.Turn
	before map[string]int // how often the actor had taken each record's work before
}

// act is something that somebody does. What exactly depends on three numbers and on what is
// there when it happens.
type act struct {
	kind       string
	who, a, b  int
	everywhere bool
}

// acts are all acts, each as often as it should happen.
var acts = map[string]func(*others, act){
	"a worker":                   func(o *others, a act) { o.turn(pick(o.world.Workers(), a.who), a.a%12) },
	"a worker again":             func(o *others, a act) { o.turn(pick(o.world.Workers(), a.who), a.a%12) },
	"the workers":                (*others).workers,
	"the workers again":          (*others).workers,
	"a worker is killed":         (*others).kill,
	"a worker's session expires": (*others).expire,
	"the work on a record fails": (*others).fail,
	"the cleanup":                func(o *others, a act) { o.turn(o.world.Cleanup(), a.a%12) },
	"an administrator":           (*others).administrator,
	"an administrator again":     (*others).administrator,
	"a legacy worker":            (*others).legacyWorker,
	"the legacy workers":         (*others).legacyWorkers,
	"a legacy administrator":     (*others).legacyAdministrator,
	"a depositor":                (*others).submit,
	"a person holds a queue":     (*others).hold,
}

func (o *others) do(a act) {
	acts[a.kind](o, a)
	o.observe()
}

func pick[T any](from []T, i int) T { return from[i%len(from)] }

// turn lets a worker go on with its turn, or begin one, until so many writes are done; 0 is
// the whole turn.
func (o *others) turn(actor *daemons.Actor, writes int) {
	t := o.turns[actor]
	if t == nil {
		t = &openTurn{actor.Begin(), o.taken(actor)}
		o.turns[actor] = t
	}
	for n := 0; writes == 0 || n < writes; n++ {
		at, more := t.Next()
		if !more || at.Waits != "" {
			delete(o.turns, actor)
			break
		}
		if n == writes-1 {
			o.say("%s stops before: %s", actor.Name, at.Write)
		}
	}
}

// taken is how often an actor has taken each record's work.
func (o *others) taken(actor *daemons.Actor) map[string]int {
	all := map[string]int{}
	for key, e := range o.world.Executions() {
		for _, name := range e.Workers {
			if name == actor.Name {
				all[key]++
			}
		}
	}
	return all
}

// holdOf is the hold on the queue that a legacy record is migrated to.
func holdOf(path string) newqueue.QueueHold {
	for kind, roots := range migrate.DefaultQueues().Nodes {
		if slices.Contains(roots, znode.Parent(path)) {
			return kind.Hold()
		}
	}
	return newqueue.HoldIngest
}

// workers lets all workers take a few turns.
func (o *others) workers(a act) {
	o.say("the workers take %d turns each", 1+a.a%4)
	for range 1 + a.a%4 {
		for _, actor := range o.world.Workers() {
			o.turn(actor, 0)
		}
	}
}

// stopped is a worker that has stopped before a write; nil if there is none.
func (o *others) stopped(i int) *daemons.Actor {
	var all []*daemons.Actor
	for _, actor := range slices.Concat(o.world.Workers(), o.world.LegacyWorkers(), []*daemons.Actor{o.world.Cleanup()}) {
		if o.turns[actor] != nil {
			all = append(all, actor)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(all, i)
}

// disturb notes that a worker does not finish what it has begun as it should.
func (o *others) disturb(actor *daemons.Actor) {
	if t := o.turns[actor]; t != nil {
		for key, n := range o.taken(actor) {
			for _, r := range o.of(key) {
				r.free = r.free || n > t.before[key]
			}
		}
	}
}

func (o *others) kill(a act) {
	if actor := o.stopped(a.who); actor != nil {
		o.say("%s is killed", actor.Name)
		o.disturb(actor)
		actor.Kill()
		actor.Expire()
		delete(o.turns, actor)
	}
}

func (o *others) expire(a act) {
	if actor := o.stopped(a.who); actor != nil {
		o.say("the session of %s expires, and it works on", actor.Name)
		o.disturb(actor)
		actor.Expire()
	}
}

func (o *others) fail(a act) {
	if len(o.records) > 0 {
		o.fails[pick(o.records, a.who).key] = true
	}
}

// fail once: see [daemons.Options.Fails].
func (o *others) failsNow(_, key string) bool {
	fails := o.fails[key]
	delete(o.fails, key)
	return fails
}

func (o *others) legacyWorker(a act) {
	actor := pick(o.world.LegacyWorkers(), a.who)
	o.say("%s", actor.Name)
	o.turn(actor, a.a%6)
}

func (o *others) legacyWorkers(act) {
	o.say("the legacy workers take a turn each")
	for _, actor := range o.world.LegacyWorkers() {
		o.turn(actor, 0)
	}
}

// administrator does something that the admin tool offers.
func (o *others) administrator(a act) {
	type offer struct {
		action daemons.Action
		item   string
	}
	var possible []offer
	for _, state := range []struct {
		folder  string
		actions map[string][]daemons.Action
	}{
		{"/jobs", map[string][]daemons.Action{"pending": {daemons.HoldJob, daemons.SetPriority},
			"held":   {daemons.ReleaseJob, daemons.DeleteJob, daemons.SetPriority},
			"failed": {daemons.RequeueJob, daemons.DeleteJob, daemons.SetPriority}}},
		{"/batches", map[string][]daemons.Action{"failed": {daemons.UpdateReport, daemons.DeleteBatch}, "held": {daemons.DeleteBatch}}},
		{"/access/small", map[string][]daemons.Action{"failed": {daemons.RequeueRequest, daemons.DeleteRequest}}},
		{"/access/large", map[string][]daemons.Action{"failed": {daemons.RequeueRequest, daemons.DeleteRequest}}},
	} {
		states := value(o.world.States(state.folder))
		for _, id := range slices.Sorted(maps.Keys(states)) {
			item := id
			if strings.HasPrefix(state.folder, "/access") {
				item = state.folder + "/" + id
			}
			for _, action := range state.actions[strings.ToLower(states[id])] {
				possible = append(possible, offer{action, item})
			}
		}
	}
	for _, h := range newqueue.QueueHolds {
		possible = append(possible, offer{daemons.PauseQueue, string(h)}, offer{daemons.UnpauseQueue, string(h)})
	}
	chosen := pick(possible, a.who)
	if chosen.action == daemons.UnpauseQueue {
		o.unpause(newqueue.QueueHold(chosen.item))
	}
	o.decide(chosen.action, chosen.item)
	o.say("an administrator: %s %s", chosen.action, chosen.item)
	_ = o.world.Do(chosen.action, chosen.item) // the tool may refuse it
}

// unpause notes that somebody lifts a hold by hand: records with jobs there can run in both queues, and so can jobs whose
// records legacy workers have done.
func (o *others) unpause(q newqueue.QueueHold) {
	tree := o.tree()
	for path := range o.jobs() {
		// The large worker takes small requests too.
		same := holdOf(path) == q || holdOf(path) != newqueue.HoldIngest && q != newqueue.HoldIngest
		r := o.at(path)
		if same && (tree.Get(path) != nil || o.times(r) > o.timesNew(r)) && tree.Get(newqueue.QueueHoldPath(q)) != nil {
			r.twice = "a hold was lifted by hand"
		}
	}
}

// decide notes what an administrator decides about records.
func (o *others) decide(action daemons.Action, item string) {
	tree := o.tree()
	for path, jobs := range o.jobs() {
		r := o.at(path)
		for _, job := range jobs {
			bid := "none"
			if n := tree.Get(job + "/bid"); n != nil {
				bid = string(n.Data)
			}
			if job != item && znode.Name(job) != item && bid != item {
				continue
			}
			r.free = r.free || tree.Get(job+"/lock") != nil
			switch action {
			case daemons.DeleteJob, daemons.DeleteRequest, daemons.DeleteBatch:
				r.over = true
			case daemons.ReleaseJob:
				r.waits, r.released = false, true
			case daemons.RequeueJob, daemons.RequeueRequest:
				r.waits, r.released = false, true
				if strings.Contains(string(tree.Get(job+"/status").Data), "was consumed") {
					r.twice = "the job's own message said so"
				}
				if n := tree.Get(path); n != nil && len(n.Data) > 0 && legacy.Status(n.Data[0]) != legacy.Failed {
					r.twice = "the record was requeued, too, or runs"
				}
			}
		}
	}
}

// legacyAdministrator sets a record to another status.
func (o *others) legacyAdministrator(a act) {
	if len(o.records) == 0 {
		return
	}
	r, to := pick(o.records, a.who), pick([]legacy.Status{legacy.Held, legacy.Pending, legacy.Deleted, legacy.Failed}, a.a)
	data, _, err := o.conn.Get(r.path)
	if err != nil || len(data) == 0 || legacy.Status(data[0]) == legacy.Completed || o.world.SetLegacy(r.path, to) != nil {
		return
	}
	o.say("a legacy administrator sets %s to %s", r.path, to)
	r.free = r.free || legacy.Status(data[0]) == legacy.Consumed
	r.over = r.over || to == legacy.Deleted
}

// submit adds a record to the legacy queue. Depositors do that even while it is migrated.
func (o *others) submit(a act) {
	o.submitted++
	id := fmt.Sprintf("%d", o.submitted)
	status := pick([]legacy.Status{legacy.Pending, legacy.Pending, legacy.Pending, legacy.Held, legacy.Failed, legacy.Completed, legacy.Deleted,
		legacy.Consumed}, a.a) // a worker took it and died
	var root string
	var payload legacy.Payload
	switch a.who % 8 {
	case 6:
		root, payload = "/mrt.inventory.full/mrtQ-00", legacy.Payload{"manifestURL": "http://store.example.org/manifest/1/ark%3A%2F99999%2F" + id}
	case 7:
		root = pick([]string{"/accessSmall.1/mrtQ-00", "/accessLarge.1/mrtQ-00"}, a.b)
		payload = legacy.Payload{"token": "token-" + id, "cloud-content-byte": json.Number("5"),
			"delivery-node": json.Number("7"), "status": json.Number("201")}
	default:
		root = fmt.Sprintf("/ingest/mrtQ-%02d0%d", a.b%3, a.b%2)
		payload = legacy.Payload{"batchID": fmt.Sprintf("bid-%d", a.b%3), "jobID": "jid-" + id, "profile": "merritt_content", "type": "file",
			"filename": id + ".zip",
			"update":   false, "submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id, "title": "Title of " + id, "creator": "Someone"}
		if a.b%8 == 6 { // in dialect mrt-zk no service can work on it
			delete(payload, "profile")
		}
	}
	data := value(legacy.Encode(legacy.NewHeader(status, time.Now(), legacy.Milliseconds), legacy.JSON, payload))
	if a.b%16 == 15 {
		data = data[:len(data)-1]
	}
	path := o.create(root, data, zk.FlagSequence)
	o.say("a depositor adds %s, %s", path, status)
	if status == legacy.Consumed {
		o.observe()
		o.at(path).never = "its legacy worker died"
	}
}

func (o *others) hold(a act) {
	queue := pick(newqueue.QueueHolds, a.who)
	o.say("a person holds %s", queue)
	w := o.open(o.zk.Dial)
	_, _ = migrate.Hold(o.ctx, w, migrate.HoldOptions{Queues: []newqueue.QueueHold{queue}, By: "a person", Why: "to look"}) // there may be no queue
	w.Close()
}
