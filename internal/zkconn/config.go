package zkconn

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"golang.org/x/time/rate"
)

// Config says how to reach a server. Only Address is required.
type Config struct {
	Address Address
	// SessionTimeout is the timeout to ask the server for. The server may change it.
	// 0 means 10 s.
	SessionTimeout time.Duration
	// GiveUpAfter is how long to try if no server can be reached, at the start or later, and how long
	// to wait for an answer if none comes, over all connections. After that the session is lost. 0
	// means 30 s.
	GiveUpAfter time.Duration
	TLS         *TLS   // nil: no TLS
	Auth        []Auth // sent in this order on each connection, before all requests
	// MaxResponse is the largest answer accepted, in bytes; 0 means 64 MiB,
	// the names of about two million children.
	MaxResponse int
	// Dial connects to the servers of Address. nil means TCP.
	Dial func(context.Context) (net.Conn, error)
	// Bare says that the server has nothing of its own below /zookeeper: what is there is its users'.
	Bare bool
	Log  *slog.Logger // nil: none
	// Limiter caps operations a second. Each read of a znode, a list or an ACL
	// counts as one, and so does each change. Sessions can share it. nil: none.
	Limiter *rate.Limiter
	// Silence knows for how long the servers have kept silent. Sessions can share it.
	Silence *SilenceTimer
	// Notify, if not nil, is called at most once, if the first attempts to open the session fail
	// and others follow. The message says what is being tried.
	Notify func(string)
}

func (c Config) withDefaults() Config {
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 10*time.Second)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 30*time.Second)
	c.MaxResponse = cmp.Or(c.MaxResponse, 64<<20)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Silence = cmp.Or(c.Silence, &SilenceTimer{})
	if c.Notify == nil {
		c.Notify = func(string) {}
	}
	return c
}
