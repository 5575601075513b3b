package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// removeTimeout bounds the cleaning up on somebody's server, which goes on
// although the caller's context is cancelled: the chroot is our litter.
const removeTimeout = 30 * time.Second

// chrootPrefix begins the name of every chroot of ours, so that its owner
// recognises one left behind by a killed process. The znode's data says more.
const chrootPrefix = "mrtq-"

// launchAddress makes a chroot of our own below the given address.
func launchAddress(ctx context.Context, s *Server) (cluster, error) {
	hosts, base, err := splitAddress(string(s.backend))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: hosts, root: base + "/" + chrootPrefix + strings.ToLower(rand.Text())}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout, fmt.Errorf("no session after %v", s.opt.StartTimeout))
	defer cancel()
	host, _ := os.Hostname()
	note := fmt.Sprintf("made by mrtq's test harness on %s, process %d, %s; can be removed when that has ended",
		host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	tried := false
	err = withSession(ctx, hosts, nil, nil, func(conn *zk.Conn) error {
		tried = true
		_, err := conn.Create(c.root, []byte(note), 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there; create it first", base)
		}
		if errors.Is(err, zk.ErrNoAuth) {
			return fmt.Errorf("no permission to create a znode in %q there; give an address with a chroot where everybody may", base+"/")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("harness: %s: %w", s.backend, err)
		if tried {
			// For removal: when the answer was lost, the chroot may exist.
			return c, err
		}
		return nil, err
	}
	return c, nil
}

// borrowed is somebody's running server. Only root and below are ours.
type borrowed struct {
	servers []string
	root    string
}

func (c *borrowed) hosts() []string       { return c.servers }
func (c *borrowed) chroot() string        { return c.root }
func (c *borrowed) secureHosts() []string { return nil }
func (c *borrowed) nodes() []node         { return nil }

func (c *borrowed) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), removeTimeout, fmt.Errorf("not done after %v", removeTimeout))
	defer cancel()
	err := wipe(ctx, c.servers, nil, c.root+"/")
	if err == nil {
		err = withSession(ctx, c.servers, nil, nil, func(conn *zk.Conn) error { return conn.Delete(c.root, -1) })
	}
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return fmt.Errorf("harness: %s was left on %s; remove it by hand: %w", c.root, strings.Join(c.servers, ","), err)
}
