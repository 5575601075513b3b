package migration

// The steps with commands that run at the same time, are killed or lose their server.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mrtq/harness/internal/session"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// migrateTwice runs two migrations. The outcome is that of the last to end.
func (w *world) migrateTwice() error {
	errs, jobs := make(chan error), make(chan int)
	for range 2 {
		go func() {
			var m struct{ Created struct{ Jobs int } }
			o, err := outcomeOf(w.command(commands["migrates, deciding every record"]))
			one := &world{last: o}
			errs <- all(err, one.wantCode(0), one.json(&m))
			jobs <- m.Created.Jobs
		}()
	}
	if err := all(<-errs, <-errs); err != nil {
		return err
	}
	return equal("jobs were created", <-jobs+<-jobs, 9)
}

// midway starts a command, and returns when at least the given number of transactions are
// done. The version of the run's znode counts them. end sends the command a signal, unless that
// is nil, and keeps its outcome.
func (w *world) midway(line string, transactions int32) (end func(os.Signal), err error) {
	run := w.root + "/new/migration/runs/run0000000000"
	if there, stat, err := w.conn.Exists(run); err == nil && there {
		transactions += stat.Version
	}
	cmd := w.command(line)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	deadline := time.After(2 * time.Minute)
	for {
		there, stat, changed, err := w.conn.ExistsW(run)
		if err != nil {
			return nil, err
		}
		if there && stat.Version >= transactions {
			break
		}
		select {
		case <-changed:
		case <-deadline:
			return nil, fmt.Errorf("the command did not get to transaction %d", transactions)
		}
	}
	return func(sig os.Signal) {
		if sig != nil {
			_ = cmd.Process.Signal(sig) // its exit code tells
		}
		_ = cmd.Wait()
		w.last = outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}, nil
}

// stop sends a migration or a release a signal after some transactions.
func (w *world) stop(command string, transactions int32, sig os.Signal) error {
	end, err := w.midway(commands[command], transactions)
	if err == nil {
		end(sig)
	}
	return err
}

// stoppedCleanly: it was interrupted in the middle, and no job is half created.
func (w *world) stoppedCleanly() error {
	tree, err := w.tree("/new")
	if err := all(err, w.wantCode(exitInterrupted), w.says("run the same command again to finish")); err != nil {
		return err
	}
	for _, p := range merritt.Problems(tree, newqueue.Dialect(w.dialect)) {
		if znode.Within(p.Path, newqueue.JobsPath) { // the run closes its batches at its end
			return errors.New(p.String())
		}
	}
	if jobs := len(tree.Children(newqueue.JobsPath)); jobs > 2700 {
		return fmt.Errorf("%d jobs exist, so it was not stopped in the middle", jobs)
	}
	return nil
}

// serverLost kills the server during the migration, and restarts it. If the migration's
// session survives, the migration continues. Otherwise the migration must say that its
// session is lost.
func (w *world) serverLost() error {
	if w.opt.Restart == nil {
		return errors.New("this server can't be restarted")
	}
	end, err := w.midway(commands["migrates, deciding every record"], 20)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := w.opt.Restart(ctx); err != nil {
		return err
	}
	w.conn.Close() // it may have been lost with the server
	if w.conn, err = session.Open(ctx, w.session); err != nil {
		return err
	}
	end(nil)
	if w.last.code != exitLost {
		return w.wantCode(0)
	}
	return all(w.says("session is lost"), w.says("run the same command again to finish"))
}

// The exit codes of a command that has lost its server, that was interrupted, and that was killed.
const (
	exitLost        = 3
	exitInterrupted = 130
	exitKilled      = -1
)
