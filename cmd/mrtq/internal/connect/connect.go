// Package connect has the flags that say how to reach a server, and makes of them the
// configuration of its sessions.
package connect

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/time/rate"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/zkconn"
)

// Connection holds the flags that say how to reach a server.
type Connection struct {
	// Timeout is how long to try to reach a server, and to wait for its next answer.
	Timeout        time.Duration
	sessionTimeout time.Duration
	useTLS         bool
	tls            zkconn.TLS
	authFile       string
	maxResponse    int
	// MaxRate is how many operations a second are allowed; 0 means no limit.
	MaxRate int
	limit   *rate.Limiter // the same for all sessions of the command; nil means no limit
	// Silence knows for how long the servers of all sessions have kept silent.
	Silence zkconn.SilenceTimer
	log     *slog.Logger
	say     func(news string)
}

// Flags adds the flags of all commands.
func (c *Connection) Flags(f *pflag.FlagSet) {
	f.DurationVar(&c.Timeout, "timeout", 30*time.Second, "how long to wait for a server and each answer")
	f.DurationVar(&c.sessionTimeout, "session-timeout", 10*time.Second, "ZooKeeper session timeout to request")
	f.BoolVar(&c.useTLS, "tls", false, "use TLS, trusting the system's authorities unless --tls-ca is given")
	f.StringVar(&c.tls.CA, "tls-ca", "", "PEM `file` of the authorities to trust; implies --tls")
	f.StringVar(&c.tls.Cert, "tls-cert", "", "PEM `file` of this client's certificate; implies --tls")
	f.StringVar(&c.tls.Key, "tls-key", "", "PEM `file` of this client's key; implies --tls")
	f.StringVar(&c.tls.ServerName, "tls-server-name", "", "`name` to expect in the server's certificate; implies --tls")
	f.StringVar(&c.authFile, "auth-file", "", "`file` (mode 0600) of credentials, one on each line: digest:user:password; or the same in $"+settings.AuthVariable)
	f.IntVar(&c.maxResponse, "max-response", 64<<20, "largest answer to accept from a server, in `bytes`")
}

// RateFlag adds --max-rate. It is for the commands that read or write a whole queue.
func (c *Connection) RateFlag(f *pflag.FlagSet) {
	f.IntVar(&c.MaxRate, "max-rate", 0, "limit of `operations` a second on the servers (0: none)")
}

// Prepare checks the limit of --max-rate. It is called once, when flags are parsed. log and
// say hear of the sessions.
func (c *Connection) Prepare(log *slog.Logger, say func(news string)) error {
	if c.MaxRate < 0 {
		return exit.Usagef("--max-rate %d: expected at least 1, or 0 for no limit", c.MaxRate)
	}
	if c.MaxRate > 0 {
		c.limit = zkconn.NewLimiter(c.MaxRate)
	}
	c.log, c.say = log, say
	return nil
}

// Files returns the files that the flags name.
func (c *Connection) Files() []files.Named {
	return []files.Named{{By: "--tls-ca", Path: c.tls.CA}, {By: "--tls-cert", Path: c.tls.Cert}, {By: "--tls-key", Path: c.tls.Key}, {By: "--auth-file", Path: c.authFile}}
}

// Config says how to reach a server. An error is about the flags, or about a file that they
// name.
func (c *Connection) Config(address zkconn.Address) (zkconn.Config, error) {
	switch {
	case c.Timeout <= 0:
		return zkconn.Config{}, exit.Usagef("--timeout %v: expected more than 0", c.Timeout)
	case c.sessionTimeout <= 0:
		return zkconn.Config{}, exit.Usagef("--session-timeout %v: expected more than 0", c.sessionTimeout)
	case c.maxResponse <= 0:
		return zkconn.Config{}, exit.Usagef("--max-response %d: expected more than 0", c.maxResponse)
	case (c.tls.Cert == "") != (c.tls.Key == ""):
		return zkconn.Config{}, exit.Usagef("--tls-cert, --tls-key: give both, the certificate and its key")
	}
	cfg := zkconn.Config{Address: address, SessionTimeout: c.sessionTimeout, GiveUpAfter: c.Timeout, MaxResponse: c.maxResponse, Log: c.log, Limiter: c.limit, Silence: &c.Silence, Notify: c.say}
	for _, f := range c.Files() {
		if _, err := os.Stat(f.Path); f.Path != "" && err != nil {
			return cfg, files.Unread(f.By+" "+f.Path, err)
		}
	}
	if c.useTLS || c.tls != (zkconn.TLS{}) {
		cfg.TLS = &c.tls
	}
	var err error
	if c.authFile != "" {
		if cfg.Auth, err = zkconn.ReadAuthFile(c.authFile); err != nil {
			err = files.Unread("--auth-file "+c.authFile, err)
		}
	} else if text := os.Getenv(settings.AuthVariable); text != "" {
		if cfg.Auth, err = zkconn.ParseAuth(text); err != nil {
			err = fmt.Errorf("$%s: %w", settings.AuthVariable, err)
		}
	}
	return cfg, err
}

// SameServer returns the flags with which another mrtq process, in another folder,
// connects to the same server in the same way.
func (c *Connection) SameServer() ([]string, error) {
	var flags []string
	for _, f := range c.Files() {
		if f.Path == "" {
			continue
		}
		path, err := filepath.Abs(f.Path)
		if err != nil {
			return nil, err
		}
		flags = append(flags, f.By, path)
	}
	if c.useTLS {
		flags = append(flags, "--tls")
	}
	if c.tls.ServerName != "" {
		flags = append(flags, "--tls-server-name", c.tls.ServerName)
	}
	return append(flags, "--timeout", c.Timeout.String(), "--session-timeout", c.sessionTimeout.String()), nil
}
