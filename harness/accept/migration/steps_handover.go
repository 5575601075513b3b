package migration

// The steps with legacy workers, and those that say in which queue a record is.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// kept is where the bytes of records are that the first run handed over.
const kept = "/mrtq-handed-over/run0000000000"

// keptAs is where the bytes of a job's record are. Both access queues can have the same ids.
func keptAs(job string) string {
	return kept + "/" + strings.NewReplacer("/jobs/", "", "/access/", "", "/qid", "-qid").Replace(job)
}

// sides are both queues, as the scenario's own session reads them.
type sides struct {
	legacy, new *znode.Tree
	jobs        map[string]string // by the records that were migrated; those of jobs that are there
}

func (w *world) sides() (s sides, err error) {
	s.jobs = map[string]string{}
	if s.legacy, err = w.tree("/legacy"); err != nil {
		return s, err
	}
	if s.new, err = w.tree("/new"); errors.Is(err, zk.ErrNoNode) { // the place of a killed release has just expired
		s.new, err = w.tree("/new")
	}
	if err != nil {
		return s, err
	}
	for job, record := range itemsOf(s.new, "") {
		s.jobs[record] = job
	}
	return s, nil
}

// itemsOf returns the record of each migrated job and request of a new queue in a tree.
func itemsOf(tree *znode.Tree, at string) map[string]string {
	items := map[string]string{}
	for _, folder := range []string{newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		for _, name := range tree.Children(at + folder) {
			if record := recordOf(tree.Get(at + folder + "/" + name)); record != "" {
				items[folder+"/"+name] = record
			}
		}
	}
	return items
}

// inNew: the legacy queue has no migrated record, and the bytes of each are kept by the name of its job.
func (w *world) inNew() error {
	s, err := w.sides()
	if err != nil {
		return err
	}
	if len(s.jobs) == 0 || len(s.jobs) != len(s.legacy.Children(kept)) {
		return fmt.Errorf("%d jobs, and %d records are kept", len(s.jobs), len(s.legacy.Children(kept)))
	}
	for record, job := range s.jobs {
		copied, was := s.legacy.Get(keptAs(job)), w.legacy.Get(record)
		if s.legacy.Get(record) != nil || copied == nil || !bytes.Equal(copied.Data, was.Data) {
			return fmt.Errorf("%s is in the legacy queue: %t; kept for %s: %v", record, s.legacy.Get(record) != nil, job, copied)
		}
	}
	return w.wantCode(0)
}

// inOne: each migrated record is in the legacy queue, or its bytes are kept, and some are here and some there.
func (w *world) inOne() error {
	s, err := w.sides()
	if err != nil {
		return err
	}
	here, there := 0, 0
	for record, job := range s.jobs {
		old, handedOver := s.legacy.Get(record) != nil, s.legacy.Get(keptAs(job)) != nil
		switch {
		case old == handedOver:
			return fmt.Errorf("%s is in the legacy queue: %t, and was handed over: %t", record, old, handedOver)
		case old:
			here++
		default:
			there++
		}
	}
	if here == 0 || there == 0 {
		return fmt.Errorf("%d records are in the legacy queue, and %d in the new one, so the release was not killed halfway", here, there)
	}
	return nil
}

// isIn checks in which queue the scenario's record is: "new", "legacy" or "no".
func (w *world) isIn(queue string) error {
	s, err := w.sides()
	if err != nil {
		return err
	}
	old, job := s.legacy.Get(w.record) != nil, s.jobs[w.record]
	if old != (queue == "legacy") || (job != "") != (queue == "new") {
		return fmt.Errorf("%s is in the legacy queue: %t; its job: %q", w.record, old, job)
	}
	return nil
}

