package migrate

import (
	"context"

	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// DialectAt returns the dialect of the new queue in a tree: the newest run's, else what its
// znodes show. It is "" if nothing shows it. An error comes from reading.
func DialectAt(ctx context.Context, r *Reader) (newqueue.Dialect, error) {
	return target.DialectAt(ctx, r)
}
