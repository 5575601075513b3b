package migration

// The steps with two migrators, and those with a migration that is stopped, is killed
// or loses its server.

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"mrtq/harness/accept/internal/session"
)

func (w *world) made(jobs, rewritten int) error {
	if err := w.wantCode(0); err != nil {
		return err
	}
	var m struct{ Done struct{ Jobs, Rewritten int } }
	if err := w.json(&m); err != nil {
		return err
	}
	if m.Done.Jobs != jobs || m.Done.Rewritten != rewritten {
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
	args := append(w.migrating(), w.source(), w.target())
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
		return fmt.Errorf("%d jobs were created, want 9", jobs)
	}
	return nil
}

func (w *world) migratedOnce() error {
	return all(w.run("verify -o json", w.source(), w.target()), w.wantCode(0))
}

// migrating is mrtq migrate in the scenario's dialect, with every record decided.
func (w *world) migrating() []string {
	return strings.Fields("migrate -o json --new-queue --dialect " + w.dialect + " " + decide)
}

// midway starts a migration to the target, and returns when at least the given number of
// transactions are done. The version of the run's znode counts them. end sends the
// migration a signal, unless that is nil, and waits until the migration has ended.
func (w *world) midway(target string, transactions int32, flags ...string) (end func(os.Signal) (outcome, error), err error) {
	cmd := w.command(slices.Concat(w.migrating(), flags, []string{w.source(), w.at(target)})...)
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
	kill, err := w.midway("/elsewhere", 300, "--second-queue")
	if err != nil {
		return err
	}
	killed, err := kill(os.Kill)
	if err != nil || killed.code != -1 {
		return fmt.Errorf("it was not killed: exit code %d, %v", killed.code, err)
	}
	jobs, _, err := w.conn.Children(w.root + "/elsewhere/jobs")
	if err != nil || len(jobs) < 1000 || len(jobs) > 16_000 {
		return fmt.Errorf("%d jobs exist after the kill, so it was not in the middle (%v)", len(jobs), err)
	}
	w.last, err = outcomeOf(w.command(append(w.migrating(), w.source(), w.at("/elsewhere"))...))
	return all(err, w.wantCode(0))
}

// bothSame compares the two trees byte for byte, except the runs' own records, which have
// times and owners.
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
		return fmt.Errorf("%s does not exist in /new", run)
	}
	if _, ok := b[run]; !ok {
		return fmt.Errorf("%s does not exist in /elsewhere", run)
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

// serverLost kills the server during the migration, and restarts it. If the migration's
// session survives, the migration continues. Otherwise the migration must say that its
// session is lost.
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
		return fmt.Errorf("%d jobs exist, so it was not stopped in the middle", jobs)
	}
	return nil
}
