package migration

import (
	"bufio"
	"context"
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
	"mrtq/harness/accept/internal/tell"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func (w *world) register(s tell.Steps) {
	// what is there
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

	// what the operator does
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
	s.Step(`elsewhere the same migration is killed with kill -9 halfway, and run again`, w.migrateKilled)
	s.Step(`the operator presses Ctrl-C in the middle of the migration`, w.interrupt)
	s.Step(`the server is killed and started again in the middle of the migration`, w.serverLost)

	// what must be so then
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
	s.Step(`the next job that somebody submits gets an id of its own`, w.nextSubmission)
	s.Step(`the migration is done`, func() error { return w.wantCode(0) })
	s.Step(`it is refused because (the plan was carried out before|the plan is stale)`, w.refusedBecause)
	s.Step(`both succeed, and every record was migrated once`, w.migratedOnce)
	s.Step(`verification names (\S+) and the new record`, w.namesChanged)
	s.Step(`(\d+) job was created and (\d+) rewritten`, w.made)
	s.Step(`verification names the records whose jobs are gone`, w.namesGone)
	s.Step(`it is refused because its custody is lost`, func() error { return w.blockedBy("is gone, and with it the custody of") })
	s.Step(`it is refused because they may have been migrated`, func() error { return w.blockedBy("whose custody was lost with the ledger") })
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
	return w.run("plan -o json --dialect "+w.dialect+" "+flags, w.source(), w.target())
}

func (w *world) migrate(flags string) error {
	return w.run("migrate -o json --dialect "+w.dialect+" --quarantine "+w.quarantineFile+" "+flags, w.source(), w.target())
}

func (w *world) migrateDeciding() error { return w.migrate(decide) }

// corpus writes the corpus' znodes through the second session.
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

// nothingWritten compares everything that a write changes, Stats included, with
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

// tamperAll changes one znode at a time, as a person with zkCli would, and
// verifies each time.
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
			continue // whose data says from now on that a ledger must be there
		}
		if got := now[path]; got.data != n.data || got.stat.Mzxid != n.stat.Mzxid || got.stat.Czxid != n.stat.Czxid {
			return fmt.Errorf("%s was written to", path)
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

func (w *world) made(jobs, anew int) error {
	if err := w.wantCode(0); err != nil {
		return err
	}
	var m struct{ Done struct{ Jobs, Rewritten int } }
	if err := w.json(&m); err != nil {
		return err
	}
	if m.Done.Jobs != jobs || m.Done.Rewritten != anew {
		return fmt.Errorf("done %+v", m.Done)
	}
	return nil
}

func (w *world) migrateTwice() error {
	type ended struct {
		outcome
		err error
	}
	both := make(chan ended)
	args := append(strings.Fields("migrate -o json "+decide), w.source(), w.target())
	for range 2 {
		go func() {
			o, err := outcomeOf(w.command(args...))
			both <- ended{o, err}
		}()
	}
	jobs := 0
	for range 2 {
		e := <-both
		w.last = e.outcome
		if err := all(e.err, w.wantCode(0)); err != nil {
			return err
		}
		var m struct{ Done struct{ Jobs int } }
		if err := w.json(&m); err != nil {
			return err
		}
		jobs += m.Done.Jobs
	}
	if jobs != 9 {
		return fmt.Errorf("%d jobs were made, want 9", jobs)
	}
	return nil
}

func (w *world) migratedOnce() error {
	return all(w.run("verify -o json", w.source(), w.target()), w.wantCode(0))
}

// midway starts a migration to the target, and returns when a good part of its
// transactions are done, by the version of its run's znode. end sends a signal,
// if not nil, and waits for the migration to end.
func (w *world) midway(target string, transactions int32) (end func(os.Signal) (outcome, error), err error) {
	cmd := w.command(append(strings.Fields("migrate -o json "+decide), w.source(), w.at(target))...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	run := w.root + target + "/migration/runs/run0000000000"
	deadline := time.After(2 * time.Minute)
	for {
		ok, stat, changed, err := w.conn.ExistsW(run)
		if err != nil {
			return nil, err
		}
		if ok && stat.Version >= transactions {
			break
		}
		select {
		case <-changed:
		case <-deadline:
			return nil, fmt.Errorf("the migration did not get to transaction %d", transactions)
		}
	}
	return func(sig os.Signal) (outcome, error) {
		if sig != nil {
			if err := cmd.Process.Signal(sig); err != nil {
				return outcome{}, err
			}
		}
		cmd.Wait()
		return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, nil
	}, nil
}

func (w *world) migrateKilled() error {
	if err := all(w.wantCode(0), w.create(w.root+"/elsewhere", []byte{})); err != nil {
		return err
	}
	kill, err := w.midway("/elsewhere", 300)
	if err != nil {
		return err
	}
	killed, err := kill(os.Kill)
	if err != nil || killed.code != -1 {
		return fmt.Errorf("it was not killed: exit code %d, %v", killed.code, err)
	}
	jobs, _, err := w.conn.Children(w.root + "/elsewhere/jobs")
	if err != nil || len(jobs) < 1000 || len(jobs) > 16_000 {
		return fmt.Errorf("%d jobs after the kill: not the middle (%v)", len(jobs), err)
	}
	w.last, err = outcomeOf(w.command(append(strings.Fields("migrate -o json "+decide), w.source(), w.at("/elsewhere"))...))
	return all(err, w.wantCode(0))
}

// bothSame compares the two trees byte for byte. Only the run's own record
// differs, because it has times and the owner.
func (w *world) bothSame() error {
	a, err := w.tree("/new")
	if err != nil {
		return err
	}
	b, err := w.tree("/elsewhere")
	if err != nil {
		return err
	}
	const run = "/migration/runs/run0000000000"
	if _, ok := a[run]; !ok {
		return fmt.Errorf("no %s", run)
	}
	if _, ok := b[run]; !ok {
		return fmt.Errorf("no %s elsewhere", run)
	}
	delete(a, run)
	delete(b, run)
	return sameData(a, b)
}

func (w *world) interrupt() error {
	signal, err := w.midway("/new", 5)
	if err != nil {
		return err
	}
	w.last, err = signal(os.Interrupt)
	return err
}

// serverLost kills the server during the migration. The migration continues by
// itself if its session outlives the server. Otherwise it says that the session
// is lost.
func (w *world) serverLost() error {
	wait, err := w.midway("/new", 20)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if w.opt.Restart == nil {
		return errNoRestart
	}
	if err := w.opt.Restart(ctx); err != nil {
		return err
	}
	w.conn.Close() // it may have been lost with the server
	if w.conn, err = zkconn.OpenSession(ctx, w.session); err != nil {
		return err
	}
	w.last, err = wait(nil)
	if err == nil && w.last.code == exitLost {
		if !strings.Contains(w.last.stderr, "session is lost") || !strings.Contains(w.last.stderr, "run the same command again to finish") {
			err = fmt.Errorf("it says %q", w.last.stderr)
		}
		return err
	}
	return all(err, w.wantCode(0))
}

// exitLost is the exit code of a lost environment.
const exitLost = 3

// exitInterrupted is that of an interrupted command.
const exitInterrupted = 130

func (w *world) stoppedCleanly() error {
	if err := w.wantCode(exitInterrupted); err != nil {
		return err
	}
	if !strings.Contains(w.last.stderr, "run the same command again to finish") {
		return fmt.Errorf("it says %q", w.last.stderr)
	}
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	entries := map[string]int{}
	for path := range tree {
		parts := strings.Split(path, "/")
		switch {
		case strings.HasPrefix(path, "/jobs/states/") && len(parts) == 5:
			entries[parts[4][3:]]++
		case strings.HasPrefix(path, "/batches/") && len(parts) == 6:
			entries[parts[5]]++
		}
	}
	jobs := 0
	for path := range tree {
		jid, ok := strings.CutPrefix(path, "/jobs/")
		if !ok || strings.Contains(jid, "/") || jid == "states" {
			continue
		}
		jobs++
		for _, node := range []string{"bid", "configuration", "identifiers", "metadata", "priority", "space_needed", "status"} {
			if _, ok := tree[path+"/"+node]; !ok {
				return fmt.Errorf("%s has no %s", path, node)
			}
		}
		if entries[jid] != 2 {
			return fmt.Errorf("%s has %d entries", path, entries[jid])
		}
	}
	if jobs == 0 || jobs > 2700 {
		return fmt.Errorf("%d jobs: not the middle", jobs)
	}
	return nil
}
