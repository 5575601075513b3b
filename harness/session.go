package harness

import (
	"context"
	"time"

	"mrtq/internal/zkconn"
)

// Client says how to open sessions at an address. The zero Client opens plain
// ones, without TLS and credentials.
type Client struct {
	// TLS, if not nil, has the files for a TLS connection.
	TLS *TLS
	// Credentials are what each session authenticates with, in this order. Printing one never
	// shows its secret.
	Credentials []zkconn.Auth
}

// TLS has the paths of the files that a client needs for TLS, all PEM: CA of the
// authorities, "" for the system's; Cert and Key of the client, or neither. ServerName is
// the name that the server's certificate must have, "" for the host of the address.
type TLS = zkconn.TLS

// sessionTimeout is longer than a leader election, so that a session
// survives the loss of its server.
const sessionTimeout = 20 * time.Second

// withSession calls do with an open session on one of hosts, and closes the
// session. When it returns, nothing of the session is left. It tries to connect
// until ctx ends.
func withSession(ctx context.Context, hosts []string, client Client, do func(*zkconn.Writer) error) error {
	cfg := zkconn.Config{
		Address: zkconn.Address{Servers: hosts}, SessionTimeout: sessionTimeout, TLS: client.TLS, Auth: client.Credentials,
	}
	// Only ctx ends the attempt to connect, and says why: a server may take longer to bind its port
	// than zkconn tries by default.
	if deadline, ok := ctx.Deadline(); ok {
		cfg.GiveUpAfter = max(time.Until(deadline), 0) + time.Second
	}
	w, err := zkconn.OpenWriter(ctx, cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	return do(w)
}
