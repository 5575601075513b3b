package handover

import (
	"context"
	"crypto/sha256"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
)

// readElsewhere finds the records that are not there because a release of another target has handed them over. When that target is
// completed, it keeps no bytes any more, so nothing shows it.
func (l *CaseReader) readElsewhere(ctx context.Context, cases []Case) (err error) {
	gone := func(c Case) bool { return c.Record == Absent && !c.HandedOver }
	if l.Src == nil || !slices.ContainsFunc(cases, gone) {
		return nil
	}
	if l.others == nil {
		if l.others, err = readOthers(ctx, l.Target); err != nil {
			return err
		}
	}
	for i, c := range cases {
		cases[i].Elsewhere = gone(c) && l.others[c.Entry.Hash]
	}
	return nil
}

// readOthers reads what runs of other targets keep beside the legacy queues of a target.
func readOthers(ctx context.Context, t *target.Target) (map[ledger.Hash]bool, error) {
	var roots []string
	own := map[string]bool{}
	for _, run := range t.Ledger.Runs {
		if folder := run.Origin.KeptRunPath(); run.Origin.OneEnsemble {
			own[folder], roots = true, append(roots, znode.Parent(folder))
		}
	}
	slices.Sort(roots)
	r := t.Reader.WithChroot("/").MarkUnreadable()
	paths := slices.Compact(roots)
	for range 2 { // the folders, and what is in them
		lists, err := r.ChildrenAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		var below []string
		for i, names := range lists {
			for _, name := range names {
				if path := znode.Join(paths[i], name); !own[path] {
					below = append(below, path)
				}
			}
		}
		paths = below
	}
	others := map[ledger.Hash]bool{}
	return others, r.GetEach(ctx, paths, func(n znode.Node) { others[ledger.HashOf(sha256.Sum256(n.Data))] = true })
}
