package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"mrtq/internal/zkconn"
	"mrtq/internal/zkdata"
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

// authVariable is the variable that can hold credentials instead of a file. There is no
// flag for them, because every process on the machine can read flags.
const authVariable = "MRTQ_ZK_AUTH"

func (c *connection) flags(f *pflag.FlagSet) {
	f.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long to try to reach a server; without this flag, only 5s if all servers refuse the connection")
	f.DurationVar(&c.sessionTimeout, "session-timeout", 10*time.Second, "ZooKeeper session timeout to request")
	f.BoolVar(&c.useTLS, "tls", false, "use TLS, trusting the system's authorities unless --tls-ca is given")
	f.StringVar(&c.tls.CA, "tls-ca", "", "PEM `file` of the authorities to trust; implies --tls")
	f.StringVar(&c.tls.Cert, "tls-cert", "", "PEM `file` of this client's certificate; implies --tls")
	f.StringVar(&c.tls.Key, "tls-key", "", "PEM `file` of this client's key; implies --tls")
	f.StringVar(&c.tls.ServerName, "tls-server-name", "", "`name` to expect in the server's certificate; implies --tls")
	f.StringVar(&c.authFile, "auth-file", "", "`file` (mode 0600) of credentials, one on each line: digest:user:password; or the same in $"+authVariable)
	f.IntVar(&c.maxResponse, "max-response", 64<<20, "largest answer to accept from a server, in `bytes`")
}

// rateFlag is for the commands that read or write a whole queue.
func (c *connection) rateFlag(f *pflag.FlagSet) {
	f.IntVar(&c.maxRate, "max-rate", 0, "most `operations` a second on the servers: each read of a znode, an ACL or a list is one, and so is each change in a transaction (0: as many as they answer without delay)")
}

// setLimit sets the limit of --max-rate.
func (c *connection) setLimit() error {
	if c.maxRate < 0 {
		return usageError("--max-rate %d: want at least 1, or 0 for no limit", c.maxRate)
	}
	if c.maxRate > 0 {
		c.limit = zkconn.NewLimit(c.maxRate)
	}
	return nil
}

func (a *app) connConfig(addr zkconn.Address) (zkconn.Config, error) {
	c := a.conn
	switch {
	case c.timeout <= 0:
		return zkconn.Config{}, usageError("--timeout %v: want more than 0", c.timeout)
	case c.sessionTimeout <= 0:
		return zkconn.Config{}, usageError("--session-timeout %v: want more than 0", c.sessionTimeout)
	case c.maxResponse <= 0:
		return zkconn.Config{}, usageError("--max-response %d: want more than 0", c.maxResponse)
	}
	cfg := zkconn.Config{Address: addr, SessionTimeout: c.sessionTimeout, GiveUp: c.timeout, MaxResponse: c.maxResponse, Log: a.log, Limit: c.limit,
		Say: func(news string) { a.say("%s", news) }}
	if c.patient {
		cfg.Refused = c.timeout
	}
	for _, f := range []namedFile{{by: "--tls-ca", path: c.tls.CA}, {by: "--tls-cert", path: c.tls.Cert}, {by: "--tls-key", path: c.tls.Key}} {
		if f.path == "" {
			continue
		}
		_, err := os.Stat(f.path)
		if err := noFile(f.by+" "+f.path, f.path, err, "check the path"); err != nil {
			return cfg, err
		}
	}
	if c.useTLS || c.tls != (zkconn.TLS{}) {
		cfg.TLS = &c.tls
	}
	var err error
	if c.authFile != "" {
		if cfg.Auth, err = zkconn.ReadAuthFile(c.authFile); err != nil {
			err = cmp.Or(noFile("--auth-file "+c.authFile, c.authFile, err, "check the path"), err)
		}
	} else if text := os.Getenv(authVariable); text != "" {
		if cfg.Auth, err = zkconn.ParseAuth(text); err != nil {
			err = fmt.Errorf("$%s: %w", authVariable, err)
		}
	}
	return cfg, err
}

// endpoint is a SOURCE or TARGET as given on the command line.
type endpoint struct {
	text string
	file string         // of an endpoint file:…
	data *zkdata.Place  // of an endpoint snapshot:…, a server's data directory
	addr zkconn.Address // of a server
}

// parseEndpoint parses the argument SOURCE or TARGET. A TARGET can't be a data directory.
func parseEndpoint(what, text string) (endpoint, error) {
	e, err := parseReadable(what, text)
	if err == nil && e.data != nil && what != "SOURCE" {
		return e, usageError("%s %q: mrtq only reads a data directory, so it can only be a SOURCE; a %s is a server or a dump (file:…)", what, text, what)
	}
	return e, err
}

// parseReadable parses an argument that the command only reads. So it can be a data
// directory.
func parseReadable(what, text string) (endpoint, error) {
	e := endpoint{text: text}
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		if path == "" {
			return e, usageError("%s %q names no file", what, text)
		}
		e.file = path
		return e, nil
	}
	if dirs, ok := strings.CutPrefix(text, "snapshot:"); ok {
		place, err := zkdata.ParsePlace(dirs)
		if err != nil {
			return e, usageError("%s %q: %w", what, text, err)
		}
		e.data = &place
		return e, nil
	}
	if scheme, _, _ := strings.Cut(text, ":"); scheme == "embedded" {
		return e, usageError("%s %q: this version reads servers, dumps (file:…) and data directories (snapshot:…) only", what, text)
	}
	if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() {
		return e, usageError("%s %q is a file: write file:%s", what, text, text)
	} else if err == nil && info.IsDir() {
		return e, usageError("%s %q is a folder: if it is a server's data directory, write snapshot:%s", what, text, text)
	}
	if strings.HasSuffix(text, ".ndjson") || isGzip(text) {
		return e, usageError("%s %q is not a server's address, and there is no such file; write a dump as file:%s", what, text, text)
	}
	var err error
	if e.addr, err = zkconn.ParseAddress(text); err != nil {
		return e, usageError("%s: %w", what, err)
	}
	return e, nil
}

// reader opens a session that cannot write.
func (a *app) reader(ctx context.Context, e endpoint) (*zkconn.Reader, error) {
	cfg, err := a.connConfig(e.addr)
	if err != nil {
		return nil, err
	}
	_, finish := a.progress("connecting to "+e.text, "")
	defer finish()
	return zkconn.OpenReader(ctx, cfg)
}

// writer opens a session that can write, and creates its chroot if it is missing.
func (a *app) writer(ctx context.Context, e endpoint) (*zkconn.Writer, error) {
	cfg, err := a.connConfig(e.addr)
	if err != nil {
		return nil, err
	}
	_, finish := a.progress("connecting to "+e.text, "")
	w, err := zkconn.OpenWriter(ctx, cfg)
	finish()
	if err != nil {
		return nil, err
	}
	made, err := w.MakeChroot(ctx)
	if err != nil {
		w.Close()
		return nil, err
	}
	if len(made) > 0 {
		a.say("created the chroot %s", made[len(made)-1])
	}
	return w, nil
}
