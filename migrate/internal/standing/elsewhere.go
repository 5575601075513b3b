package standing

import (
	"context"
	"crypto/sha256"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
)

// readElsewhere finds the records that are not there because a release of another target has handed them over. When that target is
// completed, it keeps no bytes any more, so nothing shows it.
func (l *Reader) readElsewhere(ctx context.Context, cases []Standing) (err error) {
	gone := func(c Standing) bool { return c.Record == Absent && !c.HandedOver }
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

// OtherFolders returns the folders for kept bytes that runs of other targets have beside the legacy queues of a target. Their data
// names the record of the run. The error comes from reading.
func OtherFolders(ctx context.Context, t *target.Target) (folders []string, err error) {
	var roots []string
	own := map[string]bool{}
	for _, run := range t.Ledger.Runs {
		if folder := run.Origin.KeptRunPath(); run.Origin.OneEnsemble {
			own[folder], roots = true, append(roots, znode.Parent(folder))
		}
	}
	slices.Sort(roots)
	folders, err = below(ctx, kept(t), slices.Compact(roots))
	return slices.DeleteFunc(folders, func(folder string) bool { return own[folder] }), err
}

// readOthers reads what is in these folders.
func readOthers(ctx context.Context, t *target.Target) (map[ledger.Hash]bool, error) {
	folders, err := OtherFolders(ctx, t)
	if err != nil {
		return nil, err
	}
	paths, err := below(ctx, kept(t), folders)
	if err != nil {
		return nil, err
	}
	others := map[ledger.Hash]bool{}
	return others, kept(t).GetEach(ctx, paths, func(n znode.Node) { others[ledger.HashOf(sha256.Sum256(n.Data))] = true })
}

// kept reads kept bytes, which are outside of a target's chroot.
func kept(t *target.Target) *zkconn.Reader { return t.Reader.WithChroot("/").MarkUnreadable() }

// below are the children of some znodes.
func below(ctx context.Context, r *zkconn.Reader, parents []string) (paths []string, err error) {
	lists, err := r.ChildrenAll(ctx, parents)
	for i, names := range lists {
		for _, name := range names {
			paths = append(paths, znode.Join(parents[i], name))
		}
	}
	return paths, err
}
