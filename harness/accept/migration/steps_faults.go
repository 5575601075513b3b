package migration

// The steps with other users of the new queue, and those with a migration that is stopped,
// is killed or loses its server.

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/internal/session"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func (w *world) liveQueue() error {
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
		if err := w.create("/new"+z[0], []byte(z[1])); err != nil {
			return err
		}
	}
	var err error
	w.unrelated, err = w.tree("/new")
	return err
}

func (w *world) unrelatedUnchanged() error {
	now, err := w.tree("/new")
	if err != nil {
		return err
	}
	for n := range w.unrelated.All("/") {
		if n.Path == "/" || n.Path == newqueue.JobsPath {
			continue // the migration writes the newest run's id there
		}
		got := now.Get(n.Path)
		held := n.Path == newqueue.QueueHoldPath(newqueue.HoldIngest) // migrate becomes an owner of the hold
		if got == nil || got.Stat.Czxid != n.Stat.Czxid || got.Stat.Mzxid != n.Stat.Mzxid && !held {
			return fmt.Errorf("%s was written", n.Path)
		}
	}
	return w.wantCode(0)
}

func (w *world) idsGoOn() error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	for i := int32(2); i <= 10; i++ {
		if path := newqueue.JobPath(newqueue.SequenceID(newqueue.JobPrefix, i)); tree.Get(path) == nil {
			return fmt.Errorf("there is no %s", path)
		}
	}
	return nil
}

func (w *world) nextSubmission() error {
	path, err := w.conn.Create(w.root+"/new/jobs/jid", []byte{}, zk.FlagSequence, w.acl)
	if err != nil {
		return err
	}
	if id := znode.Name(path); id != "jid0000000011" {
		return fmt.Errorf("it got %s", id)
	}
	return w.conn.Delete(path, -1)
}

func (w *world) migrateTwice() error {
	type ended struct {
		outcome
		err error
	}
	both := make(chan ended)
	for range 2 {
		go func() {
			o, err := outcomeOf(w.command(commands["migrates, deciding every record"]))
			both <- ended{o, err}
		}()
	}
	jobs := 0
	for range 2 {
		e := <-both
		w.last = e.outcome
		var m struct{ Created struct{ Jobs int } }
		if err := all(e.err, w.wantCode(0), w.json(&m)); err != nil {
			return err
		}
		jobs += m.Created.Jobs
	}
	if jobs != 9 {
		return fmt.Errorf("%d jobs were created, expected 9", jobs)
	}
	return nil
}

// midway starts a migration to a chroot, and returns when at least the given number of
// transactions are done. The version of the run's znode counts them. end sends the
// migration a signal, unless that is nil, and waits until the migration has ended.
func (w *world) midway(line, target string, transactions int32) (end func(os.Signal) (outcome, error), err error) {
	cmd := w.command(line)
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
	const line = "migrate -o json FIRST DECIDED SOURCE ELSEWHERE"
	if err := all(w.wantCode(0), w.create("/elsewhere", nil)); err != nil {
		return err
	}
	kill, err := w.midway(line, "/elsewhere", 20)
	if err != nil {
		return err
	}
	killed, err := kill(os.Kill)
	if err != nil || killed.code != -1 {
		return fmt.Errorf("it was not killed: exit code %d, %v", killed.code, err)
	}
	jobs, _, err := w.conn.Children(w.root + "/elsewhere/jobs")
	if err != nil || len(jobs) < 500 || len(jobs) > 2700 {
		return fmt.Errorf("%d jobs exist after the kill, so it was not in the middle (%v)", len(jobs), err)
	}
	return all(w.run(line), w.wantCode(0))
}

// bothSame compares the jobs, batches and requests of both trees byte for byte. The holds
// and the migration's own records have times, and the transactions can have other sizes.
func (w *world) bothSame() error {
	a, err := w.tree("/new")
	if err != nil {
		return err
	}
	b, err := w.tree("/elsewhere")
	if err != nil {
		return err
	}
	return all(same(a, b, newqueue.BatchesPath), same(a, b, newqueue.BatchUUIDsPath), same(a, b, newqueue.JobsPath),
		same(a, b, newqueue.AccessPath))
}

func (w *world) interrupt() error {
	signal, err := w.midway(commands["migrates, deciding every record"], "/new", 5)
	if err != nil {
		return err
	}
	w.last, err = signal(os.Interrupt)
	return err
}

// serverLost kills the server during the migration, and restarts it. If the migration's
// session survives, the migration continues. Otherwise the migration must say that its
// session is lost.
func (w *world) serverLost() error {
	wait, err := w.midway(commands["migrates, deciding every record"], "/new", 20)
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
	if w.conn, err = session.Open(ctx, w.session); err != nil {
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

// exitLost is the exit code of a command that has lost its server.
const exitLost = 3

// exitInterrupted is the exit code of an interrupted command.
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
	for n := range tree.All("/") {
		path := n.Path
		parts := strings.Split(path, "/")
		switch {
		case strings.HasPrefix(path, "/jobs/states/") && len(parts) == 5:
			entries[parts[4][3:]]++
		case strings.HasPrefix(path, "/batches/") && len(parts) == 6:
			entries[parts[5]]++
		}
	}
	jobs := 0
	for _, jid := range tree.Children(newqueue.JobsPath) {
		if jid == "states" {
			continue
		}
		jobs++
		path := newqueue.JobPath(jid)
		for _, node := range []string{"bid", "configuration", "identifiers", "metadata", "priority", "space_needed", "status"} {
			if tree.Get(path+"/"+node) == nil {
				return fmt.Errorf("%s has no %s", path, node)
			}
		}
		if entries[jid] != 2 {
			return fmt.Errorf("%s has %d entries", path, entries[jid])
		}
	}
	if jobs == 0 || jobs > 2700 {
		return fmt.Errorf("%d jobs exist, so it was not stopped in the middle", jobs)
	}
	return nil
}
