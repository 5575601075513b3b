package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

type rollbackCmd struct {
	run    string
	force  bool
	dry    bool
	output string
}

func (a *app) rollbackCmd() *cobra.Command {
	c := &rollbackCmd{}
	cmd := &cobra.Command{
		Use:   "rollback TARGET --run ID",
		Short: "roll back a run",
		Long: `Remove the jobs, batches, access requests and holds that a run created, if they have
not changed since. If the queues were released, rollback holds them again first, and
lifts these holds at the end.

rollback keeps and lists what has changed, unless you give --force. It always keeps
what a worker has locked. It also lists the legacy records that would run twice if
you started the old workers again. If it keeps nothing, the target is again as it
was before the run. If rollback is interrupted, run it again. Exit code 1 if
something was kept.`,
		Example: `  mrtq rollback zk1:2181/new --run run0000000000 --dry-run`,
		Args:    args("TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.main(cmd, a, args[0]) },
	}
	f := cmd.Flags()
	a.conn.rateFlag(f)
	f.StringVar(&c.run, "run", "", "`id` of the run")
	f.BoolVar(&c.force, "force", false, "remove also what has changed since, but never what a worker has locked")
	f.BoolVar(&c.dry, "dry-run", false, "only say what would be removed and kept")
	choice(f, &c.output, "output", "o", "format", "table", "json")
	return cmd
}

func (c *rollbackCmd) main(cmd *cobra.Command, a *app, target string) error {
	defer collectOften()()
	e, err := parseEndpoint("TARGET", target)
	if err != nil {
		return err
	}
	if err := a.checkFiles([]namedFile{e.written("TARGET")}); err != nil {
		return err
	}
	ctx, finish := a.phases(cmd.Context(), "reading the run")
	// If the run or the chroot doesn't exist, say so before anything is written.
	u, err := c.preview(ctx, a, e)
	if err == nil && !c.dry {
		u, err = c.carryOut(ctx, a, e)
	}
	finish()
	tidied := false
	if errors.Is(err, migrate.ErrNoRun) && !c.dry && e.file == "" {
		tidied = a.tidy(cmd.Context(), e)
	}
	if errors.Is(err, migrate.ErrNoRun) && !tidied {
		err = cmp.Or(a.ifSource(cmd.Context(), e, migrate.DefaultQueues()), err)
	}
	if errors.Is(err, migrate.ErrNoRun) || errors.Is(err, migrate.ErrNotNewest) || errors.Is(err, migrate.ErrLedger) {
		err = checkError(err)
	}
	if errors.Is(err, zkconn.ErrLost) && u != nil {
		err = fmt.Errorf("%w. %s is not completely rolled back: this call removed %s; when a server can be reached, run the same command again to finish", err, u.Run, countDone(u.Done))
	}
	if err != nil && e.file == "" {
		err = c.withRemoved(u, err)
	}
	if err != nil {
		return failed("rollback", target, err)
	}
	if c.output == "json" {
		err = a.printJSON(u)
	} else {
		c.print(a, u)
	}
	stays := ""
	if holds := othersHolds(u); len(holds) > 0 {
		stays = fmt.Sprintf(" %s: %s.", count(len(holds), "hold of others stays", "holds of others stay"), strings.Join(lastNames(holds), ", "))
	}
	what := fmt.Sprintf("Rollback of %s in %s: %s %s", u.Run, shellWord(e.text), countDone(u.Done), c.removed())
	a.conclude(good, "%s.%s%s", what, stays, afterBlank(c.planAgain(a, u, e)))
	if len(u.Kept) > 0 {
		a.conclude(attention, "%s; %s kept, for the reasons above. --force removes all that no worker has locked.", what, count(len(u.Kept), "job or batch", "jobs or batches"))
	}
	if err == nil && len(u.Kept) > 0 {
		err = checkError(fmt.Errorf("rollback %s: kept %s, for the reasons above; --force removes all that no worker has locked", target, count(len(u.Kept), "job or batch", "jobs or batches")))
	}
	return err
}

// tidy removes what is left of a migrate that was killed before its first transaction,
// and reports whether it did. If tidy fails, that is no error, because the command reports
// anyway that there is no run to roll back.
func (a *app) tidy(ctx context.Context, e endpoint) (tidied bool) {
	target, err := a.openTarget(ctx, e, nil)
	if err != nil {
		return false
	}
	_, err = target.Get(ctx, migrate.ElectionPath)
	target.Close()
	if err != nil {
		return false
	}
	w, err := a.writer(ctx, e)
	if err != nil {
		return false
	}
	defer w.Close()
	if tidied = migrate.NewTarget(w).Tidy(ctx); tidied {
		a.say("removed %s, left by a migrate that was killed before its first transaction", migrate.MigrationPath)
	}
	return tidied
}

// preview plans the rollback for --dry-run, over a session that cannot write. Without
// --dry-run, it only checks that the run exists, because carryOut makes the plan. If
// --run is missing, the error lists the runs.
func (c *rollbackCmd) preview(ctx context.Context, a *app, e endpoint) (*migrate.Undo, error) {
	target, err := a.openTarget(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	if c.run == "" {
		runs := "no run"
		names, err := target.Children(ctx, migrate.RunsPath)
		if err != nil && !errors.Is(err, znode.ErrNoNode) {
			return nil, err
		}
		if len(names) > 0 {
			runs = strings.Join(names, ", ")
		}
		if len(names) == 0 {
			if err := a.ifSource(ctx, e, migrate.DefaultQueues()); err != nil {
				return nil, err
			}
		}
		return nil, usageError("--run is missing; the target has %s", runs)
	}
	if !c.dry {
		return nil, migrate.CheckRun(ctx, target, c.run)
	}
	return migrate.PlanRollback(ctx, target, c.run, c.force)
}

func (c *rollbackCmd) carryOut(ctx context.Context, a *app, e endpoint) (*migrate.Undo, error) {
	m := &migrate.Migrator{MaxOps: a.conn.maxRate, Say: func(text string) { a.say("%s", text) }}
	var u *migrate.Undo
	err := a.onTarget(ctx, e, func(t *migrate.Target) (err error) {
		m.Target = t
		u, err = m.Rollback(ctx, c.run, c.force)
		return err
	})
	return u, err
}

// withRemoved adds to the error of a rollback what this call had removed. An interruption
// prints it. u is nil if nothing was removed.
func (c *rollbackCmd) withRemoved(u *migrate.Undo, err error) error {
	switch {
	case c.dry:
		return &partlyDone{err, "nothing was written"}
	case u == nil:
		return &partlyDone{err, "this call removed nothing. To roll back, run the same command again"}
	}
	return &partlyDone{err, fmt.Sprintf("%s is not completely rolled back: this call removed %s. Run the same command again to finish", u.Run, countDone(u.Done))}
}

func (c *rollbackCmd) print(a *app, u *migrate.Undo) {
	row := func(k migrate.Kept) []any { return []any{k.Path, k.Why} }
	list(a, "Kept", u.Kept, []string{"JOB OR BATCH", "WHY"}, row)
	list(a, "Left", u.Left, []string{"ZNODE", "WHY"}, row)
	list(a, fmt.Sprintf("Legacy records that would run twice if you started the old workers again: %d", u.Twice.Count), u.Twice.Jobs,
		[]string{"LEGACY RECORD", "JOB", "WHY"}, func(j migrate.TwiceJob) []any { return []any{j.Record, j.Job, j.Why} })
}

// othersHolds are the holds of others on queues, which a rollback keeps.
func othersHolds(u *migrate.Undo) (paths []string) {
	for _, k := range u.Left {
		if znode.Parent(k.Path) == newqueue.QueueLocksPath {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// planAgain is the command that plans the same migration again. If a rollback kept
// nothing, the run's record is gone, and mrtq status can't show this command.
func (c *rollbackCmd) planAgain(a *app, u *migrate.Undo, e endpoint) string {
	run := u.RunRecord()
	if c.dry || run.Source == "" {
		return ""
	}
	return "To migrate again: " + a.command("plan", []string{run.Source, e.text}, runSettings(run.Dialect, run.Policies, run.ACL)...)
}

func (c *rollbackCmd) removed() string {
	if c.dry {
		return "would be removed"
	}
	return "removed"
}
