package migration

// The steps with legacy workers, and those that say in which queue a record is.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// keptRoot has a folder for each run, with the bytes of the records that it handed over.
const keptRoot = "/mrtq-handed-over"

type sides struct {
	legacy *znode.Tree
	jobs   map[string]string // of the migrated records whose jobs are there
}

func (w *world) sides() (s sides, err error) {
	s.jobs = map[string]string{}
	if s.legacy, err = w.tree("/legacy"); err != nil {
		return s, err
	}
	tree, err := w.tree("/new")
	if errors.Is(err, zk.ErrNoNode) { // the place of a killed release has just expired
		tree, err = w.tree("/new")
	}
	if err != nil {
		return s, err
	}
	for job, record := range itemsOf(tree, "") {
		s.jobs[record] = job
	}
	return s, nil
}

func itemsOf(tree *znode.Tree, at string) map[string]string {
	items := map[string]string{}
	for _, folder := range []string{newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		for _, name := range tree.Children(at + folder) {
			var from struct{ Path string } // a migrated one holds where it is from
			if json.Unmarshal(tree.Get(at+folder+"/"+name).Data, &from) == nil && from.Path != "" {
				items[folder+"/"+name] = from.Path
			}
		}
	}
	return items
}

func (s sides) kept() string {
	for _, name := range s.legacy.Children(keptRoot) {
		if strings.HasPrefix(name, "run0000000000-") {
			return keptRoot + "/" + name
		}
	}
	return keptRoot
}

// keptOf returns the bytes that are kept of a record, which have the name of its job. Both access queues can
// have the same ids.
func (s sides) keptOf(record string) *znode.Node {
	return s.legacy.Get(s.kept() + "/" + strings.NewReplacer("/jobs/", "", "/access/", "", "/qid", "-qid").Replace(s.jobs[record]))
}

func (w *world) handedOver() (here, there int, err error) {
	s, err := w.sides()
	if err != nil {
		return 0, 0, err
	}
	for record := range s.jobs {
		old, copied := s.legacy.Get(record), s.keptOf(record)
		switch {
		case (old == nil) == (copied == nil) || copied != nil && !bytes.Equal(copied.Data, w.legacy.Get(record).Data):
			return 0, 0, fmt.Errorf("%s in the legacy queue: %v, and kept: %v", record, old, copied)
		case old != nil:
			here++
		default:
			there++
		}
	}
	return here, there, equal("records are kept", len(s.legacy.Children(s.kept())), there)
}

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
	for _, record := range before {
		was, is := w.legacy.Get(record), s.legacy.Get(record)
		if record != w.record && (is == nil || !bytes.Equal(was.Data, is.Data) || s.jobs[record] != "") {
			return fmt.Errorf("%s is %v, and was %v; its job: %q", record, is, was, s.jobs[record])
		}
	}
	return w.wantCode(0)
}

func (w *world) nothingKept() error {
	there, _, err := w.conn.Exists(w.root + "/legacy" + keptRoot)
	if err == nil && there {
		err = errors.New("the folder of kept records is there")
	}
	return cmp.Or(err, w.wantCode(0))
}

func (w *world) take(s *daemons.World) error {
	for _, a := range s.LegacyWorkers() {
		w.working = a.Begin()
		for at, more := w.working.Next(); more; at, more = w.working.Next() {
			if path, takes := strings.CutPrefix(at.Write, "set to consumed "); takes {
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
func (w *world) begin(s *daemons.World) error {
	for _, a := range s.Workers() {
		if a.Name == string(services.Initialize) {
			if did, err := a.Step(); err != nil || !did {
				return fmt.Errorf("it took nothing: %w", err)
			}
		}
	}
	for job := range s.Took {
		w.record = w.items[job]
	}
	return nil
}

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
