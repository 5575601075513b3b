package zkdata_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/internal/zkdata"
)

// TestLiveServer reads the directory of a real server that several clients keep
// busy. It reads again and again while snapshots are half written, directly and
// from a copy. Each result must be the tree of some moment. In the end the
// server must agree with its directory about each znode, before and after it is
// killed.
func TestLiveServer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		lines map[string]string
	}{
		{"plain", map[string]string{}},
		{"gz", map[string]string{"snapshot.compression.method": "gz"}},
		// As before 3.6: no digest says when a snapshot was finished, and the
		// end of a session doesn't list its znodes.
		{"without digests", map[string]string{"digest.enabled": "false", "closeSessionTxn.enabled": "false"}},
	} {
		if tc.name != "plain" && !*torture {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			lines := map[string]string{"snapCount": "400"}
			maps.Copy(lines, tc.lines)
			data := t.TempDir()
			server := harness.ForTest(t, harness.JVM, harness.Options{DataDir: data, Properties: lines})
			dir := filepath.Join(data, "server.1")
			client := connect(t, server.Address())
			for _, user := range users() {
				if err := client.AddAuth("digest", []byte(user+":p")); err != nil {
					t.Fatal(err)
				}
			}
			fill(t, client)

			ctx, stop := context.WithCancel(t.Context())
			var workers sync.WaitGroup
			for w := range 4 {
				workers.Go(func() { work(ctx, t, server.Address(), w) })
			}
			for round := 0; round < 12 || snapshots(t, dir) < 5; round++ {
				d, err := readOnce(t, dir, round%2 == 1)
				for try := 0; try < 5 && round%2 == 1 && errors.Is(err, zkdata.ErrCorrupt); try++ {
					// The log was copied while the server wrote a page of it. The
					// reader must notice, and advise to copy it again.
					d, err = readOnce(t, dir, true)
				}
				if err != nil {
					stop()
					workers.Wait()
					t.Fatal(err)
				}
				checkPairs(t, d)
			}
			stop()
			workers.Wait()

			want := fromServer(t, client)
			same(t, "while it runs", fromFiles(t, dir), want)
			same(t, "a copy", fromFiles(t, copyDir(t, dir)), want)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			same(t, "killed", fromFiles(t, dir), want)
			fromEverySnapshot(t, dir, want)
		})
	}
}

