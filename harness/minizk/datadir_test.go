package minizk_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"mrtq/internal/zkdata"
)

// TestDataDir runs the random programs of TestDifferential on a real server that writes a snapshot
// every few transactions. After each program, it reads the running server's data directory with
// mrtq, and reads the same znodes from the server. Both must agree. With -torture, or -rapid.checks,
// it tries more programs.
func TestDataDir(t *testing.T) {
	fewer(t, "15")
	for _, packing := range []string{"", "gz"} {
		t.Run("packing="+packing, func(t *testing.T) {
			server := &realServer{reap: time.Hour, dataDir: t.TempDir(), more: map[string]string{
				"snapCount": "12", "snapshot.compression.method": packing,
			}}
			addr := server.addr(t)
			t.Cleanup(func() {
				if err := server.stop(); err != nil {
					t.Error(err)
				}
			})
			reader, _ := connect(t, addr)
			if err := reader.AddAuth("digest", []byte(superSecret)); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(server.dataDir, "server.1")
			steps := rapid.SliceOfN(stepGen(true), 1, 30)
			rapid.Check(t, func(rt *rapid.T) {
				p := program(steps.Draw(rt, "steps"))
				play(rt, onReal(addr), func(w *world) {
					p(w)
					sameLines(rt, fromFiles(rt, dir), fromServer(rt, reader))
				})
			})
			if files, err := filepath.Glob(filepath.Join(dir, "version-2", "snapshot.*")); err != nil || len(files) < 3 {
				t.Errorf("%d snapshots, want several (%v)", len(files), err)
			} else if packing != "" && !strings.HasSuffix(files[len(files)-1], "."+packing) {
				t.Errorf("%s is not packed", files[len(files)-1])
			}
			want := fromServer(t, reader)
			if err := server.s.Kill(); err != nil {
				t.Fatal(err)
			}
			sameLines(t, fromFiles(t, dir), want)
		})
	}
}

// line is everything about a znode.
func line(path string, data []byte, stat zk.Stat, acl string) string {
	return fmt.Sprintf("%s %#v %+v %s", path, data, stat, acl)
}

// fromServer returns a line for each znode as the server shows it, except the server's own znodes.
func fromServer(t tb, c *zk.Conn) string {
	t.Helper()
	lines := map[string]string{}
	var walk func(path string)
	walk = func(path string) {
		data, stat, err := c.Get(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		acl, _, err := c.GetACL(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines[path] = line(path, data, *stat, fmt.Sprint(acl))
		names, _, err := c.Children(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, name := range names {
			if child := strings.TrimSuffix(path, "/") + "/" + name; child != "/zookeeper" {
				walk(child)
			}
		}
	}
	walk("/")
	return sortedLines(lines)
}

// fromFiles returns the same lines as mrtq reads them from the server's data directory.
func fromFiles(t tb, dir string) string {
	t.Helper()
	d, err := zkdata.Read(context.Background(), zkdata.Place{Dir: dir}, zkdata.Options{})
	if err != nil {
		keep, _ := os.MkdirTemp("", "mrtq-datadir-")
		err = fmt.Errorf("%w (kept in %s: %v)", err, keep, os.CopyFS(filepath.Join(keep, "version-2"), os.DirFS(filepath.Join(dir, "version-2"))))
		t.Fatal(err)
	}
	lines := map[string]string{}
	for n := range d.Tree.Nodes("/") {
		var acl []zk.ACL
		for _, a := range n.ACL {
			acl = append(acl, zk.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
		}
		lines[n.Path] = line(n.Path, n.Data, zk.Stat(n.Stat), fmt.Sprint(acl))
	}
	return sortedLines(lines)
}

func sortedLines(lines map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(lines)), "\n")
}
