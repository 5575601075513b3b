package migrate

import (
	"context"
	"errors"
	"path"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// OtherQueue is a new queue at another place of the target's server.
type OtherQueue struct {
	Chroot string // "" if it is in no chroot
	// Run migrated the records. If it was rolled back, the rollback kept some of their jobs.
	Run Run
}

// FindOtherQueues looks for other new queues on the target's server that have the records of
// the same source, because the target may be mistyped. same reports whether the source that
// a run's record names is the same one. It looks near the target, near the source's chroot if
// the source is given, and at the top of the server. It reads little: a place with very many
// znodes, and what the client may not read, are left out.
func FindOtherQueues(ctx context.Context, target *zkconn.Reader, sourceChroot string, same func(source string) bool) (found []OtherQueue, err error) {
	server, own := target.Outside(), chrootOf(target)
	looked := map[string]bool{own: true}
	look := func(at string) error {
		if looked[at] {
			return nil
		}
		looked[at] = true
		run, there, err := runOf(ctx, server, at, same)
		if there {
			found = append(found, OtherQueue{Chroot: chrootText(at), Run: run})
		}
		return err
	}
	for _, near := range []string{path.Dir(own), path.Join("/", sourceChroot), "/"} {
		names, err := fewChildren(ctx, server, near)
		if err == nil {
			err = look(near)
		}
		for _, name := range names {
			if err == nil {
				err = look(znode.Join(near, name))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// maxNear is how many znodes of a place are searched for new queues at most.
const maxNear = 200

// fewChildren lists the children of a znode, unless there are too many to be chroots.
func fewChildren(ctx context.Context, server *zkconn.Reader, at string) ([]string, error) {
	stat, there, err := server.Exists(ctx, at)
	if err != nil || !there || stat.NumChildren > maxNear {
		return nil, err
	}
	names, err := server.Children(ctx, at)
	slices.Sort(names)
	return names, unlessHidden(err)
}

// runOf returns the newest run in a place that migrated the records of the same source. It
// returns one that was rolled back only if there is no other.
func runOf(ctx context.Context, server *zkconn.Reader, at string, same func(source string) bool) (found Run, ok bool, err error) {
	runs := path.Join(at, RunsPath)
	names, err := server.Children(ctx, runs)
	if err != nil {
		return Run{}, false, unlessHidden(err)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names[max(0, len(names)-maxRunsRead):]) {
		n, err := server.Get(ctx, znode.Join(runs, name))
		if err != nil {
			if err = unlessHidden(err); err != nil {
				return Run{}, false, err
			}
			continue
		}
		run, err := parseRun(&n)
		switch {
		case err != nil || !same(run.Source):
		case run.State != RunRolledBack:
			return run, true, nil
		case !ok:
			found, ok = run, true
		}
	}
	return found, ok, nil
}

// maxRunsRead is how many runs of another queue are read at most.
const maxRunsRead = 20

// unlessHidden is err, but nil if the znode is not there or may not be read.
func unlessHidden(err error) error {
	if errors.Is(err, znode.ErrNoNode) || errors.Is(err, zkconn.ErrNoAuth) {
		return nil
	}
	return err
}

func chrootText(at string) string {
	if at == "/" {
		return ""
	}
	return at
}
