package zkconn_test

import (
	"testing"
	"time"

	"mrtq/harness"
	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
)

// TestRefused: a starting server refuses connections for a moment. So a refusal is reported at once, and the attempt is
// repeated. Servers of an ensemble can fail for different causes. Then each
// is named with its own.
func TestRefused(t *testing.T) {
	fakeDNS(t)
	shared.NoLeak(t)
	closed := unused(t)
	for servers, cause := range map[string]string{
		unused(t) + "," + closed:     "the connection is refused; check the address and that the server runs",
		"zk.invalid.:2181," + closed: "zk.invalid.:2181: there is no host zk.invalid., " + closed + ": the connection is refused; check the host name",
	} {
		addr, _ := zkconn.ParseAddress(servers)
		said := ""
		within(t, 20*time.Second, "the error", func() {
			_, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUpAfter: impatient, Notify: func(news string) { said += news }})
			wantConnectError(t, err, servers, cause)
		})
		if want := servers + ": " + cause + "; trying for 2s"; said != want {
			t.Errorf("\ngot  %q\nwant %q", said, want)
		}
	}
}

// A session opens if the server begins to listen meanwhile, and the message
// comes only once.
func TestRefusedUntilTheServerListens(t *testing.T) {
	shared.NoLeak(t)
	address := unused(t)
	addr, _ := zkconn.ParseAddress(address)
	var said []string
	up := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() {
		defer close(up)
		s, err := harness.Start(t.Context(), harness.Embedded, harness.Options{Listen: address})
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { s.Stop(t.Context()) })
	})
	r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, GiveUpAfter: 20 * time.Second, Notify: func(news string) { said = append(said, news) }})
	<-up
	must(t, err)
	r.Close()
	if len(said) != 1 {
		t.Errorf("%q", said)
	}
}
