package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/zkconn"
)

// connection holds the flags that say how to reach a server.
type connection struct {
	timeout, sessionTimeout time.Duration
	useTLS                  bool
	tls                     zkconn.TLS
	authFile                string
	maxResponse             int
	maxRate                 int           // operations a second; 0 means no limit
	limit                   *zkconn.Limit // the same for all sessions of the command; nil means no limit
	patient                 bool          // --timeout was given, so it also applies if all servers refuse the connection
}

func (c *connection) flags(f *pflag.FlagSet) {
	f.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long to try to reach a server; without this flag, only 5s if all servers refuse the connection")
	f.DurationVar(&c.sessionTimeout, "session-timeout", 10*time.Second, "ZooKeeper session timeout to request")
	f.BoolVar(&c.useTLS, "tls", false, "use TLS, trusting the system's authorities unless --tls-ca is given")
	f.StringVar(&c.tls.CA, "tls-ca", "", "PEM `file` of the authorities to trust; implies --tls")
	f.StringVar(&c.tls.Cert, "tls-cert", "", "PEM `file` of this client's certificate; implies --tls")
	f.StringVar(&c.tls.Key, "tls-key", "", "PEM `file` of this client's key; implies --tls")
	f.StringVar(&c.tls.ServerName, "tls-server-name", "", "`name` to expect in the server's certificate; implies --tls")
	f.StringVar(&c.authFile, "auth-file", "", "`file` (mode 0600) of credentials, one on each line: digest:user:password; or the same in $"+settings.AuthVariable)
	f.IntVar(&c.maxResponse, "max-response", 64<<20, "largest answer to accept from a server, in `bytes`")
}

// rateFlag is for the commands that read or write a whole queue.
func (c *connection) rateFlag(f *pflag.FlagSet) {
	f.IntVar(&c.maxRate, "max-rate", 0, "most `operations` a second on the servers: each read of a znode, an ACL or a list is one, and so is each change in a transaction (0: as many as they answer without delay)")
}

// setLimit sets the limit of --max-rate.
func (c *connection) setLimit() error {
	if c.maxRate < 0 {
		return exit.Usagef("--max-rate %d: expected at least 1, or 0 for no limit", c.maxRate)
	}
	if c.maxRate > 0 {
		c.limit = zkconn.NewLimit(c.maxRate)
	}
	return nil
}

// connConfig says how to reach a server.
func (a *app) connConfig(address zkconn.Address) (zkconn.Config, error) {
	c := a.conn
	switch {
	case c.timeout <= 0:
		return zkconn.Config{}, exit.Usagef("--timeout %v: expected more than 0", c.timeout)
	case c.sessionTimeout <= 0:
		return zkconn.Config{}, exit.Usagef("--session-timeout %v: expected more than 0", c.sessionTimeout)
	case c.maxResponse <= 0:
		return zkconn.Config{}, exit.Usagef("--max-response %d: expected more than 0", c.maxResponse)
	}
	cfg := zkconn.Config{Address: address, SessionTimeout: c.sessionTimeout, GiveUp: c.timeout, MaxResponse: c.maxResponse, Log: a.log, Limit: c.limit,
		Say: func(news string) { a.Say("%s", news) }}
	if c.patient {
		cfg.Refused = c.timeout
	}
	for flag, path := range map[string]string{"--tls-ca": c.tls.CA, "--tls-cert": c.tls.Cert, "--tls-key": c.tls.Key} {
		if _, err := os.Stat(path); path != "" && err != nil {
			return cfg, files.Unread(flag+" "+path, err)
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
