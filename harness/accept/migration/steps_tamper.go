package migration

// The steps that change znodes by hand, and those with other users of the new queue.

import (
	"fmt"
	"sort"
	"strings"

	"github.com/go-zookeeper/zk"
)

// tamperAll changes one znode at a time, as a person with zkCli would, runs verify, and
// undoes the change.
func (w *world) tamperAll(how string) error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	var paths []string
	for path, n := range tree {
		if path == "" || how == "deleted" && n.stat.NumChildren > 0 {
			continue
		}
		paths = append(paths, path)
	}
	sort.Strings(paths)
	if len(paths) < 50 {
		return fmt.Errorf("only %d znodes to tamper with", len(paths))
	}
	for _, path := range paths {
		full, named := w.root+"/new"+path, path
		var undo func() error
		switch how {
		case "deleted":
			err = w.conn.Delete(full, -1)
			undo = func() error { return w.create(full, []byte(tree[path].data)) }
		case "changed":
			_, err = w.conn.Set(full, []byte("by hand"), -1)
			undo = func() error { _, err := w.conn.Set(full, []byte(tree[path].data), -1); return err }
		case "added":
			named = path + "/by-hand"
			err = w.create(full+"/by-hand", []byte{})
			undo = func() error { return w.conn.Delete(full+"/by-hand", -1) }
		}
		if err != nil {
			return err
		}
		last, err := outcomeOf(w.command("verify", "-o", "json", w.source(), w.target()))
		if err != nil {
			return err
		}
		if last.code != 1 && !(last.code == 3 && strings.Contains(last.stderr, named)) || !strings.Contains(last.stdout+last.stderr, named) {
			w.tampered = append(w.tampered, fmt.Sprintf("%s (exit code %d)", named, last.code))
		}
		if err := undo(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) allNamed() error {
	if len(w.tampered) > 0 {
		return fmt.Errorf("not named: %s", strings.Join(w.tampered, ", "))
	}
	return nil
}

func (w *world) liveQueue() error {
	n := w.root + "/new"
	for _, z := range [][2]string{
		{"/batches", ""}, {"/batch-uuids", ""}, {"/jobs", ""}, {"/jobs/states", ""}, {"/jobs/states/pending", ""},
		{"/locks", ""}, {"/locks/queue", ""}, {"/locks/queue/ingest", "closed for the weekend"},
		{"/batches/bid0000000000", ""},
		{"/batches/bid0000000000/submission", `{"batchID":"other","profile_name":"p"}`},
		{"/batches/bid0000000000/status", `{"status":"processing","last_modified":"2026-11-21T12:00:00Z"}`},
		{"/batches/bid0000000000/states", ""}, {"/batches/bid0000000000/states/batch-processing", ""},
		{"/batches/bid0000000000/states/batch-processing/jid0000000001", ""},
		{"/batch-uuids/other", "bid0000000000"},
		{"/jobs/jid0000000001", ""}, {"/jobs/jid0000000001/bid", "bid0000000000"},
		{"/jobs/jid0000000001/configuration", `{"batch_id":"bid0000000000"}`},
		{"/jobs/jid0000000001/status", `{"status":"pending","last_successful_status":null,"last_modification_date":"2026-11-21T12:00:00Z","retry_count":0}`},
		{"/jobs/jid0000000001/priority", "5"}, {"/jobs/jid0000000001/space_needed", "0"},
		{"/jobs/states/pending/05-jid0000000001", ""},
	} {
		if err := w.create(n+z[0], []byte(z[1])); err != nil {
			return err
		}
	}
	var err error
	w.others, err = w.tree("/new")
	return err
}

func (w *world) othersUntouched() error {
	if err := w.wantCode(0); err != nil {
		return err
	}
	now, err := w.tree("/new")
	if err != nil {
		return err
	}
	for path, n := range w.others {
		if path == "/jobs" {
			continue // the migration writes there that the ledger must exist
		}
		if got := now[path]; got.data != n.data || got.stat.Mzxid != n.stat.Mzxid || got.stat.Czxid != n.stat.Czxid {
			return fmt.Errorf("%s was written", path)
		}
	}
	return nil
}

func (w *world) idsGoOn() error {
	tree, err := w.tree("/new/jobs")
	if err != nil {
		return err
	}
	for i := 2; i <= 10; i++ {
		if _, ok := tree[fmt.Sprintf("/jid%010d", i)]; !ok {
			return fmt.Errorf("there is no jid%010d", i)
		}
	}
	return nil
}

func (w *world) nextSubmission() error {
	path, err := w.conn.Create(w.root+"/new/jobs/jid", []byte{}, zk.FlagSequence, w.acl)
	if err != nil {
		return err
	}
	w.added = strings.TrimPrefix(path, w.root+"/new")
	if w.added != "/jobs/jid0000000011" {
		return fmt.Errorf("it got %s", w.added)
	}
	return nil
}