// fromEverySnapshot: the logs lead to the same tree from every snapshot,
// however much the server did while it wrote it. They do so without a snapshot
// too, because they go back to the beginning.
func fromEverySnapshot(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	all := copyDir(t, dir)
	files, err := filepath.Glob(filepath.Join(all, "snapshot.*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden := t.TempDir()
	for _, f := range files {
		if err := os.Rename(f, filepath.Join(hidden, filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "without a snapshot", fromFiles(t, all), want)
	for _, f := range files {
		if err := os.Rename(filepath.Join(hidden, filepath.Base(f)), f); err != nil {
			t.Fatal(err)
		}
		same(t, "from "+filepath.Base(f), fromFiles(t, all), want)
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

func snapshots(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "version-2", "snapshot.*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// users are the users that the test's ACLs name. Each has the password p.
func users() []string {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint("u", i))
	}
	return all
}

// TestEnsemble reads the directory of each member of an ensemble that has had
// several leaders, and so several epochs.
func TestEnsemble(t *testing.T) {
	data := t.TempDir()
	server := harness.ForTest(t, harness.JVM, harness.Options{Nodes: 3, DataDir: data, Properties: map[string]string{"snapCount": "60"}})
	for i := range server.Nodes() {
		c := connect(t, server.NodeAddress(i))
		for n := range 40 {
			if _, err := c.Create(fmt.Sprintf("/n%d-%d", i, n), []byte("data"), 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		if err := server.KillNode(i); err != nil {
			t.Fatal(err)
		}
		if err := server.RestartNode(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	client := connect(t, server.NodeAddress(0))
	if _, err := client.Set("/n0-0", []byte("last"), -1); err != nil {
		t.Fatal(err)
	}
	want := fromServer(t, client)
	for i := range server.Nodes() {
		place := zkdata.Place{Dir: filepath.Join(data, fmt.Sprintf("server.%d", i+1))}
		// A follower may lag.
		deadline := time.Now().Add(20 * time.Second)
		for {
			d, err := zkdata.Read(t.Context(), place, zkdata.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if data, _ := get(d, "/n0-0"); string(data) == "last" || time.Now().After(deadline) {
				if epoch := d.Zxid >> 32; epoch < 2 {
					t.Errorf("member %d is in epoch %d, want a later one", i, epoch)
				}
				break
			}
		}
		same(t, place.Dir, fromFiles(t, place.Dir), want)
	}
}

// folders is how many other znodes the tree has, so that writing a snapshot
// takes a while.
const folders = 3000

func fill(t *testing.T, c *zk.Conn) {
	t.Helper()
	var ops []any
	for _, path := range []string{"/a", "/pairs", "/z"} {
		ops = append(ops, &zk.CreateRequest{Path: path, Data: []byte{}, Acl: zk.WorldACL(zk.PermAll)})
	}
	for i := range folders {
		ops = append(ops, &zk.CreateRequest{Path: fmt.Sprintf("/a/%04d", i), Data: []byte("some data"), Acl: zk.WorldACL(zk.PermAll)})
		if len(ops) >= 500 || i == folders-1 {
			if _, err := c.Multi(ops...); err != nil {
				t.Fatal(err)
			}
			ops = nil
		}
	}
}

// work changes the tree until ctx is done: it creates and deletes folders with
// children of the same names over and over, changes data and ACLs, opens and
// closes sessions with ephemeral znodes, and keeps two distant znodes equal
// with multis.
func work(ctx context.Context, t *testing.T, addr string, worker int) {
	rnd := rand.New(rand.NewPCG(uint64(worker), 1))
	open := zk.WorldACL(zk.PermAll)
	for n := 0; ctx.Err() == nil; {
		c := connect(t, addr)
		pair := []string{fmt.Sprintf("/a/%04d/pair%d", worker, worker), fmt.Sprintf("/z/pair%d", worker)}
		for range 30 {
			n++
			name := fmt.Sprintf("/z/w%d-%d", worker, rnd.IntN(4))
			child := fmt.Sprintf("%s/%d", name, rnd.IntN(3))
			switch rnd.IntN(8) {
			case 0:
				c.Create(name, nil, 0, open)
			case 1:
				c.Create(child, []byte(fmt.Sprint(n)), zk.FlagEphemeral, open)
			case 2:
				c.Create(child, []byte{}, 0, zk.DigestACL(zk.PermAll, users()[n%len(users())], "p"))
			case 3:
				c.Delete(child, -1)
			case 4:
				for i := range 3 {
					c.Delete(fmt.Sprintf("%s/%d", name, i), -1)
				}
				c.Delete(name, -1)
			case 5:
				c.Set(child, []byte(fmt.Sprint("set ", n)), -1)
			case 6:
				c.SetACL(name, zk.AuthACL(zk.PermAll), -1) // fails: the session has no credentials
				c.SetACL(name, zk.DigestACL(zk.PermAll, users()[n%9], "p"), -1)
				c.Delete(name, -1)
			case 7:
				value := []byte(fmt.Sprint(n))
				_, err := c.Multi(&zk.SetDataRequest{Path: pair[0], Data: value, Version: -1}, &zk.SetDataRequest{Path: pair[1], Data: value, Version: -1})
				if errors.Is(err, zk.ErrNoNode) {
					c.Multi(&zk.CreateRequest{Path: pair[0], Data: value, Acl: open}, &zk.CreateRequest{Path: pair[1], Data: value, Acl: open})
				}
			}
		}
		c.Close()
	}
}

// readOnce reads the directory, or a copy of it.
func readOnce(t *testing.T, dir string, copied bool) (*zkdata.Data, error) {
	t.Helper()
	if copied {
		dir = copyDir(t, dir)
	}
	return zkdata.Read(t.Context(), zkdata.Place{Dir: dir}, zkdata.Options{})
}

// checkPairs finds half of a multi.
func checkPairs(t *testing.T, d *zkdata.Data) {
	t.Helper()
	if stat, err := d.Tree.Exists("/a", nil); err != nil || stat.NumChildren != folders {
		t.Errorf("%d folders, %v, want %d", stat.NumChildren, err, folders)
	}
	for w := range 4 {
		one, ok := get(d, fmt.Sprintf("/a/%04d/pair%d", w, w))
		other, okToo := get(d, fmt.Sprintf("/z/pair%d", w))
		if ok != okToo || string(one) != string(other) {
			t.Errorf("pair %d: %t %q, %t %q", w, ok, one, okToo, other)
		}
	}
}

// get is the data of the znode at a path.
func get(d *zkdata.Data, path string) (data []byte, ok bool) {
	for n := range d.Tree.Nodes(path) {
		return n.Data, true
	}
	return nil, false
}

// copyDir copies a directory that a server writes to: snapshots first, then
// logs.
func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, pattern := range []string{"snapshot.*", "log.*"} {
		files, err := filepath.Glob(filepath.Join(dir, "version-2", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

type silence struct{}

func (silence) Printf(string, ...any) {}

func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogInfo(false), zk.WithLogger(silence{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.AddAuth("digest", []byte("o:o")); err != nil {
		t.Fatal(err)
	}
	return c
}

// fromServer is what a server says about each znode but its own, by path.
func fromServer(t *testing.T, c *zk.Conn) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(path string)
	walk = func(path string) {
		data, stat, err := c.Get(path)
		acl, _, aerr := c.GetACL(path)
		names, _, nerr := c.Children(path)
		if err := errors.Join(err, aerr, nerr); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[path] = line(*stat, data, acl)
		for _, name := range names {
			if child := strings.TrimSuffix(path, "/") + "/" + name; child != "/zookeeper" {
				walk(child)
			}
		}
	}
	walk("/")
	return all
}

// line is everything about a znode. It distinguishes null data from empty data.
func line(stat zk.Stat, data []byte, acl []zk.ACL) string {
	text := "null"
	if data != nil {
		text = fmt.Sprintf("%q", data)
	}
	return fmt.Sprintf("%+v %s %+v", stat, text, acl)
}

// fromFiles is what a data directory says about each znode.
func fromFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: dir}, zkdata.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for n := range d.Tree.Nodes("/") {
		var acl []zk.ACL
		for _, a := range n.ACL {
			acl = append(acl, zk.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
		}
		all[n.Path] = line(zk.Stat(n.Stat), n.Data, acl)
	}
	return all
}

// same compares what was read with what the server said.
func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	paths := maps.Clone(got)
	maps.Copy(paths, want)
	left := 10
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if got[path] != want[path] && left > 0 {
			left--
			t.Errorf("%s: %s:\n got %s\nwant %s", when, path, got[path], want[path])
		}
	}
}
