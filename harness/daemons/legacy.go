package daemons

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// These are the workers of the legacy queue, before mrt-zk: the consumers of mrt-ingest
// (7a24e74), mrt-inventory and mrt-store, on cdl-zk-queue's DistributedQueue. A record's
// first byte is its status. A worker takes a record by setting it to consumed, with the
// znode's version, so that only one can. It has no lock: a record whose worker was killed
// stays consumed.

// usualNodes are the legacy queue's nodes, by kind.
var usualNodes = map[string][]string{"ingest": {"/ingest"}, "inventory": {"/mrt.inventory.full"}, "accessSmall": {"/accessSmall.1"}, "accessLarge": {"/accessLarge.1"}}

// consumers returns two consumers for each ingest worker, because each had a second
// one for high priority; one for inventory and for each access queue; and the cleanup.
func (w *World) consumers() []*Actor {
	var all []*Actor
	add := func(name, node string, c legacyqueue.Consumer, work func(*Turn, string, legacy.Record)) {
		a := w.actor("legacy "+name, "", func(t *Turn) { t.consumeLegacy(node, c, work) })
		a.site = &w.Legacy
		all = append(all, a)
	}
	for _, node := range w.LegacyNodes["ingest"] {
		for _, worker := range []string{"0", "1", "2", "3"} {
			add("ingest "+worker, node, legacyqueue.Consumer{Worker: worker}, (*Turn).ingestLegacy)
			add("ingest "+worker+" (high priority)", node, legacyqueue.Consumer{Worker: worker, HighPriority: true}, (*Turn).ingestLegacy)
		}
	}
	for _, node := range w.LegacyNodes["inventory"] {
		add("inventory", node, legacyqueue.Consumer{}, func(t *Turn, record string, _ legacy.Record) {
			t.work("record", record, func(e *Execution) { e.Recorded++ })
		})
	}
	for _, node := range slices.Concat(w.LegacyNodes["accessSmall"], w.LegacyNodes["accessLarge"]) {
		add("access "+node, node, legacyqueue.Consumer{}, func(t *Turn, record string, _ legacy.Record) {
			t.work("assemble", record, func(e *Execution) { e.Assembled++ })
		})
	}
	cleanup := w.actor("legacy cleanup", "", func(t *Turn) { t.removeDone(w.LegacyNodes["ingest"]) }) // it comes every hour
	w.legacyOwn = w.actor("legacy administrator", "", nil)
	cleanup.site, w.legacyOwn.site = &w.Legacy, &w.Legacy
	return append(all, cleanup)
}

// consumeLegacy is one turn of a legacy consumer: it takes the first pending record that
// it may take, works, and sets it to completed or failed. If a record is gone by the time that
// it is read or taken, the next one is tried. If it is gone in the end, the library throws, and
// the consumer logs that. A record that it can't read stays consumed.
func (t *Turn) consumeLegacy(node string, c legacyqueue.Consumer, work func(*Turn, string, legacy.Record)) {
	names, err := t.children(node)
	if err != nil {
		return // there is no queue
	}
	for _, name := range c.Candidates(names) {
		path := node + "/" + name
		data := t.setLegacy(path, legacy.Pending, legacy.Consumed)
		if data == nil {
			continue
		}
		t.did = true
		r, err := legacy.Decode(name, data, legacy.Options{})
		if err != nil {
			return
		}
		record := cmp.Or(LegacyKey(r.Payload), path)
		t.takes(record)
		t.reaches(record, legacy.Consumed.String())
		end := legacy.Completed
		if t.fails(record) || try(func() { work(t, record, r) }) != nil {
			end = legacy.Failed
		}
		if t.setLegacy(path, legacy.Consumed, end) != nil {
			t.reaches(record, end.String())
		}
		return
	}
}

// LegacyKey returns whose work a record is: see [World.Executions]. It is "" if the payload has no
// such key. The services take only a text for a jobID or token. A migration makes a manifest's URL one.
func LegacyKey(p legacy.Payload) string {
	jobID, _ := p["jobID"].(string)
	manifest, _ := p.Text("manifestURL")
	token, _ := p["token"].(string)
	return cmp.Or(jobID, manifest, token)
}

// setLegacy changes a record's status, with the time in milliseconds, and returns the record's
// new bytes. It does nothing and returns nil if the record is gone or has another status, or
// if someone else was faster.
func (t *Turn) setLegacy(path string, from, to legacy.Status) []byte {
	data, stat, err := t.conn().Get(t.root + path)
	if t.check("get", path, err) != nil || len(data) < 9 || legacy.Status(data[0]) != from {
		return nil
	}
	data[0] = byte(to)
	binary.BigEndian.PutUint64(data[1:], uint64(time.Now().UnixMilli()))
	t.before(fmt.Sprintf("set to %s", to), path)
	_, err = t.conn().Set(t.root+path, data, stat.Version)
	if err == zk.ErrBadVersion || t.check("set", path, err) != nil {
		return nil
	}
	return data
}

// ingestLegacy is the work of an ingest consumer: the handlers from HandlerAccept to
// HandlerCleanup, in the same folders as those of the deployed service. It ends with a
// record for inventory.
func (t *Turn) ingestLegacy(record string, legacyRecord legacy.Record) {
	jp := newqueue.Object(legacyRecord.Payload)
	r := requestOf(jp)
	if r.payload(t) == Missing {
		throwf("no folder")
	}
	for _, handler := range []func(*Turn){r.accept, r.verify, r.unpack, r.recognised, r.retrieve} {
		handler(t)
	}
	primary, _ := value(jp, "objectID")
	local, _ := value(jp, "localID")
	ark := t.world.object(primary, local)
	content := r.hasContent(t)
	t.work("store", record, func(e *Execution) { e.stored(content) })
	manifest := "http://store.example.org/manifest/9501/" + url.QueryEscape(ark)
	header := legacy.NewHeader(legacy.Pending, time.Now(), legacy.Milliseconds)
	data, err := legacyqueue.Encode(header, legacy.BeansXML, legacy.Payload{"manifestURL": manifest})
	throw(err)
	if nodes := t.world.LegacyNodes["inventory"]; len(nodes) > 0 {
		t.sequential(nodes[0]+"/mrtQ-00", string(data))
	}
	r.cleanUp(t)
}

func (t *Turn) removeDone(nodes []string) {
	for _, node := range nodes {
		names, _ := t.children(node) // none if there is no queue
		for _, name := range names {
			data := t.peek(node + "/" + name)
			if data == "" {
				continue
			}
			if s := legacy.Status(data[0]); s == legacy.Completed || s == legacy.Deleted {
				t.did = true
				t.delete(node + "/" + name)
			}
		}
	}
}

// Submit adds a record to the legacy queue, and returns its path: the server adds a number to the prefix. The error wraps [zk.ErrNodeExists]
// if there is a record of that name, as there can be after a restore; or a session was lost.
func (w *World) Submit(prefix string, data []byte) (path string, err error) {
	_, err = w.legacyOwn.begin(func(t *Turn) {
		t.err = try(func() { path = znode.Parent(prefix) + "/" + t.sequential(prefix, string(data)) })
	}).Finish()
	return path, err
}

// SweepLegacy removes completed and deleted records of all legacy queues, because a worker looks at all
// records before each step. Only those of ingest have a cleanup.
func (w *World) SweepLegacy() error {
	_, err := w.legacyOwn.begin(func(t *Turn) {
		for _, nodes := range w.LegacyNodes {
			t.removeDone(nodes)
		}
	}).Finish()
	return err
}
