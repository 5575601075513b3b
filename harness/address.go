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

// removeTimeout is the limit for removing our chroot from somebody's server.
// The removal continues even if the caller's context is cancelled, because
// nobody else will remove it.
const removeTimeout = 30 * time.Second

// chrootPrefix begins the name of every chroot that the harness creates. By it,
// the server's owner recognises one that a killed process left behind. The
// znode's data says more.
const chrootPrefix = "mrtq-"

// noteBegins is the beginning of the data of such a chroot.
const noteBegins = "made by mrtq's test harness on "

// launchAddress creates a chroot below the given address.
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
			// Kept for removal: if the answer was lost, the chroot may exist.
			return c, err
		}
		return nil, err
	}
	return c, nil
}

// Chroot is a chroot that a harness created at an address.
type Chroot struct {
	Path string // on the server
	Note string // who created it: host, process, time
}

// Others are the other harness chroots that existed when Start created ours.
// They belong to runs that are still going on, or that were killed before they
// could remove them. Only an address has any.
func (s *Server) Others() []Chroot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.cluster.(*borrowed); ok {
		return b.others
	}
	return nil
}

// borrowed is somebody's running server. Only root and what is below it is
// ours.
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

// strangers are the other chroots that have our prefix and the note of a
// harness. Without the permission to look, there are none.
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
