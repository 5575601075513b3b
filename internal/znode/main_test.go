package znode_test

import (
	"flag"
	"testing"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) { shared.Main(m) }

// server is a real ZooKeeper that all tests share. Each test finds it empty.
func server(t *testing.T) *harness.Server {
	t.Helper()
	s := shared.Server(t, false)
	must(t, s.Clean(t.Context()))
	return s
}

func open(t *testing.T) *zkconn.Writer {
	t.Helper()
	addr := value(zkconn.ParseAddress(server(t).Address()))(t)
	w := value(zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr}))(t)
	t.Cleanup(w.Close)
	return w
}

// value is a result that must be there.
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
