package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// decisionFlags are what somebody decides about records of which nothing shows which queue has their work. release and
// rollback have them.
type decisionFlags struct {
	recordIs []string
	vanished string
	removed  string
	kept     int // the znodes in that file, once this call has kept some
}

func (d *decisionFlags) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&d.recordIs, "record-is", nil, "decide about one record: `new=RECORD` leaves its work to the job, legacy=RECORD to the legacy queue; if two records had one name, RECORD is the path of the job; can be repeated")
	settings.Choice(f, &d.vanished, "vanished", "", "decide about all records that are gone and whose jobs nobody has begun: legacy workers did them (legacy), or the jobs are to run (new)", "new", "legacy")
	f.Lookup("vanished").DefValue = "" // there is none: somebody must decide
	d.vanished = ""
	f.StringVar(&d.removed, "removed", "", "`file` for the znodes that a decision removes (default mrtq-removed-TARGET.ndjson)")
}

func (d *decisionFlags) decisions(a *app, target place) (opt migrate.Decisions, err error) {
	opt = migrate.Decisions{RecordIs: map[string]migration.Answer{}, Vanished: migration.Answer(d.vanished)}
	for _, text := range d.recordIs {
		side, record, _ := strings.Cut(text, "=")
		if !slices.Contains(migration.Answers, migration.Answer(side)) || znode.ValidatePath(record) != nil {
			return opt, exit.Usagef("--record-is %s: expected new=RECORD or legacy=RECORD, where RECORD is the path of a legacy record, or of its job", advice.Word(text))
		}
		opt.RecordIs[record] = migration.Answer(side)
	}
	if d.removed == "" {
		d.removed = fileOf("mrtq-removed-", target)
	}
	if err := a.checkFiles([]files.Named{target.written(), {By: "--removed", Path: d.removed, Regular: true}}); err != nil {
		return opt, err
	}
	opt.Save = d.save
	return opt, nil
}

// save adds znodes to the file of removed ones. A command that is run again, or looks again, may bring some that are there.
func (d *decisionFlags) save(nodes []znode.Node) error {
	kept, err := readKept("file of removed znodes", d.removed)
	if err != nil {
		return err
	}
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n znode.Node) bool {
		return slices.ContainsFunc(kept[n.Path], func(data []byte) bool { return znode.SameData(data, n.Data) })
	})
	for _, n := range nodes {
		if kept[n.Path] != nil {
			return fmt.Errorf("--removed %s: it keeps %s already, with other data; give another file, because restore reads each path once", d.removed, n.Path)
		}
	}
	d.kept = len(kept) + len(nodes)
	if len(nodes) == 0 {
		return nil
	}
	err = files.Add(d.removed, func(w io.Writer) error {
		dump := znode.NewDumpWriter(w)
		for i := range nodes {
			if err := dump.Write(&nodes[i]); err != nil {
				return err
			}
		}
		return dump.Close()
	})
	if err != nil {
		return fmt.Errorf("file of removed znodes: %w", err)
	}
	return nil
}

func (d *decisionFlags) sayKept(a *app) {
	if d.kept > 0 {
		a.Say("what the decision removed is kept in %s, which holds %s now", d.removed, screen.Count(d.kept, "znode", "znodes"))
	}
}
