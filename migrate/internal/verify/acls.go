package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
)

// aclSample is about how many ACLs a sample has. That is enough to notice that a whole
// queue or folder was given another ACL. nodesEachJob is about how many znodes a job has.
const (
	aclSample    = 200
	nodesEachJob = 11
)

// sample chooses the znodes whose ACLs are read. Each costs a request.
type sample struct {
	all   bool
	seed  maphash.Seed
	every uint64 // one znode in this many
}

func (s sample) has(path string) bool {
	return s.all || maphash.String(s.seed, path)%s.every == 0
}

// checkACL compares the ACL of a znode, if it was read.
func (v *verifier) checkACL(n *znode.Node, run *ledger.Run, about Difference) {
	if n.ACL == nil {
		return
	}
	v.verdict.ACLs++
	if !sameACL(n.ACL, run.ACL) {
		about.Kind, about.Path, about.Message = OtherACL, n.Path, fmt.Sprintf("its ACL is %s, and %s gives %s", aclText(n.ACL), run.ID, aclText(run.ACL))
		v.differ(about)
	}
}

func sameACL(got, want []znode.ACL) bool {
	if len(want) == 0 {
		return znode.IsOpenACL(got)
	}
	return slices.Equal(got, want)
}

func aclText(acl []znode.ACL) string {
	if len(acl) == 0 {
		acl = znode.OpenACL()
	}
	text := ""
	for i, a := range acl {
		if i > 0 {
			text += ","
		}
		text += a.Public()
	}
	return text
}

// pardon takes back the mark of an ACL that was set, for each znode whose ACL is as its run gives it.
func (v *verifier) pardon(ctx context.Context, nodes []znode.Node, run *ledger.Run) error {
	for i := range nodes {
		if nodes[i].Stat.Aversion == 0 || nodes[i].Unreadable != "" {
			continue
		}
		acl, err := v.t.Reader.ACL(ctx, nodes[i].Path)
		switch {
		case errors.Is(err, znode.ErrNoNode):
		case err != nil:
			return err
		case sameACL(acl, run.ACL):
			nodes[i].Stat.Aversion = 0
		}
	}
	return nil
}

// checkOwnACLs compares the ACLs of the runs' records, each of which counts as compared. Of the layout's own znodes, the
// migration's and the holds, it compares those that a run has created and whose ACL was set since.
func (v *verifier) checkOwnACLs(ctx context.Context) error {
	own := maps.Clone(v.t.Layout)
	for _, h := range v.t.Holds {
		own[h.Path] = h.Stat
	}
	for path, stat := range own {
		run := v.creator(path, stat)
		if stat.Aversion == 0 || run == nil {
			continue
		}
		acl, err := v.t.Reader.ACL(ctx, path)
		switch {
		case errors.Is(err, znode.ErrNoNode):
		case err != nil:
			return err
		default:
			v.checkACL(&znode.Node{Path: path, ACL: acl}, run, Difference{})
		}
	}
	for i := range v.t.Ledger.Runs {
		run := &v.t.Ledger.Runs[i]
		acl, err := v.t.Reader.ACL(ctx, ledger.RunPath(run.ID))
		if err != nil {
			return err
		}
		v.verdict.Nodes++
		v.checkACL(&znode.Node{Path: ledger.RunPath(run.ID), ACL: acl}, run, Difference{})
	}
	return nil
}

// creator is the run that has created a znode of the layout, in the transaction that created its record; nil if none has. The first run
// has also created what all runs are in.
func (v *verifier) creator(path string, stat znode.Stat) *ledger.Run {
	runs := v.t.Ledger.Runs
	for i := range runs {
		if stat.Czxid == runs[i].Stat.Czxid || i == 0 && (path == ledger.MigrationPath || path == ledger.ElectionPath) {
			return &runs[i]
		}
	}
	return nil
}
