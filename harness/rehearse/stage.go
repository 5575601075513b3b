package rehearse

import (
	"context"
	"errors"
	"fmt"

	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

type stage struct {
	cfg  zkconn.Config
	root string                      // the chroot in which all happens; "" is the server's root
	stop func(context.Context) error // ends the server, or removes the chroot, also after Ctrl-C
}

// start starts a server in this process, which nobody else can reach, or makes a chroot of its own at an address. Stop it with stop.
func start(ctx context.Context, opt Options) (*stage, error) {
	s := &stage{cfg: zkconn.Config{TLS: opt.Client.TLS, Auth: opt.Client.Credentials}}
	if opt.On == "" {
		server, err := minizk.Start(minizk.Options{Private: true, RealTime: true})
		if err != nil {
			return nil, err
		}
		s.cfg.Address.Servers, s.cfg.Dial = []string{"127.0.0.1:0"}, server.Dial // no name, because a session would look it up
		s.stop = func(context.Context) error { return server.Close() }
		return s, nil
	}
	if err := wantEmpty(ctx, opt); err != nil {
		return nil, err
	}
	server, err := harness.Start(ctx, harness.Backend(opt.On), harness.Options{Client: opt.Client})
	if err != nil {
		return nil, err
	}
	s.stop = func(ctx context.Context) error { return server.Stop(context.WithoutCancel(ctx)) }
	s.cfg.Address, err = zkconn.ParseAddress(server.Address())
	s.root, s.cfg.Address.Chroot = s.cfg.Address.Chroot, ""
	return s, err
}

func wantEmpty(ctx context.Context, opt Options) error {
	address, err := zkconn.ParseAddress(opt.On)
	if err != nil {
		return err
	}
	r, err := zkconn.OpenReader(ctx, zkconn.Config{Address: address, TLS: opt.Client.TLS, Auth: opt.Client.Credentials})
	if err != nil {
		return err
	}
	defer r.Close()
	names, err := r.Children(ctx, "/")
	if errors.Is(err, znode.ErrNoNode) {
		return fmt.Errorf("%s: the chroot %s does not exist there; create it as an empty znode (in zkCli: create %[2]s), or give another address", opt.On, address.Chroot)
	}
	if err != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("%s is not empty: it has %q. A rehearsal needs an empty chroot on a staging ensemble: create one, and give it. The data of a znode mrtq-… says whose copy it is; when that process has ended, zkCli's deleteall removes it",
		opt.On, names[:min(len(names), 5)])
}

func (s *stage) open(ctx context.Context, folder string) (*migrate.Writer, error) {
	cfg := s.cfg
	cfg.Address.Chroot = s.root + folder
	return zkconn.OpenWriter(ctx, cfg)
}

// site is a queue on the stage, for its workers. Their client is the one that services use, and reads
// through a mirror.
func (s *stage) site(ctx context.Context, folder string, m *daemons.Mirror) daemons.Site {
	return m.Site(s.root+folder, func() (daemons.Session, error) { return session.Open(ctx, s.cfg) })
}
