package harness_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mrtq/harness"
)

const loaded = `{"path":"/a","data":"eA==","stat":{"czxid":5,"mzxid":6,"ctime":1709208000123,"mtime":1709208000124,"version":3,"cversion":2,"aversion":0,"ephemeralOwner":0,"dataLength":1,"numChildren":2,"pzxid":7}}
{"path":"/a/b","data":null}
{"path":"/a/lock","data":"","stat":{"czxid":7,"mzxid":7,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":4711,"dataLength":0,"numChildren":0,"pzxid":7}}
`

// TestLoad: an embedded server accepts clients when it holds the whole dump. It keeps the Stats, and
// leaves out ephemeral znodes.
func TestLoad(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	free := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := free.Addr().String()
	free.Close()

	type started struct {
		s   *harness.Server
		err error
	}
	done := make(chan started, 1)
	go func() {
		s, err := harness.Start(t.Context(), harness.Embedded, harness.Options{Listen: address, Load: pipe})
		done <- started{s, err}
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	must(t, err)
	value(w.WriteString(loaded[:200]))(t)
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("a client was accepted before all was loaded")
	}
	value(w.WriteString(loaded[200:]))(t)
	w.Close()
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	defer got.s.Stop(t.Context())
	c := connect(t, address)
	wantChildren(t, c, "/a", "b")
	data, stat, err := c.Get("/a")
	if err != nil || string(data) != "x" || stat.Czxid != 5 || stat.Version != 3 || stat.Cversion != 3 || stat.Pzxid != 8 {
		t.Errorf("%q, %+v, %v", data, stat, err)
	}

	var bad *harness.LoadError
	none := filepath.Join(t.TempDir(), "none")
	if _, err := harness.Start(t.Context(), harness.Embedded, harness.Options{Load: none}); !errors.As(err, &bad) || bad.What != none || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
