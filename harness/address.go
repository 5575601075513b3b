package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
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

// noteBegins is how what a chroot of ours holds begins.
const noteBegins = "made by mrtq's test harness on "

// launchAddress makes a chroot of our own below the given address.
func launchAddress(ctx context.Context, s *Server) (cluster, error) {
	hosts, base, err := splitAddress(string(s.backend))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: hosts, base: base, root: base + "/" + chrootPrefix + strings.ToLower(rand.Text()), connect: s.opt.Connect}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout, fmt.Errorf("no session after %v", s.opt.StartTimeout))
	defer cancel()
	host, _ := os.Hostname()
	note := fmt.Sprintf("%s%s, process %d, %s; can be removed when that has ended",
		noteBegins, host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	acl := s.opt.ACL
	if acl == nil {
		acl = zk.WorldACL(zk.PermAll)
	}
	tried := false
	err = c.session(ctx, func(conn *zk.Conn) error {
		tried = true
		c.others = c.strangers(conn)
		_, err := conn.Create(c.root, []byte(note), 0, acl)
		if errors.Is(err, zk.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there; create it first", base)
		}
		if errors.Is(err, zk.ErrNoAuth) {
			return fmt.Errorf("no permission to create a znode in %q there; give credentials, or an address with a chroot where everybody may", base+"/")
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

// Chroot is a chroot that a harness made at an address.
type Chroot struct {
	Path string // on the server
	Note string // what it says of its maker: host, process, time
}

// Others are the chroots beside ours that were there when Start made it: those
// of runs that are going on, or that were killed and could not remove them.
// Only an address has any.
func (s *Server) Others() []Chroot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.cluster.(*borrowed); ok {
		return b.others
	}
	return nil
}

// borrowed is somebody's running server. Only root and below are ours.
type borrowed struct {
	servers    []string
	base, root string
	others     []Chroot
	connect    func(context.Context) (*zk.Conn, func(), error)
}

func (c *borrowed) hosts() []string       { return c.servers }
func (c *borrowed) chroot() string        { return c.root }
func (c *borrowed) secureHosts() []string { return nil }
func (c *borrowed) nodes() []node         { return nil }

// session calls do with an open session.
func (c *borrowed) session(ctx context.Context, do func(*zk.Conn) error) error {
	if c.connect == nil {
		return withSession(ctx, c.servers, nil, nil, do)
	}
	conn, end, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer end()
	return do(conn)
}

// strangers are the other chroots with our prefix that say that they are a
// harness's. Whoever may not look has none to tell of.
func (c *borrowed) strangers(conn *zk.Conn) []Chroot {
	names, _, err := conn.Children(cmp.Or(c.base, "/"))
	if err != nil {
		return nil
	}
	slices.Sort(names)
	var found []Chroot
	for _, name := range names {
		if !strings.HasPrefix(name, chrootPrefix) {
			continue
		}
		path := c.base + "/" + name
		if note, _, err := conn.Get(path); err == nil && strings.HasPrefix(string(note), noteBegins) {
			found = append(found, Chroot{path, string(note)})
		}
	}
	return found
}

// clean deletes what is below root.
func (c *borrowed) clean(ctx context.Context) error {
	err := c.session(ctx, func(conn *zk.Conn) error { return wipeOn(ctx, conn, c.root+"/") })
	if err != nil {
		return fmt.Errorf("harness: clean %s: %w", c.root, err)
	}
	return nil
}

func (c *borrowed) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), removeTimeout, fmt.Errorf("not done after %v", removeTimeout))
	defer cancel()
	err := c.session(ctx, func(conn *zk.Conn) error {
		if err := wipeOn(ctx, conn, c.root+"/"); err != nil {
			return err
		}
		return conn.Delete(c.root, -1)
	})
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return fmt.Errorf("harness: %s was left on %s; remove it by hand, with zkCli.sh's deleteall: %w", c.root, strings.Join(c.servers, ","), err)
}
