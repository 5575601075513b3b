package migrate

import (
	"cmp"
	"context"

	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
)

// Sides: what an operator names as SOURCE or TARGET.
type (
	Side         = sides.Side         // open for reading; close it
	WritableSide = sides.WritableSide // open for writing as well; close it
	SideOptions  = sides.Options      // how to open a side
	Config       = zkconn.Config      // how to reach a server
	Auth         = zkconn.Auth        // credentials
	TLS          = zkconn.TLS         // certificates
)

// OpenSide opens a place for reading: a server (host:port,…/chroot) or a dump
// (file:tree.ndjson). The session of a side has no method that writes. The error says what is wrong with place, or why it can't be
// opened.
func OpenSide(ctx context.Context, place string, opt SideOptions) (*Side, error) {
	p, err := sides.Parse(place)
	if err != nil {
		return nil, err
	}
	return sides.Open(ctx, p, opt)
}

// OpenWritableSide opens a server or a dump for writing. A dump does not change before
// [WritableSide.Commit]. The error is as that of [OpenSide], or wraps [ErrPlace] if no new queue can be there.
func OpenWritableSide(ctx context.Context, place string, opt SideOptions) (*WritableSide, error) {
	p, err := sides.Parse(place)
	if err != nil {
		return nil, err
	}
	if err := target.CheckChroot(cmp.Or(p.Server.Chroot, "/")); err != nil {
		return nil, err
	}
	opt.Election = ledger.ElectionPath
	return sides.OpenWritable(ctx, p, opt)
}
