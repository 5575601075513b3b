package zkconn_test

import (
	"context"
	"errors"
	"mrtq/internal/zkconn"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mrtq/harness"
	"mrtq/harness/shared"
)

// impatient is long enough for a local server, and short enough for a test that
// waits until the time is over.
const impatient = 2 * time.Second

func TestConnectErrors(t *testing.T) {
	shared.NoLeak(t)
	tcp := func(serve func(net.Conn)) string { return listen(t, serve) }
	for _, tc := range []struct {
		name, address string
		want          string // after "cannot open a session with ZooKeeper at ADDRESS: "
	}{
		{"no server", unused(t), "the connection is refused; check the address and that the server runs"},
		{"SSH", tcp(func(c net.Conn) { c.Write([]byte("SSH-2.0-x\r\n")) }),
			`connected, but got no session: the server there does not speak ZooKeeper's protocol (its answer begins with "SSH-"); check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum`},
		{"a length of 4 GB", tcp(func(c net.Conn) { c.Write([]byte("\xff\xff\xff\xff")) }),
			`connected, but got no session: the server there does not speak ZooKeeper's protocol (its answer begins with "\xff\xff\xff\xff"); check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum`},
		{"TLS alert", tcp(func(c net.Conn) { c.Write([]byte("\x15\x03\x03\x00\x02\x02\x46")) }),
			"connected, but got no session: the port speaks TLS, not ZooKeeper's plain protocol; use --tls (with --tls-ca, --tls-cert, --tls-key if the server needs them), or the plain port"},
		{"closed at once", tcp(func(c net.Conn) { read(c, 49) }),
			"connected, but got no session: the server closed the connection; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"},
		{"silence", tcp(func(c net.Conn) { read(c, 1<<20) }),
			"connected, but got no session: no answer to the handshake; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"},
		{"a session that expired before it began", tcp(func(c net.Conn) { c.Write([]byte(expiredAnswer)); read(c, 1<<20) }),
			"connected, but got no session: the session expired before it began; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"},
		{"a server without a quorum that serves reads only", tcp(func(c net.Conn) { read(c, 49); c.Write([]byte(welcome[:len(welcome)-1] + "\x01")) }),
			"connected, but got no session: the server is read-only, because it has lost its quorum; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"},
		{"half an answer", tcp(func(c net.Conn) { c.Write([]byte("\x00\x00\x00\x25half")); read(c, 1<<20) }),
			"connected, but got no session: no answer to the handshake; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			addr := value(zkconn.ParseAddress(tc.address))(t)
			var err error
			within(t, 30*time.Second, "the error", func() {
				_, err = zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUpAfter: impatient})
			})
			wantConnectError(t, err, tc.address, tc.want)
		})
	}
}

func wantConnectError(t *testing.T, err error, address, want string) {
	t.Helper()
	var ce *zkconn.ConnectError
	if !errors.As(err, &ce) || ce.Address != address {
		t.Fatalf("%#v", err)
	}
	wantMessage(t, err, "cannot open a session with ZooKeeper at "+address+": "+strings.ReplaceAll(want, "ADDRESS", address))
}

// A hopeless failure is reported at once, not after GiveUpAfter, unless another
// server may still start.
func TestHopelessIsReportedAtOnce(t *testing.T) {
	fakeDNS(t)
	shared.NoLeak(t)
	http := listen(t, func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
	for servers, want := range map[string]string{
		http + "," + http:  `connected, but got no session: the server there does not speak ZooKeeper's protocol (its answer begins with "HTTP"); check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum`,
		"zk.invalid.:2181": "there is no host zk.invalid.; check the host name",
	} {
		addr, _ := zkconn.ParseAddress(servers)
		within(t, 30*time.Second, "the error", func() {
			_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUpAfter: time.Minute})
			wantConnectError(t, err, servers, want)
		})
	}
	addr, _ := zkconn.ParseAddress(http + "," + unused(t))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := zkconn.OpenReader(ctx, zkconn.Config{Address: addr, GiveUpAfter: time.Minute}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a server that may still start: %v", err)
	}
}

// fakeDNS answers that a name doesn't exist. The machine's own name server might
// answer something else.
func fakeDNS(t *testing.T) {
	t.Helper()
	conn := value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	go func() {
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			buf[2], buf[3] = 0x81, 0x83 // an answer: name error
			conn.WriteTo(buf[:n], from)
		}
	}()
	old := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = old
		conn.Close()
	})
}

