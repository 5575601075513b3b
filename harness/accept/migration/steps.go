package migration

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/features"
	"mrtq/harness/accept/internal/runner"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

func (w *world) register(s runner.Steps) {
	// What exists.
	s.Step(`the legacy queue that the JVM services wrote`, w.corpus)
	s.Step(`the dialect (design|mrt-zk)`, func(d string) { w.dialect = d })
	s.Step(`the queue was migrated`, func() error { return all(w.migrateDeciding(), w.wantCode(0)) })
	s.Step(`a new queue with a batch and a job of its own, and an administrator's hold on ingest`, w.liveQueue)
	s.Step(`a legacy queue of (\d+) records of all formats`, w.generated)
	s.Step(`the operator saved a plan, deciding every record`, func() error {
		return all(w.plan(decide+" --out "+filepath.Join(w.dir, "plan.json")), w.wantCode(0))
	})
	s.Step(`a legacy service adds a record`, w.addRecord)
	s.Step(`a legacy service fails the job of (\S+)`, w.failRecord)
	s.Step(`the services finished what they could, reported it and cleaned up`, w.workOff)
	s.Step(`the field's own script sets its marker, as it does after a cutover`, w.setMarker)

	// What the operator does.
	s.Step(`the operator inspects the legacy queue`, func() error { return w.run("inspect -o ndjson", w.source()) })
	s.Step(`the operator plans the migration`, func() error { return w.plan("") })
	s.Step(`the operator plans the migration, deciding every record`, func() error { return w.plan(decide) })
	s.Step(`the operator migrates with the defaults`, func() error { return w.migrate("") })
	s.Step(`the operator migrates, deciding every record`, w.migrateDeciding)
	s.Step(`the operator migrates again`, w.migrateDeciding)
	s.Step(`the operator migrates one of those records again`, func() error {
		return w.migrate(decide + " -o json --again " + w.gone[0])
	})
	s.Step(`the operator rebuilds the ledger`, func() error { return w.run("rebuild -o json", w.target()) })
	s.Step(`the operator migrates again, and declares them done`, func() error { return w.migrate(decide + " --done all") })
	s.Step(`the operator migrates them`, w.migrateDeciding)
	s.Step(`the operator migrates with the saved plan(?: again)?`, func() error {
		return w.migrate(decide + " --plan " + filepath.Join(w.dir, "plan.json"))
	})
	s.Step(`the operator verifies`, func() error {
		return w.run("verify -o json", w.source(), w.target())
	})
	s.Step(`the operator rolls back the migration`, func() error {
		return all(w.run("rollback --run run0000000000", w.target()), w.wantCode(0))
	})
	s.Step(`each znode of the new tree in turn is (deleted|changed|added) by hand, and then put back`, w.tamperAll)
	s.Step(`two operators migrate at the same moment, deciding every record`, w.migrateTwice)
	s.Step(`that job is removed and the operator rolls back the migration`, func() error {
		return all(w.conn.Delete(w.root+"/new"+w.added, -1), w.run("rollback --run run0000000000", w.target()), w.wantCode(0))
	})
	s.Step(`the same migration to another target is killed with kill -9 halfway, and then run again`, w.migrateKilled)
	s.Step(`the operator presses Ctrl-C in the middle of the migration`, w.interrupt)
	s.Step(`the server is killed and restarted in the middle of the migration`, w.serverLost)

	// What must be true afterwards.
	s.Step(`all 21 records are reported as their writers meant them`, w.reportedAsExpected)
	s.Step(`nothing at all was written`, w.nothingWritten)
	s.Step(`nothing else was written`, w.nothingWritten)
	s.Step(`the plan is refused`, func() error { return w.wantCode(1) })
	s.Step(`it names these records`, w.planNames)
	s.Step(`(\d+) jobs could run twice if consumed records become pending, and (\d+) never if they become failed`, w.risks)
	s.Step(`the migration is refused`, func() error { return w.wantCode(1) })
	s.Step(`the plan is accepted`, func() error { return w.wantCode(0) })
	s.Step(`the new queue holds`, w.newQueueHolds)
	s.Step(`its queues are held`, w.queuesHeld)
	s.Step(`the 9 records that cannot be read are kept byte for byte`, w.quarantined)
	s.Step(`the legacy queue is untouched`, w.legacyUntouched)
	s.Step(`nothing differs`, func() error { return w.wantCode(0) })
	s.Step(`the target is as it was before, byte for byte`, w.asAtTheStart)
	s.Step(`verification names that znode every time`, w.allNamed)
	s.Step(`the other batch and job are untouched`, w.othersUntouched)
	s.Step(`the ids of migrated jobs come after theirs`, w.idsGoOn)
	s.Step(`the next job that is submitted gets an id of its own`, w.nextSubmission)
	s.Step(`the migration is done`, func() error { return w.wantCode(0) })
	s.Step(`it is refused because (the plan was carried out before|the plan is stale)`, w.refusedBecause)
	s.Step(`both succeed, and every record was migrated once`, w.migratedOnce)
	s.Step(`verification names (\S+) and the new record`, w.namesChanged)
	s.Step(`(\d+) jobs? (?:was|were) created and (\d+) rewritten`, w.made)
	s.Step(`verification names the records whose jobs are gone`, w.namesGone)
	s.Step(`it is refused because the custody of records is lost`, func() error { return w.blockedBy("is gone, and with it the custody of") })
	s.Step(`it is refused because records without custody may have been migrated`, func() error { return w.blockedBy("whose custody was lost with the ledger") })
	s.Step(`the records whose custody stays lost are counted`, w.countsLost)
	s.Step(`the field's marker is there`, w.markerThere)
	s.Step(`both new queues are the same`, w.bothSame)
	s.Step(`it stops, says how to continue, and no job is half created`, w.stoppedCleanly)
}

