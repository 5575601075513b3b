package verify

import (
	"context"
	"errors"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/migration"
)

func gives(run *migration.Run) []znode.ACL {
	if len(run.ACL) == 0 {
		return znode.OpenACL()
	}
	return run.ACL
}

const otherACL = "its ACL is not the one that its run gives"

// clearExpectedACLs takes back the mark of an ACL that was set, for each znode whose ACL is as its run gives it, and for
// one that is gone.
func (v *verifier) clearExpectedACLs(ctx context.Context, nodes []znode.Node, run *migration.Run) error {
	for i := range nodes {
		if nodes[i].Stat.Aversion == 0 || nodes[i].Unreadable != "" {
			continue
		}
		acl, err := v.t.Reader.ACL(ctx, nodes[i].Path)
		switch {
		case errors.Is(err, znode.ErrNoNode), err == nil && slices.Equal(acl, gives(run)):
			nodes[i].Stat.Aversion = 0
		case err != nil:
			return err
		}
	}
	return nil
}

// checkOwnACLs compares the ACLs of the layout's own znodes, the migration's, the holds and the runs' records, if a run has
// created them and their ACL was set since. What nobody has set is as the run gave it.
func (v *verifier) checkOwnACLs(ctx context.Context) error {
	own := maps.Clone(v.t.Layout)
	for _, h := range v.t.Holds {
		own[h.Path] = h.Stat
	}
	for i := range v.t.Ledger.Runs {
		run := &v.t.Ledger.Runs[i]
		own[ledger.RunPath(run.ID)] = run.Stat
	}
	v.verdict.Nodes += len(v.t.Ledger.Runs)
	for path, stat := range own {
		run, node := v.creator(path, stat), []znode.Node{{Path: path, Stat: stat}}
		if run == nil {
			continue
		}
		if err := v.clearExpectedACLs(ctx, node, run); err != nil {
			return err
		}
		if node[0].Stat.Aversion != 0 {
			v.differ(migration.Difference{Kind: migration.DifferenceOtherACL, Path: path, Message: otherACL})
		}
	}
	return nil
}

// creator is the run that has created a znode of the layout, in the transaction that created its record; nil if none has. The first run
// has also created what all runs are in.
func (v *verifier) creator(path string, stat znode.Stat) *migration.Run {
	runs := v.t.Ledger.Runs
	for i := range runs {
		if stat.Czxid == runs[i].Stat.Czxid || i == 0 && (path == ledger.MigrationPath || path == ledger.ElectionPath) {
			return &runs[i]
		}
	}
	return nil
}