func TestConnectCancelled(t *testing.T) {
	shared.NoLeak(t)
	addr, _ := zkconn.ParseAddress(listen(t, func(c net.Conn) { read(c, 1<<20) }))
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user pressed ^C")) })
	within(t, 30*time.Second, "the error", func() {
		_, err := zkconn.OpenReader(ctx, zkconn.Config{Address: addr})
		wantConnectError(t, err, addr.String(), "the user pressed ^C; nothing was read or written")
	})
	addr, _ = zkconn.ParseAddress(unused(t))
	ctx, cancel = context.WithCancelCause(t.Context())
	_, err := zkconn.OpenReader(ctx, zkconn.Config{Address: addr, Notify: func(string) { cancel(errors.New("the user pressed ^C")) }})
	wantConnectError(t, err, addr.String(), "the user pressed ^C (last: the connection is refused); check the address and that the server runs")
}

func TestTLS(t *testing.T) {
	s := serverTLS(t)
	shared.NoLeak(t)
	files := s.TLSFiles()
	good := zkconn.TLS{CA: files.CA, Cert: files.Cert, Key: files.Key}
	_, port, _ := net.SplitHostPort(s.SecureAddress())
	named := "localhost:" + port
	empty := filepath.Join(t.TempDir(), "empty.pem")
	must(t, os.WriteFile(empty, nil, 0o600))
	const noChoice = "check the files of --tls-ca, --tls-cert and --tls-key"
	const advice = "; check that this is a ZooKeeper secure client port, or leave out --tls; check --tls-ca and --tls-server-name, and that the server accepts --tls-cert with --tls-key"
	refused := "TLS handshake: the server refuses: bad certificate"
	if harness.TestBackend() == harness.Embedded {
		// In TLS 1.3 the client has finished the handshake before the server checks
		// the certificate.
		refused = "connected, but got no session: the server refuses: certificate required"
	}
	for _, tc := range []struct {
		name, address string
		tls           *zkconn.TLS
		want          string // the whole message, because a regexp would hide faults; "" for success
	}{
		{"by address", s.SecureAddress(), &good, ""},
		{"by name", named, &good, ""},
		{"by a name given", s.SecureAddress(), &zkconn.TLS{CA: files.CA, Cert: files.Cert, Key: files.Key, ServerName: "localhost"}, ""},
		{"TLS to a server without TLS", listen(t, func(c net.Conn) { c.Write([]byte("220 smtp\r\n")); read(c, 1<<20) }), &good,
			"TLS handshake: the answer is not TLS" + advice},
		{"TLS to a plain port", s.Address(), &good,
			"TLS handshake: the server closed the connection" + advice},
		{"unknown authority", s.SecureAddress(), &zkconn.TLS{Cert: files.Cert, Key: files.Key},
			"TLS handshake: the server's certificate is refused: certificate signed by unknown authority" + advice},
		{"wrong name", s.SecureAddress(), &zkconn.TLS{CA: files.CA, Cert: files.Cert, Key: files.Key, ServerName: "zk.example.org"},
			"TLS handshake: the server's certificate is refused: certificate is valid for localhost, not zk.example.org" + advice},
		{"no client certificate", s.SecureAddress(), &zkconn.TLS{CA: files.CA},
			refused + advice},
		{"no such file", s.SecureAddress(), &zkconn.TLS{CA: empty + "x"},
			"TLS authorities: open " + empty + "x: no such file or directory; " + noChoice},
		{"no authority in it", s.SecureAddress(), &zkconn.TLS{CA: empty},
			"TLS authorities: " + empty + " holds no PEM certificate; " + noChoice},
		{"no key", s.SecureAddress(), &zkconn.TLS{CA: files.CA, Cert: files.Cert},
			"TLS client certificate: give both the certificate and its key; " + noChoice},
		{"a key file without a key", s.SecureAddress(), &zkconn.TLS{CA: files.CA, Cert: files.Cert, Key: empty},
			"TLS client certificate: tls: failed to find any PEM data in key input; " + noChoice},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			addr := value(zkconn.ParseAddress(tc.address))(t)
			cfg := zkconn.Config{Address: addr, TLS: tc.tls, GiveUpAfter: time.Minute}
			if tc.want != "" {
				cfg.GiveUpAfter = impatient
			}
			r, err := zkconn.OpenReader(t.Context(), cfg)
			if err == nil {
				defer r.Close()
				_, err = r.Get(t.Context(), "/")
			}
			if tc.want != "" {
				wantConnectError(t, err, tc.address, tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// expiredAnswer is how a server answers a handshake for a session that it has ended: timeout, id and password are zero.
const expiredAnswer = "\x00\x00\x00\x25" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x10" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00"

func listen(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				f(c)
				c.(*net.TCPConn).CloseWrite()
				read(c, 1<<20) // so that no reset overtakes what was written
				c.Close()
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

func read(c net.Conn, n int) {
	for buf := make([]byte, 1<<10); n > 0; {
		k, err := c.Read(buf[:min(n, len(buf))])
		if err != nil {
			return
		}
		n -= k
	}
}

func unused(t *testing.T) string {
	t.Helper()
	l := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}
