package zkconn_test

import (
	"testing"
	"time"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func TestMain(m *testing.M) { shared.Main(m) }

func server(t *testing.T) *harness.Server {
	t.Helper()
	return shared.Server(t, false)
}

func serverTLS(t *testing.T) *harness.Server {
	t.Helper()
	return shared.Server(t, true)
}

const password = "s3cret:pass word"

// address is the shared server, reached through host. Its chroot exists and
// belongs to the test.
func address(t *testing.T, host string) zkconn.Address {
	t.Helper()
	plain := zkconn.Address{Servers: []string{server(t).Address()}, Chroot: "/" + t.Name()}
	w := openWriter(t, zkconn.Config{Address: plain})
	must(t, second(w.MakeChroot(t.Context())))
	w.Close()
	plain.Servers = []string{host}
	return plain
}

// setup opens a writer through a proxy, in its own chroot on an otherwise empty
// server. It checks that the test leaves no goroutine.
func setup(t *testing.T, cfg zkconn.Config) (*zkconn.Writer, *proxy) {
	t.Helper()
	must(t, server(t).Clean(t.Context()))
	shared.NoLeak(t)
	p := newProxy(t, server(t).Address())
	cfg.Address = address(t, p.address())
	return openWriter(t, cfg), p
}

func openWriter(t *testing.T, cfg zkconn.Config) *zkconn.Writer {
	t.Helper()
	w := value(zkconn.OpenWriter(t.Context(), cfg))(t)
	t.Cleanup(w.Close)
	return w
}

func openReader(t *testing.T, cfg zkconn.Config) *zkconn.Reader {
	t.Helper()
	r := value(zkconn.OpenReader(t.Context(), cfg))(t)
	t.Cleanup(r.Close)
	return r
}

func multi(t *testing.T, w *zkconn.Writer, ops ...znode.Op) {
	t.Helper()
	must(t, w.Multi(t.Context(), ops))
}

// within fails the test if f takes longer than a limit. The limit is far more
// than f needs, and far less than the timeouts that f must not wait for.
func within(t *testing.T, d time.Duration, what string, f func()) {
	t.Helper()
	start := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("%s: not done after %v", what, d)
	}
	t.Logf("%s took %v", what, time.Since(start).Round(time.Millisecond))
}

func wantMessage(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("\ngot  %v\nwant %s", err, want)
	}
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
