package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Chroot is a chroot that a harness, of this process or another, created at an
// address.
type Chroot struct {
	Path string // on the server
	Note string // its data: who created it (host, process, time)
}

// Maker returns which process created the chroot: its host, its id, and when it
// did. ok is false if the note doesn't say that.
func (c Chroot) Maker() (host string, process int, made time.Time, ok bool) {
	rest, begins := strings.CutPrefix(c.Note, noteBegins)
	rest, _, ends := strings.Cut(rest, ";")
	parts := strings.Split(rest, ", ")
	if !begins || !ends || len(parts) != 3 {
		return "", 0, time.Time{}, false
	}
	made, err := time.Parse(time.RFC3339, parts[2])
	if _, serr := fmt.Sscanf(parts[1], "process %d", &process); err != nil || serr != nil || process <= 0 {
		return "", 0, time.Time{}, false
	}
	return parts[0], process, made, true
}

// Ended reports whether the process that created the chroot has certainly ended.
// It returns false for a process on another machine, because it can't know.
func (c Chroot) Ended() bool {
	host, process, _, ok := c.Maker()
	if here, err := os.Hostname(); !ok || err != nil || host != here {
		return false
	}
	p, err := os.FindProcess(process)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Leftovers returns the chroots that harnesses have created at an address, sorted
// by path. They belong to runs that are not finished, or that were killed before
// they could remove them. There are none if the session has no permission to list them.
// Of opt it uses only Client.
func Leftovers(ctx context.Context, address Backend, opt Options) (found []Chroot, err error) {
	err = atAddress(ctx, address, opt, func(c *borrowed, w *zkconn.Writer) error {
		names, err := w.Children(ctx, cmp.Or(c.base, "/"))
		if errors.Is(err, zkconn.ErrNoAuth) {
			return nil
		} else if errors.Is(err, znode.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there", c.base)
		} else if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			path := c.base + "/" + name
			if !strings.HasPrefix(name, chrootPrefix) {
				continue
			}
			if n, err := w.Get(ctx, path); err == nil && strings.HasPrefix(string(n.Data), noteBegins) {
				found = append(found, Chroot{path, string(n.Data)})
			}
		}
		return nil
	})
	return found, err
}

// RemoveLeftover removes a chroot that [Leftovers] found, with everything below
// it. It first checks again that a harness created the chroot. If the chroot was
// removed already, it does nothing. Of opt it uses only Client.
func RemoveLeftover(ctx context.Context, address Backend, opt Options, left Chroot) error {
	return atAddress(ctx, address, opt, func(c *borrowed, w *zkconn.Writer) error {
		n, err := w.Get(ctx, left.Path)
		switch {
		case errors.Is(err, znode.ErrNoNode):
			return nil // it has been removed meanwhile
		case err != nil:
			return err
		case !strings.HasPrefix(left.Path, c.base+"/"+chrootPrefix) || string(n.Data) != left.Note:
			return fmt.Errorf("%s is not a chroot that a harness created, or another one has replaced it", left.Path)
		}
		return removeTree(ctx, w, left.Path)
	})
}

// atAddress opens a session at an address, outside of the harness's chroots.
func atAddress(ctx context.Context, address Backend, opt Options, do func(*borrowed, *zkconn.Writer) error) error {
	hosts, base, err := splitAddress(string(address))
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: hosts, base: base, client: opt.Client}
	if err := c.session(ctx, func(w *zkconn.Writer) error { return do(c, w) }); err != nil {
		return fmt.Errorf("harness: %s: %w", address, err)
	}
	return nil
}
