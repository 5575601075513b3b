// Package session opens sessions of go-zookeeper/zk, the library that services use. The
// scenarios work on the new queue with such sessions.
package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// timeout is longer than a leader election takes.
const timeout = 20 * time.Second

// Open opens a session at the servers of an address, without its chroot: paths are the
// server's. The error is a *[zkconn.ConnectError] if there is none, or wraps the cause of ctx's end. The caller closes the session.
func Open(ctx context.Context, cfg zkconn.Config) (*zk.Conn, error) {
	dial := net.DialTimeout
	if cfg.TLS != nil {
		config, err := cfg.TLS.Config()
		if err != nil {
			return nil, explain(ctx, cfg, err)
		}
		dial = func(network, address string, timeout time.Duration) (net.Conn, error) {
			return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address, config)
		}
	}
	if cfg.Dial != nil {
		dial = func(string, string, time.Duration) (net.Conn, error) { return cfg.Dial(context.Background()) }
	}
	conn, events, err := zk.Connect(cfg.Address.Servers, timeout, zk.WithLogInfo(false), zk.WithLogger(quiet{}), zk.WithDialer(dial))
	if err != nil {
		return nil, explain(ctx, cfg, err)
	}
	for tries, connected := 0, false; !connected; {
		select {
		case e := <-events:
			connected = e.State == zk.StateHasSession
			if e.State != zk.StateConnecting {
				continue
			}
			if tries++; tries == 2 { // the first server has not given a session
				if err := explain(ctx, cfg, nil); err != nil {
					conn.Close()
					return nil, err
				}
			}
		case <-ctx.Done():
			conn.Close()
			return nil, context.Cause(ctx)
		}
	}
	for _, a := range cfg.Auth {
		user, password := a.UserPassword()
		if err := conn.AddAuth(a.Scheme, []byte(user+":"+password)); err != nil {
			conn.Close()
			return nil, explain(ctx, cfg, fmt.Errorf("%s credentials: %w", a.Scheme, err))
		}
	}
	return conn, nil
}

// explain returns why mrtq's own client gets no session, because the library doesn't say it; err if it gets one.
func explain(ctx context.Context, cfg zkconn.Config, err error) error {
	r, why := zkconn.OpenReader(ctx, cfg)
	if why != nil {
		return why
	}
	r.Close()
	return err
}

// Tree reads the tree in the chroot of an address, in a session of its own, as it was when Tree was called or later.
func Tree(ctx context.Context, cfg zkconn.Config) (*znode.Tree, error) {
	r, err := zkconn.OpenReader(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	return r.Tree(ctx)
}

// ACL returns the ACL for znodes that only these sessions should use. Without credentials it is
// open to all. With credentials it is the creator's, so everyone with the same credentials
// has access.
func ACL(cfg zkconn.Config) []zk.ACL {
	if len(cfg.Auth) == 0 {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}

// Lost reports whether an error says that a connection broke.
func Lost(err error) bool {
	return slices.ContainsFunc([]error{zk.ErrNoServer, zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing}, func(lost error) bool { return errors.Is(err, lost) })
}

// quiet drops the library's log.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
