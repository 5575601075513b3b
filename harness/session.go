package harness

import (
	"context"
	"time"

	"mrtq/internal/zkconn"
)

// Client says how to open sessions at an address. The zero Client opens plain
// ones, without TLS and credentials.
type Client struct {
	// TLS, if not nil, has the files for a TLS connection. An empty CA means the
	// system's authorities. Cert and Key may both be empty.
	TLS *TLSFiles
	// ServerName is the name that the server's certificate must have. "" means
	// the host of the address.
	ServerName string
	// Credentials are what each session authenticates with, in this order.
	Credentials []Credential
}

// Credential is what a session authenticates with. Printing it never shows its
// secret.
type Credential struct{ auth zkconn.Auth }

// Digest returns a credential with a user and password of ZooKeeper's scheme
// digest.
func Digest(user, password string) Credential {
	return Credential{zkconn.DigestAuth(user, password)}
}

// String returns the credential without the password.
func (c Credential) String() string { return c.auth.String() }

// GoString returns the credential without the password, for %#v.
func (c Credential) GoString() string { return c.auth.String() }

// sessionTimeout is longer than a leader election, so that a session
// survives the loss of its server.
const sessionTimeout = 20 * time.Second

// config returns the configuration of sessions with these servers.
func (c Client) config(hosts []string) zkconn.Config {
	cfg := zkconn.Config{
		Address:        zkconn.Address{Servers: hosts},
		SessionTimeout: sessionTimeout,
		Refused:        time.Minute, // the server may be just starting
	}
	if c.TLS != nil {
		cfg.TLS = &zkconn.TLS{CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key, ServerName: c.ServerName}
	}
	for _, credential := range c.Credentials {
		cfg.Auth = append(cfg.Auth, credential.auth)
	}
	return cfg
}

// withSession calls do with an open session on one of hosts, and closes the
// session. When it returns, nothing of the session is left. It tries to connect
// until ctx ends.
func withSession(ctx context.Context, hosts []string, client Client, do func(*zkconn.Writer) error) error {
	cfg := client.config(hosts)
	if deadline, ok := ctx.Deadline(); ok {
		cfg.GiveUp = max(time.Until(deadline), 0) + time.Second // only ctx ends the attempt, and says why
	}
	w, err := zkconn.OpenWriter(ctx, cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	return do(w)
}
