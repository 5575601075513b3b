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
	hosts, base, err := splitAddress(string(s.backend))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	c := &borrowed{servers: hosts, base: base, root: base + "/" + chrootPrefix + strings.ToLower(rand.Text()), client: s.opt.Client}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout, fmt.Errorf("no session after %v", s.opt.StartTimeout))
	defer cancel()
	host, _ := os.Hostname()
	note := fmt.Sprintf("%s%s, process %d, %s; can be removed when that process has ended",
		noteBegins, host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	var acl []znode.ACL // open
	for _, a := range s.opt.ACL {
		acl = append(acl, znode.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	tried := false
	err = c.session(ctx, func(w *zkconn.Writer) error {
		tried = true
		c.others = c.otherChroots(ctx, w)
		err := w.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: c.root, Data: []byte(note), ACL: acl}})
		if errors.Is(err, znode.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there; create it first", base)
		}
		if errors.Is(err, zkconn.ErrNoAuth) {
			return fmt.Errorf("no permission to create a znode in %q there; give credentials, or an address with a chroot that is open to all", base+"/")
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

// Chroot is a chroot that a harness, of this process or another, created at an
// address.
type Chroot struct {
	Path string // on the server
	Note string // its data: who created it (host, process, time)
}

// Others returns the other harnesses' chroots that were there when Start created
// the server's own. They belong to runs that are not finished, or that were
// killed before they could remove them. Without an address there are none.
func (s *Server) Others() []Chroot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.cluster.(*borrowed); ok {
		return b.others
	}
	return nil
}

// borrowed is a running server that the harness did not start. Only root and
// everything below it is ours.
type borrowed struct {
	servers    []string
	base, root string
	others     []Chroot
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

// otherChroots returns the chroots that have our prefix and the note of a harness.
// It returns none if the session has no permission to list them.
func (c *borrowed) otherChroots(ctx context.Context, w *zkconn.Writer) []Chroot {
	names, err := w.Children(ctx, cmp.Or(c.base, "/"))
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
		if n, err := w.Get(ctx, path); err == nil && strings.HasPrefix(string(n.Data), noteBegins) {
			found = append(found, Chroot{path, string(n.Data)})
		}
	}
	return found
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
	err := c.session(ctx, func(w *zkconn.Writer) error {
		if _, there, err := w.Exists(ctx, c.root); err != nil || !there {
			return err // it may never have been created
		}
		if err := wipe(ctx, w, c.root); err != nil {
			return err
		}
		return w.Multi(ctx, []znode.Op{znode.Delete(c.root, -1)})
	})
	if err == nil || errors.Is(err, znode.ErrNoNode) {
		return nil
	}
	return fmt.Errorf("harness: %s could not be removed from %s; remove it with zkCli.sh's deleteall: %w", c.root, strings.Join(c.servers, ","), err)
}
