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

const noteBegins = "made by mrtq's test harness on "

func (s *Server) launchAddress(ctx context.Context) error {
	a, err := zkconn.ParseAddress(string(s.backend))
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	s.hosts, s.chroot = a.Servers, a.Chroot+"/"+chrootPrefix+strings.ToLower(rand.Text())
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout, fmt.Errorf("no session after %v", s.opt.StartTimeout))
	defer cancel()
	host, _ := os.Hostname()
	note := fmt.Sprintf("%s%s, process %d, %s; can be removed when that process has ended",
		noteBegins, host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	var acl []znode.ACL // open
	if len(s.opt.Client.Credentials) > 0 {
		acl = []znode.ACL{{Perms: zk.PermAll, Scheme: "auth"}} // for who has the same credentials
	}
	err = withSession(ctx, a.Servers, s.opt.Client, func(w *zkconn.Writer) error {
		s.remove = s.removeChroot // also after an error: if only the answer was lost, the chroot exists
		err := w.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: s.chroot, Data: []byte(note), ACL: acl}})
		if errors.Is(err, znode.ErrNoNode) {
			return fmt.Errorf("the chroot %s does not exist there; create it first", a.Chroot)
		}
		if errors.Is(err, zkconn.ErrNoAuth) {
			return fmt.Errorf("no permission to create a znode in %q there; give credentials, or an address with a chroot that is open to all", a.Chroot+"/")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("harness: %s: %w", s.backend, err)
	}
	return nil
}

func (s *Server) removeChroot(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), removeTimeout, fmt.Errorf("not done after %v", removeTimeout))
	defer cancel()
	err := withSession(ctx, s.hosts, s.opt.Client, func(w *zkconn.Writer) error { return w.RemoveTree(ctx, s.chroot) })
	if err == nil {
		return nil
	}
	return fmt.Errorf("harness: %s could not be removed from %s; remove it with zkCli.sh's deleteall: %w", s.chroot, strings.Join(s.hosts, ","), err)
}