// all returns the first error.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) plan(flags string) error {
	return w.run("plan -o json --new-queue --dialect "+w.dialect+" "+flags, w.source(), w.target())
}

func (w *world) migrate(flags string) error {
	return w.run("migrate -o json --new-queue --dialect "+w.dialect+" --quarantine "+w.quarantineFile+" "+flags, w.source(), w.target())
}

func (w *world) migrateDeciding() error { return w.migrate(decide) }

// corpus writes the znodes of features.Corpus through the scenario's session.
func (w *world) corpus() error {
	sc := bufio.NewScanner(strings.NewReader(features.Corpus))
	for sc.Scan() {
		var n struct{ Path, Data string }
		if err := json.Unmarshal(sc.Bytes(), &n); err != nil {
			return err
		}
		data, err := base64.StdEncoding.DecodeString(n.Data)
		if err != nil {
			return err
		}
		if err := w.create(w.root+"/legacy"+n.Path, data); err != nil {
			return err
		}
	}
	var err error
	w.legacy, err = w.tree("/legacy")
	return all(sc.Err(), err)
}

func (w *world) generated(records int) error {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1, Consumed: true})
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, "generated.ndjson")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := znode.WriteDump(f, tree); err != nil {
		return err
	}
	w.root += "-generated"
	w.large = true
	if err := w.makeRoot(); err != nil {
		return err
	}
	return all(w.run("restore --in "+path, w.source()), w.wantCode(0))
}

func (w *world) reportedAsExpected() error {
	if err := w.wantCode(0); err != nil {
		return err
	}
	want, err := byPath(features.Expected)
	if err != nil {
		return err
	}
	got, err := byPath(w.last.stdout)
	if err != nil {
		return err
	}
	if len(want) != 21 || len(got) != len(want) {
		return fmt.Errorf("%d records reported, %d expected", len(got), len(want))
	}
	for path, e := range want {
		g := got[path]
		for field, value := range e {
			have := g[field]
			if field == "error" {
				have = nil
				if m, ok := g["error"].(map[string]any); ok {
					have = m["kind"]
				}
			}
			if !reflect.DeepEqual(have, value) {
				return fmt.Errorf("%s: %s is %v, want %v", path, field, have, value)
			}
		}
	}
	return nil
}

func mustRead(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// byPath reads one JSON object from each line. Numbers keep every digit.
func byPath(text string) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out[m["path"].(string)] = m
	}
	return out, nil
}

// nothingWritten compares everything that a write would change, including the Stats, with
// the state before the last command.
func (w *world) nothingWritten() error {
	now, err := w.tree("")
	if err != nil {
		return err
	}
	return sameStats(w.before, now)
}

type planned struct {
	Problems []struct{ Kind, Path, Record string }
	Risks    []struct {
		Choice       string
		Twice, Never []string
	}
}

