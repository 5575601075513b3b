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
	if err := s.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T) *zkconn.Writer {
	t.Helper()
	addr, err := zkconn.ParseAddress(server(t).Address())
	if err != nil {
		t.Fatal(err)
	}
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}
