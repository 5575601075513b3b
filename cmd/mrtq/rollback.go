package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
)

type rollbackCmd struct {
	legacyFlags
	run                       string
	force, restored, dry, yes bool
	kept                      string
	output                    string
}

func (a *app) rollbackCmd() *cobra.Command {
	c := &rollbackCmd{}
	cmd := &cobra.Command{
		Use:   "rollback TARGET [SOURCE] --run ID",
		Short: "roll back the newest run",
		Long: `Remove the jobs, access requests and batches that a run created, if they are as the run
left them. The layout, the run's record and the rest of the target stay. The legacy
records stay, so legacy workers can take them again.

rollback keeps what was acted on since, unless you give --force. It always keeps what
a worker has locked. It writes the legacy records of the jobs that it kept, and of
those that other clients removed, to a file: these records must not run again, so
remove them with mrtq retire before legacy workers start. --kept names that file.

If the queues were released, workers may have worked on the jobs. So rollback asks
first, holds the queues again, and leaves them held. With SOURCE, it also keeps a job
whose legacy record does not exist any more, because the job is the only copy. If
rollback is interrupted, run it again. Exit code 1 if something was kept.`,
		Example: `  mrtq rollback zk1:2181/new --run run0000000000 --dry-run
  mrtq rollback zk1:2181/new zk1:2181 --run run0000000000 --yes`,
		Args: args("TARGET", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.main(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.nodeFlags(f)
	c.time = "auto" // no record is decoded
	f.StringVar(&c.run, "run", "", "`id` of the run")
	f.BoolVar(&c.force, "force", false, "remove also what was acted on, but never what a worker has locked")
	f.BoolVar(&c.restored, "restored", false, "go on although TARGET was restored from a backup; jobs that were worked on before the backup was made can't be told from others")
	f.BoolVar(&c.dry, "dry-run", false, "only say what would be removed and kept")
	f.BoolVarP(&c.yes, "yes", "y", false, "don't ask whether to go on")
	f.StringVar(&c.kept, "kept", "", "`file` for the legacy records of jobs that were kept or removed by other clients (default mrtq-kept-TARGET-RUN.ndjson)")
	outputFlag(f, &c.output, "json")
	return cmd
}

// rolledBack is the -o json of rollback.
type rolledBack struct {
	*migrate.Undo
	Done bool   `json:"done"`           // false: nothing was removed, this is what would be
	File string `json:"file,omitempty"` // of Keeps
}

func (c *rollbackCmd) main(ctx context.Context, a *app, given []string) error {
	s, err := parseSides(given)
	if err != nil {
		return err
	}
	if c.run == "" {
		return exit.Usagef("--run is missing; mrtq status %s shows the runs", advice.Word(s.target.Text))
	}
	if c.kept == "" {
		c.kept = strings.TrimSuffix(fileOf(keptPrefix, s.target), ".ndjson") + "-" + unfit.ReplaceAllString(c.run, "-") + ".ndjson"
	}
	if err := a.checkFiles([]files.Named{s.target.written(), {By: "--kept", Path: c.kept, Kept: true}}, s.source.named()); err != nil {
		return err
	}
	undo, err := c.rollBack(ctx, a, s)
	if err != nil {
		return c.fail(ctx, a, s, undo, err)
	}
	return c.print(a, s, undo)
}

// rollBack rolls back, or with --dry-run says what that would do.
func (c *rollbackCmd) rollBack(ctx context.Context, a *app, s pair) (undo *migrate.Undo, err error) {
	opt := migrate.RollbackOptions{Force: c.force, Restored: c.restored, Limits: migrate.Limits{Ops: a.conn.MaxRate},
		Say: func(text string) { a.Say("%s", text) }, Confirm: func(u *migrate.Undo) error { return c.confirm(a, u) }, Kept: c.writeKept}
	ctx, finish := a.Phases(ctx, "reading the run")
	defer finish()
	if s.source.Text != "" {
		src, side, err := a.openSource(ctx, s, &c.legacyFlags)
		if err != nil {
			return nil, err
		}
		defer side.Close()
		opt.Source = src
	}
	if c.dry {
		side, err := a.open(ctx, s.target, true)
		if err != nil {
			return nil, err
		}
		defer side.Close()
		return migrate.PreviewRollback(ctx, side.Reader, c.run, opt)
	}
	err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
		undo, err = migrate.Rollback(ctx, w.Writer, c.run, opt)
		return err
	})
	return undo, err
}

// confirm writes the records of what will be kept, and asks the operator.
func (c *rollbackCmd) confirm(a *app, u *migrate.Undo) error {
	if err := c.writeKept(u); err != nil {
		return err
	}
	if c.yes {
		return nil
	}
	question := fmt.Sprintf("%s: %s. The rollback would remove %s", u.Run, u.Ask, view.Counts(u.Removes))
	if len(u.Keeps) > 0 {
		question += "; " + view.KeptText(u)
	}
	if len(u.Forced) > 0 {
		question += fmt.Sprintf("; %d of what it removes was acted on, which --dry-run lists", len(u.Forced))
	}
	return a.askToGoOn(question + ".")
}

// writeKept writes a line for each record that must not run again.
func (c *rollbackCmd) writeKept(u *migrate.Undo) error {
	if len(u.Keeps) == 0 {
		return nil
	}
	return files.Write(c.kept, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		for _, i := range u.Keeps {
			if err := screen.WriteJSONLine(out, i); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// fail says what was removed before a rollback failed, and what to do.
func (c *rollbackCmd) fail(ctx context.Context, a *app, s pair, u *migrate.Undo, err error) error {
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text}
	if errors.Is(err, migrate.ErrNoQueue) {
		return a.onPlace(ctx, s.target, err)
	}
	if u != nil {
		at.Run = u.Record
	} else if errors.Is(err, migrate.ErrRetiring) {
		at.Run = a.currentRun(ctx, s.target)
	}
	done := "nothing was removed"
	if u != nil && u.Steps > 0 && s.target.isServer() {
		done = fmt.Sprintf("%s is not completely rolled back: this call removed %s. Run the same command again to finish", u.Run, view.Counts(u.Removes))
	}
	if wasCutShort(err) {
		return failed("target", s.target.Text, &partlyDone{err, done})
	}
	return withWayOut(a, failed("target", s.target.Text, err), at)
}

func (c *rollbackCmd) print(a *app, s pair, u *migrate.Undo) error {
	out := rolledBack{Undo: u, Done: !c.dry}
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Run: u.Record}
	removed, held, next := "removed", "are held", a.advice.Next(migrate.UndoStep(u), at)
	if c.dry {
		removed, held, next = "would be removed", "would be held", "To do this: "+a.advice.Really()
	} else if len(u.Keeps) > 0 {
		out.File = c.kept
	}
	if c.output == "json" {
		a.JSON(out)
	} else {
		view.Undo(a.Screen, u)
	}
	text := fmt.Sprintf("Rollback of %s in %s: %s %s", u.Run, advice.Word(s.target.Text), view.Counts(u.Removes), removed)
	if len(u.Released) > 0 {
		text += ", and the queues " + held
	}
	if len(u.Keeps) == 0 {
		a.Conclude(screen.Good, "%s. %s", text, next)
		return nil
	}
	text = fmt.Sprintf("%s; %s", text, view.KeptText(u))
	if out.File != "" {
		text += ", listed in " + out.File
	}
	a.Conclude(screen.Attention, "%s. %s", text, next)
	return exit.Check(errors.New(text))
}