func (w *world) planNames(table *godog.Table) error {
	var p planned
	if err := w.json(&p); err != nil {
		return err
	}
	var got, want []string
	for _, x := range p.Problems {
		got = append(got, strings.TrimSpace(x.Path+" "+x.Kind+" "+x.Record))
	}
	for _, r := range table.Rows {
		want = append(want, strings.TrimSpace(r.Cells[0].Value+" "+r.Cells[1].Value+" "+r.Cells[2].Value))
	}
	sort.Strings(got)
	sort.Strings(want)
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func (w *world) risks(twice, never int) error {
	var p planned
	if err := w.json(&p); err != nil {
		return err
	}
	for _, r := range p.Risks {
		want := map[string][2]int{"block": {0, 0}, "pending": {twice, 0}, "failed": {0, never}}[r.Choice]
		if got := [2]int{len(r.Twice), len(r.Never)}; got != want {
			return fmt.Errorf("%s: twice and never are %v, want %v", r.Choice, got, want)
		}
	}
	if len(p.Risks) != 3 {
		return fmt.Errorf("%d choices", len(p.Risks))
	}
	return nil
}

func (w *world) newQueueHolds(table *godog.Table) error {
	if err := w.wantCode(0); err != nil {
		return err
	}
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	got := map[string]int{}
	for path := range tree {
		if parts := strings.Split(path, "/"); len(parts) == 5 && strings.HasPrefix(path, "/jobs/states/") {
			got[parts[3]]++
		}
	}
	want := map[string]int{}
	for _, r := range table.Rows {
		var n int
		fmt.Sscan(r.Cells[1].Value, &n)
		want[r.Cells[0].Value] = n
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("jobs by state are %v, want %v", got, want)
	}
	return nil
}

func (w *world) queuesHeld() error {
	for _, q := range []string{"ingest", "accessSmall", "accessLarge"} {
		if ok, _, err := w.conn.Exists(w.root + "/new/locks/queue/" + q); err != nil || !ok {
			return fmt.Errorf("%s is not held (%v)", q, err)
		}
	}
	return nil
}

func (w *world) quarantined() error {
	kept := map[string]string{}
	for path, m := range must(byPath(mustRead(w.quarantineFile))) {
		data, err := base64.StdEncoding.DecodeString(m["data"].(string))
		if err != nil {
			return err
		}
		kept[path] = string(data)
	}
	expected := must(byPath(features.Expected))
	n := 0
	for path, e := range expected {
		if e["error"] == nil {
			continue
		}
		n++
		if data, ok := kept[path]; !ok || data != w.legacy[path].data {
			return fmt.Errorf("%s: kept %q (%t), want %q", path, data, ok, w.legacy[path].data)
		}
	}
	if n != 9 || len(kept) != 9 {
		return fmt.Errorf("%d bad records, %d kept", n, len(kept))
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) legacyUntouched() error {
	now, err := w.tree("/legacy")
	if err != nil {
		return err
	}
	return sameStats(w.legacy, now)
}

func (w *world) asAtTheStart() error {
	now, err := w.tree("/new")
	if err != nil {
		return err
	}
	want := w.start
	if w.others != nil {
		want = w.others
	}
	return sameData(want, now)
}

func (w *world) refusedBecause(why string) error {
	if err := w.wantCode(1); err != nil {
		return err
	}
	if !strings.Contains(w.last.stderr, why) {
		return fmt.Errorf("it says %q", w.last.stderr)
	}
	return nil
}

func (w *world) addRecord() error {
	data := binary.BigEndian.AppendUint64([]byte{0}, uint64(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()))
	data = append(data, `{"batchID":"bid-4f0c1f6e-2f3b-4d8e-9a57-0d6c0a5d1a10","jobID":"jid-new"}`...)
	_, err := w.conn.Create(w.root+"/legacy/ingest/mrtQ-0500", data, zk.FlagSequence, w.acl)
	return err
}

func (w *world) failRecord(path string) error {
	data, stat, err := w.conn.Get(w.root + "/legacy" + path)
	if err != nil {
		return err
	}
	data[0] = 3
	_, err = w.conn.Set(w.root+"/legacy"+path, data, stat.Version)
	return err
}

func (w *world) namesChanged(path string) error {
	if err := w.wantCode(1); err != nil {
		return err
	}
	var v struct{ Differences []struct{ Kind, Path string } }
	if err := w.json(&v); err != nil {
		return err
	}
	changed, added := false, false
	for _, d := range v.Differences {
		changed = changed || d.Kind == "record-changed" && d.Path == path
		added = added || d.Kind == "not-migrated"
	}
	if !changed || !added {
		return fmt.Errorf("differences %v", v.Differences)
	}
	return nil
}
