package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// tryOut finds what the server would refuse, before anything is written: an ACL, a missing permission, and a size.
// It returns how many bytes the operations of a transaction may have.
//
// A trial is a transaction that certainly fails: it creates the first missing znode twice, and before it what is missing
// of the chroot. So it changes nothing,
// whatever becomes of its answer, and the server says what it thinks of the first operation. The server does not
// answer a request above its jute.maxbuffer, but closes the connection.
func (r *operation) tryOut(ctx context.Context, missing []*znode.Node) (most int, err error) {
	lists := map[string]*znode.Node{} // the first znode with an ACL
	for n := range r.tree.All(r.opt.Below) {
		if got := r.there.Get(n.Path); n.Path == "/" || n.Stat.EphemeralOwner != 0 || got != nil && sameACL(n.ACL, got.ACL) {
			continue
		}
		if n.ACL != nil && len(n.ACL) == 0 {
			return 0, refused([]string{n.Path}, "its ACL in the dump is empty, and no server takes that", "correct the dump")
		}
		if list := fmt.Sprint(n.ACL); lists[list] == nil {
			lists[list] = n
		}
	}
	if len(missing) == 0 {
		return maxBytes, nil
	}
	first := missing[0].Path
	byPath := func(a, b *znode.Node) int { return strings.Compare(a.Path, b.Path) }
	for _, n := range slices.SortedFunc(maps.Values(lists), byPath) {
		switch _, err := r.try(ctx, first, 0, n.ACL); {
		case errors.Is(err, jute.InvalidACL):
			return 0, refused([]string{n.Path}, fmt.Sprintf("this server takes no ACL of %s", schemes(n.ACL)), "change the ACL in the dump, or configure its scheme at the server")
		case errors.Is(err, znode.ErrEphemeralParent): // [operation.compare] knows those of the dump
			return 0, refused([]string{r.w.Address().Chroot}, "it is ephemeral, or a znode above it is, and an ephemeral znode can have no children", "restore into another chroot")
		case errors.Is(err, jute.QuotaExceeded):
			return 0, refused([]string{first}, "a quota of a znode above it is used up", raiseQuota)
		case err != nil:
			return 0, err
		}
	}
	return r.trySizes(ctx, first, missing)
}

// raiseQuota is what to do then. Whether a quota is enforced, and whether it is enough for all of the dump, only the
// attempt shows.
const raiseQuota = "raise it (setquota in zkCli), and run the same command again"

func schemes(acl []znode.ACL) string {
	var all []string
	for _, a := range acl {
		all = append(all, a.Scheme+":"+a.ID)
	}
	return fmt.Sprintf("%.200q", all)
}

// trySizes returns how large a transaction may be. If a znode alone is too large, the error says so.
func (r *operation) trySizes(ctx context.Context, first string, missing []*znode.Node) (most int, err error) {
	largest, alone, large := missing[0], 0, 0
	for _, n := range missing {
		size := r.size(r.create(n))
		if size > jute.MaxBuffer {
			large++
		}
		if size > alone {
			largest, alone = n, size
		}
	}
	together := alone
	for _, ops := range r.transactions(missing, maxBytes) {
		together = max(together, r.size(ops...))
	}
	for _, size := range slices.Compact([]int{together, alone}) {
		switch fits, err := r.try(ctx, first, size, nil); {
		case err != nil:
			return 0, err
		case fits && size == together:
			return maxBytes, nil
		case fits:
			return alone - r.size(), nil
		}
	}
	others := ""
	if large > 1 {
		others = fmt.Sprintf("; %d znodes of the dump take more than 1 MiB, which is the usual limit", large)
	}
	return 0, refused([]string{largest.Path}, fmt.Sprintf("it has %d bytes of data, and this server does not take a request of %d bytes: its jute.maxbuffer is smaller%s", len(largest.Data), alone, others),
		fmt.Sprintf("raise jute.maxbuffer of all servers to %d at least (-Djute.maxbuffer=…), or take the znode out of the dump", alone))
}

// size is that of a transaction of these operations, as a server compares it with its jute.maxbuffer: without the length
// that is before it.
func (r *operation) size(ops ...znode.Op) int {
	return znode.MultiSize(ops, len(r.w.Address().Chroot)) - 4
}

// try makes a trial with an ACL, of a size in bytes, or smaller. It reports whether the server takes a request of that
// size. The error says why the server would not create such a znode.
func (r *operation) try(ctx context.Context, path string, size int, acl []znode.ACL) (fits bool, err error) {
	ops := append(slices.Clone(r.chroot), znode.Op{Kind: znode.OpCreate, Path: path, ACL: acl}, znode.Op{Kind: znode.OpCreate, Path: path})
	if more := size - r.size(ops...); more > 0 {
		ops[len(r.chroot)].Data = make([]byte, more)
	}
	for range maxAttempts {
		err = r.w.Multi(ctx, ops)
		var failed *znode.MultiError
		switch {
		case errors.As(err, &failed) && failed.Index == len(ops)-1:
			return true, nil
		case errors.Is(err, zkconn.ErrUnknownOutcome):
		default:
			return true, err
		}
	}
	err = fmt.Errorf("%d times in a row: %w", maxAttempts, err)
	if size == 0 {
		return false, err
	}
	if fits, small := r.try(ctx, path, 0, nil); !fits {
		return false, small
	}
	return false, nil
}