// killRelease kills a release after its first transactions.
func (w *world) killRelease() error {
	_, stat, err := w.conn.Exists(w.root + "/new/migration/runs/run0000000000")
	if err != nil {
		return err
	}
	kill, err := w.midway(commands["releases the queue"], "/new", stat.Version+2)
	if err != nil {
		return err
	}
	killed, err := kill(os.Kill)
	if err == nil && killed.code != -1 {
		err = fmt.Errorf("it was not killed: exit code %d", killed.code)
	}
	return err
}

func (w *world) heldAlone(queue string) error {
	var held []string
	for _, q := range newqueue.QueueHolds {
		there, _, err := w.conn.Exists(w.root + "/new" + newqueue.QueueHoldPath(q))
		if err != nil {
			return err
		}
		if there {
			held = append(held, string(q))
		}
	}
	if got := strings.Join(held, ", "); got != queue {
		return fmt.Errorf("held: %q", got)
	}
	return nil
}

// runLegacy lets the legacy workers work until none finds anything.
func (w *world) runLegacy() error {
	s, err := w.start()
	for did := true; did && err == nil; {
		did = false
		for _, a := range s.LegacyWorkers() {
			one := false
			if one, err = a.Step(); err != nil {
				return err
			}
			did = did || one
		}
	}
	return err
}

// take lets a legacy worker take a record, and stops it there.
func (w *world) take() error {
	s, err := w.start()
	if err != nil {
		return err
	}
	const taking = "set to consumed "
	for _, a := range s.LegacyWorkers() {
		w.working = a.Begin()
		for at, more := w.working.Next(); more; at, more = w.working.Next() {
			if path, takes := strings.CutPrefix(at.Write, taking); takes {
				w.record = path
				w.working.Next()
				return nil
			}
		}
	}
	return errors.New("no legacy worker found a record")
}

func (w *world) finishes() error {
	_, err := w.working.Finish()
	return err
}

// begin lets Initialize take a job. It is in a later state then, and nobody works on it.
func (w *world) begin() error {
	s, err := w.start()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Workers(), func(a *daemons.Actor) bool { return a.Name == string(services.Initialize) })
	if did, err := s.Workers()[i].Step(); err != nil || !did {
		return fmt.Errorf("it took nothing: %w", err)
	}
	for job := range s.Took {
		w.record = w.items[job]
	}
	return nil
}

// gaveBack: the records of the other jobs that were there before the last command are in the legacy queue as they
// were written, and these jobs are gone.
func (w *world) gaveBack() error {
	s, err := w.sides()
	if err != nil {
		return err
	}
	before := itemsOf(w.before, "/new")
	if len(before) < 10 {
		return fmt.Errorf("there were %d jobs before", len(before))
	}
	for _, record := range slices.Sorted(maps.Values(before)) {
		if record == w.record {
			continue
		}
		was, is := w.legacy.Get(record), s.legacy.Get(record)
		if is == nil || !bytes.Equal(was.Data, is.Data) || s.jobs[record] != "" {
			return fmt.Errorf("%s is %v, and was %v; its job: %q", record, is, was, s.jobs[record])
		}
	}
	return w.wantCode(0)
}

// doneOnce: whoever did it.
func (w *world) doneOnce() error {
	done := w.services.Executions()
	for n := range w.legacy.All("/") {
		r, err := legacy.Decode(znode.Name(n.Path), n.Data, legacy.Options{})
		if err != nil || r.Header.Status != legacy.Pending {
			continue
		}
		if e := done[daemons.LegacyKey(r.Payload)]; e.Times() != 1 {
			return fmt.Errorf("the work of %s was done %d times: %+v", n.Path, e.Times(), e)
		}
	}
	return nil
}

func (w *world) nothingKept() error {
	there, _, err := w.conn.Exists(w.root + "/legacy" + znode.Parent(kept))
	if err == nil && there {
		err = errors.New("the folder of kept records is there")
	}
	return all(err, w.wantCode(0))
}

func (w *world) deleteRecord(path string) error {
	w.record = path
	return w.conn.Delete(w.root+"/legacy"+path, -1)
}
