package migrate

import (
	"context"
	"errors"
	"fmt"

	"mrtq/internal/znode"
)

func refusal(err error) *znode.MultiError {
	var r *znode.MultiError
	errors.As(err, &r)
	return r
}

// isSame reports whether the server refused one thing twice, for one reason. If all was read again between the two, no other client's write
// is the reason, because then the operation would be another one, or demand another version.
func isSame(a, b *znode.MultiError) bool {
	return a != nil && b != nil && a.Op.Kind == b.Op.Kind && a.Op.Path == b.Op.Path && a.Op.Outside == b.Op.Outside && a.Op.Version == b.Op.Version &&
		a.Err.Error() == b.Err.Error()
}

func refused(ctx context.Context, r *Reader, by *znode.MultiError) error {
	if by.Op.Outside {
		r = r.WithChroot("/")
	}
	do := ""
	switch {
	case errors.Is(by.Err, znode.ErrNotEmpty):
		do = "; find out who made what is below it, and remove that"
		if names, err := r.Children(ctx, by.Op.Path); err == nil && len(names) > 0 {
			do = fmt.Sprintf("; find out who made %s, and remove it", znode.Join(by.Op.Path, names[0]))
		}
	case errors.Is(by.Err, znode.ErrNodeExists):
		do = "; find out who made it, and remove it"
	case errors.Is(by.Err, znode.ErrNoNode) && by.Op.Kind == znode.OpCreate:
		do = fmt.Sprintf("; find out who removes %s", znode.Parent(by.Op.Path))
	case errors.Is(by.Err, znode.ErrEphemeralParent):
		do = fmt.Sprintf("; find out which session made %s, and remove it", znode.Parent(by.Op.Path))
	}
	return fmt.Errorf("%w: %w%s", ErrRefused, by, do)
}
