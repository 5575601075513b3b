package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

type retireCmd struct {
	legacyFlags
	restored, dry, yes bool
	removed            string
	output             string
}

func (a *app) retireCmd() *cobra.Command {
	c := &retireCmd{}
	cmd := &cobra.Command{
		Use:   "retire SOURCE TARGET",
		Short: "remove the migrated records from the legacy queue",
		Long: `Remove from the legacy queue the records whose jobs the new queue has, so that no
legacy worker can run them. This is the only command that writes to SOURCE. After a
rollback, these are the records of the jobs that it kept, or that other clients
removed: retire them before you start the legacy workers. After the release, these
are all migrated records: retire them when you will not go back.

retire removes a record only if it is as it was when it was migrated. If a legacy
worker has acquired one, or acquires one meanwhile, the record stays and is named.
Records that were not migrated stay too. Before retire removes anything, it writes
the records to a dump (--removed), and mrtq restore SOURCE --in FILE brings them
back. If the file exists, retire adds to it.

retire asks first. It refuses while a migration or rollback is unfinished, and while
a run is not released. If it is interrupted, run it again; until then, no other
command changes the migration. Exit code 1 if migrated records stay.`,
		Example: `  mrtq retire zk1:2181 zk1:2181/new --dry-run
  mrtq retire zk1:2181 zk1:2181/new --yes --max-rate 500`,
		Args: args("SOURCE", "TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.nodeFlags(f)
	c.time = "auto" // no time is read
	f.BoolVar(&c.restored, "restored", false, "go on although TARGET was restored from a backup; the records of jobs that were rolled back since may be removed, too")
	f.BoolVar(&c.dry, "dry-run", false, "only list what would be removed and what would stay")
	f.BoolVarP(&c.yes, "yes", "y", false, "don't ask whether to go on")
	f.StringVar(&c.removed, "removed", "", "`file` for a dump of the removed records, with gzip if its name ends in .gz (default mrtq-retired-TARGET.ndjson)")
	outputFlag(f, &c.output, "json")
	return cmd
}

// retired is the -o json of retire.
type retired struct {
	*migrate.Retired
	Done bool   `json:"done"`           // false: nothing was removed, this is what would be
	File string `json:"file,omitempty"` // with the removed records
}

func (c *retireCmd) run(ctx context.Context, a *app, given []string) error {
	s, err := parsePair(given)
	if err != nil {
		return err
	}
	if s.source.Data != nil && !c.dry {
		return exit.Usagef("SOURCE %q: mrtq only reads a data directory, so it can't remove records from it; give a server or a dump (file:…)", s.source.Text)
	}
	if c.removed == "" {
		c.removed = fileOf(retiredPrefix, s.target)
	}
	source := s.source.named()
	source.Kept = true
	if err := a.checkFiles([]files.Named{source, s.target.written(), {By: "--removed", Path: c.removed, Kept: true}}); err != nil {
		return err
	}
	res, err := c.retire(ctx, a, s)
	if err != nil {
		return c.fail(ctx, a, s, res, err)
	}
	return c.print(a, s, res)
}

// retire removes records, or with --dry-run says which.
func (c *retireCmd) retire(ctx context.Context, a *app, s pair) (res *migrate.Retired, err error) {
	queues, read, err := c.reads()
	if err != nil {
		return nil, err
	}
	opt := migrate.RetireOptions{Restored: c.restored, Limits: migrate.Limits{Ops: a.conn.MaxRate}, Say: func(text string) { a.Say("%s", text) },
		Confirm:     func(r *migrate.Retired) error { return c.confirm(a, s, r) },
		SaveRemoved: func(dump func(io.Writer) error) error { return c.keep(ctx, a, dump) }}
	ctx, finish := a.Phases(ctx, "reading the source")
	defer finish()
	if c.dry {
		src, target, done, err := a.openBoth(ctx, s, &c.legacyFlags)
		if err != nil {
			return nil, err
		}
		defer done()
		res, err = migrate.PreviewRetire(ctx, src, target, opt)
		return res, ofTarget(s, err)
	}
	err = a.onTarget(ctx, s.source, func(from *migrate.WritableSide) error {
		src, err := migrate.OpenSource(ctx, &from.Reader, queues, read)
		if errors.Is(err, migrate.ErrNoQueues) {
			if swapped := a.swapped(ctx, s, queues); swapped != nil {
				return swapped
			}
		}
		if err != nil {
			return failed("source", s.source.Text, err)
		}
		err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
			if res, err = migrate.Retire(ctx, src, from.Writer, w.Writer, opt); err == nil && res.Steps == 0 {
				return errUnchanged
			}
			return ofTarget(s, err)
		})
		if err == nil && res.Steps == 0 {
			return errUnchanged
		}
		return err
	})
	return res, err
}

