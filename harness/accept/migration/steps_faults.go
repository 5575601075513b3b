package migration

// The steps with commands that are killed or lose their server.

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"mrtq/harness/internal/session"
)

// midway starts a migration, and returns when at least 20 transactions are
// done. The version of the run's znode counts them.
func (w *world) midway() (process *os.Process, end func() outcome, err error) {
	run := w.root + "/new/migration/runs/run0000000000"
	if process, end, err = w.launch(commands["migrates, deciding every record"]); err != nil {
		return nil, nil, err
	}
	deadline := time.After(2 * time.Minute)
	for {
		there, stat, changed, err := w.conn.ExistsW(run)
		if err != nil || there && stat.Version >= 20 {
			return process, end, err
		}
		select {
		case <-changed:
		case <-deadline:
			return nil, nil, errors.New("the migration did not get to its transactions")
		}
	}
}

func (w *world) killed() error {
	process, end, err := w.midway()
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return err
	}
	w.last = end()
	return w.wantCode(exitKilled)
}

// serverLost kills the server during the migration, and restarts it. If the migration's
// session survives, the migration continues. Otherwise the migration must say that its
// session is lost.
func (w *world) serverLost() error {
	_, end, err := w.midway()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := cmp.Or(w.opt.Server.Kill(), w.opt.Server.Restart(ctx)); err != nil {
		return err
	}
	w.conn.Close() // it may have been lost with the server
	if w.conn, err = session.Open(ctx, w.session); err != nil {
		return err
	}
	w.last = end()
	if w.last.code != exitLost {
		return w.wantCode(0)
	}
	return cmp.Or(w.says("session is lost"), w.says("run the same command again to finish"))
}

const (
	exitLost   = 3
	exitKilled = -1
)
