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

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// removeTimeout is the limit for removing our chroot from a server that the
// harness did not start. The removal continues even if the caller's context is
// cancelled, because otherwise the chroot would stay.
const removeTimeout = 30 * time.Second

// chrootPrefix begins the name of every chroot that the harness creates. It
// shows the server's owner which chroots a killed process left behind. The
// znode's data says more.
const chrootPrefix = "mrtq-"

// noteBegins is the beginning of the note, which is the data of such a chroot.
const noteBegins = "made by mrtq's test harness on "

// launchAddress creates a chroot below the given address.
func launchAddress(ctx context.Context, s *Server) (cluster, error) {
	a, err := zkconn.ParseAddress(string(s.backend))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: a.Servers, base: a.Chroot, root: a.Chroot + "/" + chrootPrefix + strings.ToLower(rand.Text()), client: s.opt.Client}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout, fmt.Errorf("no session after %v", s.opt.StartTimeout))
	defer cancel()
	host, _ := os.Hostname()
	note := fmt.Sprintf("%s%s, process %d, %s; can be removed when that process has ended",
		noteBegins, host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	var acl []znode.ACL // open
	if len(s.opt.Client.Credentials) > 0 {
		acl = []znode.ACL{{Perms: zk.PermAll, Scheme: "auth"}} // for who has the same credentials
	}
	tried := false
	err = c.session(ctx, func(w *zkconn.Writer) error {
		tried = true
		err := w.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: c.root, Data: []byte(note), ACL: acl}})
		if errors.Is(err, znode.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there; create it first", a.Chroot)
		}
		if errors.Is(err, zkconn.ErrNoAuth) {
			return fmt.Errorf("no permission to create a znode in %q there; give credentials, or an address with a chroot that is open to all", a.Chroot+"/")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("harness: %s: %w", s.backend, err)
		if tried {
			// Return c so that the caller removes the chroot: if only the
			// answer was lost, the chroot exists.
			return c, err
		}
		return nil, err
	}
	return c, nil
}

// borrowed is a running server that the harness did not start. Only root and
// everything below it is ours.
type borrowed struct {
	servers    []string
	base, root string
	client     Client
}

func (c *borrowed) hosts() []string       { return c.servers }
func (c *borrowed) chroot() string        { return c.root }
func (c *borrowed) secureHosts() []string { return nil }
func (c *borrowed) nodes() []node         { return nil }

// session calls do with an open session.
func (c *borrowed) session(ctx context.Context, do func(*zkconn.Writer) error) error {
	return withSession(ctx, c.servers, c.client, do)
}

// clean deletes what is below root.
func (c *borrowed) clean(ctx context.Context) error {
	err := c.session(ctx, func(w *zkconn.Writer) error { return wipe(ctx, w, c.root) })
	if err != nil {
		return fmt.Errorf("harness: clean %s: %w", c.root, err)
	}
	return nil
}

func (c *borrowed) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), removeTimeout, fmt.Errorf("not done after %v", removeTimeout))
	defer cancel()
	err := c.session(ctx, func(w *zkconn.Writer) error { return removeTree(ctx, w, c.root) })
	if err == nil {
		return nil
	}
	return fmt.Errorf("harness: %s could not be removed from %s; remove it with zkCli.sh's deleteall: %w", c.root, strings.Join(c.servers, ","), err)
}