// ofTarget names the target in an error, unless that says later what is there instead.
func ofTarget(s pair, err error) error {
	if errors.Is(err, migrate.ErrNoQueue) || errors.Is(err, errDeclined) {
		return err
	}
	return failed("target", s.target.Text, err)
}

// confirm asks the operator.
func (c *retireCmd) confirm(a *app, s pair, r *migrate.Retired) error {
	if c.yes {
		return nil
	}
	question := fmt.Sprintf("%s would be removed from the legacy queue in %s", screen.Count(len(r.Removes), "record", "records"), advice.Word(s.source.Text))
	if r.Record.Source != s.source.Text {
		question += fmt.Sprintf(" (%s migrated %s)", r.Run, advice.Word(r.Record.Source))
	}
	return a.askToGoOn(fmt.Sprintf("%s, and kept in %s.", question, c.removed))
}

// keep writes the dump of the records that will be removed. A retire that was interrupted, or one
// before, may have removed the records that the file has already. So they stay in it.
func (c *retireCmd) keep(ctx context.Context, a *app, dump func(io.Writer) error) error {
	if _, err := os.Stat(c.removed); errors.Is(err, os.ErrNotExist) {
		return files.Write(c.removed, dump)
	}
	tree, err := a.readFile(ctx, "--removed", c.removed, "/", false)
	if err != nil {
		return fmt.Errorf("%w; give another file", err)
	}
	var text bytes.Buffer
	if err := dump(&text); err != nil {
		return err
	}
	more, err := znode.ReadDump(&text)
	if err != nil {
		return err
	}
	for n := range more.All("/") {
		if was := tree.Get(n.Path); was != nil && len(more.Children(n.Path)) == 0 && !bytes.Equal(was.Data, n.Data) {
			return exit.Check(fmt.Errorf("--removed %s: it has %s with other data; give another file", c.removed, n.Path))
		}
		if err := tree.Put(*n); err != nil {
			return err
		}
	}
	return files.Write(c.removed, func(w io.Writer) error { return znode.WriteDump(w, tree) })
}

// fail says what was removed before a retire failed, and what to do.
func (c *retireCmd) fail(ctx context.Context, a *app, s pair, r *migrate.Retired, err error) error {
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text}
	switch {
	case errors.Is(err, migrate.ErrNoQueue):
		return a.onPlace(ctx, s.target, err)
	case errors.Is(err, migrate.ErrUnfinished):
		if status := a.statusOf(ctx, s.target); status != nil {
			at.Run = &status.Current().Run
			return fmt.Errorf("%w: %w. %s", errDeclined, err, a.advice.Next(status.Step, at))
		}
	}
	if r != nil && r.Steps > 0 && s.source.isServer() && s.target.isServer() {
		return &partlyDone{err, fmt.Sprintf("%s is still retiring: this call removed %s, which %s has. Run the same command again to finish",
			r.Run, screen.Count(len(r.Removes), "record", "records"), c.removed)}
	}
	if wasCutShort(err) {
		return &partlyDone{err, errDeclined.Error()}
	}
	return withWayOut(a, err, at)
}

func (c *retireCmd) print(a *app, s pair, r *migrate.Retired) error {
	out := retired{Retired: r, Done: !c.dry}
	removed := "removed"
	if c.dry {
		removed = "would be removed"
	} else if len(r.Removes) > 0 {
		out.File = c.removed
	}
	if c.output == "json" {
		a.JSON(out)
	} else {
		view.Retired(a.Screen, r, c.dry)
	}
	text := fmt.Sprintf("Retire from %s: %s %s", advice.Word(s.source.Text), screen.Count(len(r.Removes), "migrated record", "migrated records"), removed)
	if out.File != "" {
		text += " and kept in " + out.File
	}
	if r.Others > 0 {
		text += fmt.Sprintf("; %s", screen.Count(r.Others, "other record stays", "other records stay"))
	}
	next := ""
	if c.dry && len(r.Removes) > 0 {
		next = "To do this: " + a.advice.Really()
	}
	if len(r.Stays) == 0 {
		a.Conclude(screen.Good, "%s. %s", text, next)
		return nil
	}
	text += fmt.Sprintf("; %s not as migrated", screen.Count(len(r.Stays), "migrated record stays, because it is", "migrated records stay, because they are"))
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Twice: r.Stays[0].Record}
	a.Conclude(screen.Attention, "%s. %s", text, a.advice.Next(migrate.StepLookAtTwice, at))
	return exit.Check(errors.New(text))
}
