package handover

import (
	"context"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// EmptyBatches makes the pieces that remove batches of which no job is left. A batch
// that is left without jobs would be reported as done, so it goes even if another client
// has changed it. One that a session has locked stays.
func EmptyBatches(ctx context.Context, t *target.Target, bids []string) (pieces []apply.Piece, err error) {
	var roots, uuids []string
	for _, bid := range bids {
		roots = append(roots, newqueue.BatchPath(bid))
		uuids = append(uuids, newqueue.BatchUUIDsPath+"/"+t.Ledger.Batch(bid).UUID)
	}
	there, err := t.Reader.GetAll(ctx, uuids)
	if err != nil {
		return nil, err
	}
	for sub, err := range t.Reader.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return nil, err
		}
		if sub.Missing() || !isEmptyBatch(sub) {
			continue
		}
		bid := znode.Name(sub.Root)
		nodes := slices.Clone(sub.Nodes)
		if i := slices.IndexFunc(there, func(n znode.Node) bool {
			return n.Path == newqueue.BatchUUIDsPath+"/"+t.Ledger.Batch(bid).UUID && string(n.Data) == bid
		}); i >= 0 {
			nodes = append(nodes, there[i])
		}
		ops, line := target.DeleteOps(nodes), ledger.Line{Kind: ledger.BatchRemoved, Batch: bid}
		pieces = append(pieces, apply.Piece{Removed: migration.Counts{Batches: 1},
			Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, []ledger.Line{line} }})
	}
	return pieces, nil
}

func isEmptyBatch(sub zkconn.Subtree) bool {
	return !slices.ContainsFunc(sub.Nodes, func(n znode.Node) bool {
		rest := strings.TrimPrefix(n.Path, sub.Root+"/")
		return n.Stat.EphemeralOwner != 0 || strings.HasPrefix(rest, "states/") && strings.Count(rest, "/") > 1
	})
}
