package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

func (a *app) restoreCmd() *cobra.Command {
	var in, output string
	cmd := &cobra.Command{
		Use:   "restore TARGET --in FILE",
		Short: "load a dump",
		Long: `Create the znodes of a dump below the target's chroot. What is there with the
same data stays; if anything is there with other data, nothing is written.
Ephemeral znodes are left out: their sessions are over. Sequence counters are
brought to where they were, so that new sequential children sort after those
restored. Interrupted, run it again.`,
		Example: `  mrtq restore localhost:2181/copy --in queue.ndjson.gz`,
		Args:    args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEndpoint("TARGET", args[0])
			if err != nil {
				return err
			}
			if e.file != "" {
				return usageError("TARGET %q is a dump already", args[0])
			}
			if in == "" {
				return usageError("--in FILE is missing; usage: mrtq %s", cmd.Use)
			}
			tree, err := readDump(in)
			if err != nil {
				return fmt.Errorf("restore: --in %s: %w", in, err)
			}
			if tree.Len() == 1 {
				return fmt.Errorf("restore: --in %s: it holds no znode", in)
			}
			w, err := a.writer(cmd.Context(), e)
			if err != nil {
				return failed("restore", args[0], err)
			}
			defer w.Close()
			m := &migrate.Migrator{Say: func(s string) { a.say("%s", s) }}
			show, finish := a.progress("restoring")
			m.Progress = show
			res, err := m.Restore(cmd.Context(), w, tree)
			finish()
			if errors.Is(err, migrate.ErrOtherData) {
				err = checkError(err)
			}
			if err != nil {
				return failed("restore", args[0], err)
			}
			if output == "json" {
				return a.printJSON(res)
			}
			a.printRestored(res)
			return nil
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "dump `file`, unpacked if its name ends in .gz")
	choice(cmd.Flags(), &output, "output", "o", "format", "table", "json")
	return cmd
}

func (a *app) printRestored(r *migrate.Restored) {
	for i, p := range r.Ephemerals {
		if i == mostRows {
			a.say("… and %d more; -o json has all", len(r.Ephemerals)-mostRows)
			break
		}
		a.say("%s: ephemeral, left out", p)
	}
	for i, w := range r.Warnings {
		if i == mostRows {
			a.say("… and %d more; -o json has all", len(r.Warnings)-mostRows)
			break
		}
		a.say("%s: %s", w.Path, w.Message)
	}
	a.say("%s created, %d there already, %d ephemeral left out, sequence counters brought up by %d",
		count(r.Created, "znode", "znodes"), r.There, len(r.Ephemerals), r.Counters)
}
