package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
)

// Maker says who made a chroot: the host and process, and when. ok is false if
// the note doesn't say.
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

// Ended reports whether the process that made a chroot is known to have ended.
// Of a process on another machine nothing is known.
func (c Chroot) Ended() bool {
	host, process, _, ok := c.Maker()
	if here, err := os.Hostname(); !ok || err != nil || host != here {
		return false
	}
	p, err := os.FindProcess(process)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Leftovers are the chroots that harnesses made at an address: those of runs that
// are going on, or that were killed and could not remove them.
func Leftovers(ctx context.Context, address Backend, opt Options) (found []Chroot, err error) {
	err = atAddress(ctx, address, opt, func(c *borrowed, conn *zk.Conn) error {
		if there, _, err := conn.Exists(cmp.Or(c.base, "/")); err != nil {
			return err
		} else if !there {
			return fmt.Errorf("the chroot %s does not exist there", c.base)
		}
		found = c.strangers(conn)
		return nil
	})
	return found, err
}

// RemoveLeftover removes a chroot that [Leftovers] found, with all that is below
// it. It looks once more that a harness made it.
func RemoveLeftover(ctx context.Context, address Backend, opt Options, left Chroot) error {
	return atAddress(ctx, address, opt, func(c *borrowed, conn *zk.Conn) error {
		note, _, err := conn.Get(left.Path)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil // somebody else has removed it
		case err != nil:
			return err
		case !strings.HasPrefix(left.Path, c.base+"/"+chrootPrefix) || string(note) != left.Note:
			return fmt.Errorf("%s is no chroot of a harness, or another than it was", left.Path)
		}
		if err := wipeOn(ctx, conn, left.Path+"/"); err != nil {
			return err
		}
		if err := conn.Delete(left.Path, -1); !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		return nil
	})
}

// atAddress opens a session at an address, beside all chroots.
func atAddress(ctx context.Context, address Backend, opt Options, do func(*borrowed, *zk.Conn) error) error {
	hosts, base, err := splitAddress(string(address))
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: hosts, base: base, connect: opt.Connect}
	if err := c.session(ctx, func(conn *zk.Conn) error { return do(c, conn) }); err != nil {
		return fmt.Errorf("harness: %s: %w", address, err)
	}
	return nil
}
