package zkconn_test

import (
	"crypto/tls"
	"mrtq/internal/zkconn"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"mrtq/harness"
)

// said collects the messages to the operator while a session is opened.
type said struct {
	mu    sync.Mutex
	lines []string
	at    []time.Duration
	since time.Time
}

func listenIn() *said { return &said{since: time.Now()} }

func (s *said) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.at = append(s.lines, line), append(s.at, time.Since(s.since))
}

func (s *said) first() (line string, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		return "", 0
	}
	return s.lines[0], s.at[0]
}

// A starting server refuses connections for a moment. So a refusal is reported
// at once, and the attempt is repeated, but not for as long as with a lost
// server.
func TestRefusedEndsEarly(t *testing.T) {
	noLeak(t)
	a, b := unused(t), unused(t)
	addr, _ := zkconn.ParseAddress(a + "," + b)
	heard := listenIn()
	within(t, 20*time.Second, "the error", func() {
		_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUp: time.Minute, Refused: 2 * time.Second, Say: heard.say})
		if err == nil || !strings.Contains(err.Error(), ": the connection is refused; check the address and that the server runs") {
			t.Errorf("%v", err)
		}
	})
	line, at := heard.first()
	if want := addr.String() + ": the connection is refused; check the address and that the server runs; trying for 2s, in case it is just starting"; line != want || at > time.Second {
		t.Errorf("after %v: %q, want %q", at, line, want)
	}
}

// Servers of an ensemble can fail for different causes. Then each is named with its own.
func TestCausesOfAnEnsemble(t *testing.T) {
	fakeDNS(t)
	noLeak(t)
	closed := unused(t)
	addr, _ := zkconn.ParseAddress("zk.invalid.:2181," + closed)
	heard := listenIn()
	within(t, 20*time.Second, "the error", func() {
		_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUp: time.Minute, Refused: time.Second, Say: heard.say})
		wantConnectError(t, err, addr.String(), "zk.invalid.:2181: there is no host zk.invalid., "+closed+": the connection is refused; check the host name")
	})
	line, _ := heard.first()
	if want := addr.String() + ": zk.invalid.:2181: there is no host zk.invalid., " + closed + ": the connection is refused; check the host name; trying for 1s, in case it is just starting"; line != want {
		t.Errorf("\ngot  %q\nwant %q", line, want)
	}
}

// A port that closes every connection is reported at once, with what to check.
func TestClosedConnectionIsReported(t *testing.T) {
	noLeak(t)
	addr, _ := zkconn.ParseAddress(listen(t, func(c net.Conn) { read(c, 49) }))
	heard := listenIn()
	_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUp: 1500 * time.Millisecond, Say: heard.say})
	const check = "connected, but got no session: the server closed the connection; check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"
	wantConnectError(t, err, addr.String(), check)
	if line, _ := heard.first(); line != addr.String()+": "+check+"; trying for 1.5s" {
		t.Errorf("%q", line)
	}
}

// A session opens if the server begins to listen meanwhile, and the message
// comes only once.
func TestRefusedUntilTheServerListens(t *testing.T) {
	noLeak(t)
	address := unused(t)
	addr, _ := zkconn.ParseAddress(address)
	heard := listenIn()
	up := make(chan struct{})
	time.AfterFunc(500*time.Millisecond, func() {
		defer close(up)
		s, err := harness.Start(t.Context(), harness.Embedded, harness.Options{Listen: address})
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { s.Stop(t.Context()) })
	})
	r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUp: time.Minute, Refused: 20 * time.Second, Say: heard.say})
	<-up
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if len(heard.lines) != 1 {
		t.Errorf("%q", heard.lines)
	}
}

// A server's silence is reported before the attempt ends.
func TestSilenceIsReported(t *testing.T) {
	noLeak(t)
	addr, _ := zkconn.ParseAddress(listen(t, func(c net.Conn) { read(c, 1<<20) }))
	heard := listenIn()
	start := time.Now()
	_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUp: 3 * time.Second, Say: heard.say})
	if err == nil || time.Since(start) < 3*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	line, at := heard.first()
	if want := "connecting to " + addr.String() + ": no answer yet; trying for 3s"; line != want || at > 2500*time.Millisecond {
		t.Errorf("after %v: %q, want %q", at, line, want)
	}
}

// If a server answers, there is no message.
func TestNoMessageOnSuccess(t *testing.T) {
	heard := listenIn()
	openReader(t, zkconn.Config{Address: address(t, server(t).Address()), Say: heard.say})
	if line, _ := heard.first(); line != "" {
		t.Errorf("%q", line)
	}
}

// TLS to a plain port, and plain to a TLS port, is reported long before GiveUp.
// The session tries the port's own protocol, and the message says what the port
// answered.
func TestTLSAndPlainConfused(t *testing.T) {
	s := serverTLS(t)
	noLeak(t)
	files := s.TLSFiles()
	good := &zkconn.TLS{CA: files.CA, Cert: files.Cert, Key: files.Key}
	silentTLS := tlsOnly(t, files)
	for _, tc := range []struct {
		name, address string
		tls           *zkconn.TLS
		want          string
	}{
		{"TLS to a plain port", s.Address(), good,
			"the port speaks ZooKeeper's plain protocol, not TLS; use the secure port, or leave out the --tls flags"},
		{"plain to a secure port", s.SecureAddress(), nil,
			"the port speaks TLS, not ZooKeeper's plain protocol; use --tls (with --tls-ca, --tls-cert, --tls-key if the server needs them), or the plain port"},
		{"plain to a TLS port that says nothing", silentTLS, nil,
			"the port speaks TLS, not ZooKeeper's plain protocol; use --tls (with --tls-ca, --tls-cert, --tls-key if the server needs them), or the plain port"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			addr, err := zkconn.ParseAddress(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			within(t, 20*time.Second, "the error", func() {
				_, err = zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, TLS: tc.tls, GiveUp: time.Minute})
			})
			wantConnectError(t, err, tc.address, tc.want)
		})
	}
}

// tlsOnly is a TLS port that closes a plain connection without an answer.
func tlsOnly(t *testing.T, files harness.TLS) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, func(c net.Conn) {
		tc := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}})
		tc.Handshake()
	})
}
