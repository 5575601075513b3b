package offline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mrtq/internal/offline"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// empty returns a tree without a dump, and the path of the file that it will become.
func empty(t testing.TB, opt offline.Options) (*offline.Tree, string) {
	t.Helper()
	opt.Beside = filepath.Join(t.TempDir(), "tree.ndjson")
	tree, err := offline.Open(t.Context(), nil, opt)
	must(t, err)
	t.Cleanup(tree.Close)
	return tree, opt.Beside
}

// A transaction that is too large for a server's jute.maxbuffer gets the same answer
// as from the server. The limit is the same to the byte.
func TestPacket(t *testing.T) {
	const packet = 5000
	tree, _ := empty(t, offline.Options{Packet: packet})
	server, err := serve(t, t.Context(), "", packet)
	must(t, err)
	defer server.end()
	room := packet - znode.MultiSize([]znode.Op{znode.Create("/big", nil)}, 0)
	for over := range 8 {
		for _, ops := range [][]znode.Op{{znode.Create("/big", make([]byte, room+over))}, {znode.Delete("/big", -1)}} {
			if got, want := verdict(tree.Multi(t.Context(), ops)), verdict(server.Multi(t.Context(), ops)); got != want {
				t.Errorf("%d bytes over: %v: %s; the server: %s", over, ops[0], got, want)
			}
		}
	}
	huge := []znode.Op{znode.Create("/huge", make([]byte, 17<<20))}
	if err := tree.Multi(t.Context(), huge); err == nil || errors.Is(err, zkconn.ErrUnknownOutcome) {
		t.Errorf("a transaction that is larger than a session sends: %v", err)
	}
}

// A caller may change its own data after a call. The tree has a copy.
func TestDataIsCopied(t *testing.T) {
	tree, _ := empty(t, offline.Options{})
	data, acl := []byte("before"), []znode.ACL{{Perms: 1, Scheme: "digest", ID: "u:hash"}}
	must(t, tree.Multi(t.Context(), []znode.Op{{Kind: znode.OpCreate, Path: "/a", Data: data, ACL: acl}}))
	copy(data, "after!")
	acl[0].ID = "other:hash"
	n, err := tree.Get(t.Context(), "/a")
	if err != nil || string(n.Data) != "before" || n.ACL[0].ID != "u:hash" {
		t.Errorf("%q, %v, %v", n.Data, n.ACL, err)
	}
}

// While transactions come, each subtree is read as of one moment, and a walk as of its
// beginning, even if runs are merged meanwhile.
func TestReadWhileWritten(t *testing.T) {
	tree, _ := empty(t, offline.Options{}.Small(2000, 100, 2))
	add := func(i int) {
		p := fmt.Sprintf("/n%03d", i)
		must(t, tree.Multi(t.Context(), []znode.Op{znode.Create(p, nil), znode.Create(p+"/x", []byte("data"))}))
	}
	for i := range 20 {
		add(i)
	}
	seen, next := 0, 20
	for n, err := range tree.Walk(t.Context(), "/") {
		must(t, err)
		if n.Path == fmt.Sprintf("/n%03d/x", seen) {
			seen++
			add(next)
			must(t, tree.Multi(t.Context(), []znode.Op{znode.Delete(fmt.Sprintf("/n%03d/x", seen-1), 0)}))
			next++
		}
	}
	if seen != 20 {
		t.Errorf("the walk saw %d znodes, and there were 20 when it began", seen)
	}
	roots := func(yield func(string) bool) {
		for i := range next {
			if !yield(fmt.Sprintf("/n%03d", i)) {
				return
			}
		}
	}
	i := 0
	for sub, err := range tree.Subtrees(t.Context(), roots) {
		must(t, err)
		if want := 1 + min(i/20, 1); len(sub.Nodes) != want || int(sub.Nodes[0].Stat.NumChildren) != want-1 {
			t.Errorf("%s: %d znodes", sub.Root, len(sub.Nodes))
		}
		if i++; i < next {
			must(t, tree.Multi(t.Context(), []znode.Op{znode.Set(fmt.Sprintf("/n%03d", i), make([]byte, 300), -1)}))
		}
	}
	if i != 40 {
		t.Errorf("%d subtrees", i)
	}
}

// An ephemeral znode of this process is not in the dump. One of the dump's workers
// stays, and WaitGone does not wait for it.
func TestEphemerals(t *testing.T) {
	dump := `{"path":"/lock","data":"","stat":{"czxid":3,"mzxid":3,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":77,"dataLength":0,"numChildren":0,"pzxid":3}}` + "\n"
	tree, err := open(t, t.Context(), t.TempDir(), dump, offline.Options{})
	must(t, err)
	defer tree.Close()
	own, err := tree.CreateEphemeral(t.Context(), "/place-", nil, nil)
	if err != nil || own != "/place-0000000001" {
		t.Errorf("%q, %v", own, err)
	}
	if err := tree.WaitGone(t.Context(), "/lock"); err == nil {
		t.Error("WaitGone waited for a znode that nothing will remove")
	}
	must(t, tree.WaitGone(t.Context(), "/nothing"))
	var out bytes.Buffer
	must(t, tree.WriteDump(t.Context(), &out))
	if out.String() != dump {
		t.Errorf("got %s", out.String())
	}
}

// Every call fails if the tree is closed, or if the call's context has ended.
func TestClosedOrCancelled(t *testing.T) {
	tree, _ := empty(t, offline.Options{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	all := func(ctx context.Context) map[string]error {
		_, get := tree.Get(ctx, "/")
		_, children := tree.Children(ctx, "/")
		_, _, exists := tree.Exists(ctx, "/")
		_, ephemeral := tree.CreateEphemeral(ctx, "/n", nil, nil)
		var walk error
		for _, walk = range tree.Walk(ctx, "/") {
		}
		var subtrees error
		for _, subtrees = range tree.Subtrees(ctx, func(yield func(string) bool) { yield("/") }) {
		}
		return map[string]error{"get": get, "children": children, "exists": exists, "ephemeral": ephemeral, "walk": walk, "subtrees": subtrees,
			"start": <-tree.Start(ctx, nil), "dump": tree.WriteDump(ctx, io.Discard)}
	}
	for what, err := range all(gone) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	tree.Close()
	tree.Close()
	for what, err := range all(t.Context()) {
		if err == nil {
			t.Errorf("%s of a closed tree succeeded", what)
		}
	}
}

// When the disk is full, or the folder is gone, every later call fails.
func TestNoFile(t *testing.T) {
	tree, path := empty(t, offline.Options{Memory: 1})
	must(t, os.RemoveAll(filepath.Dir(path)))
	if err := tree.Multi(t.Context(), []znode.Op{znode.Create("/a", nil)}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := tree.WriteDump(t.Context(), io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dump of half a tree: %v", err)
	}
}

// No file is left beside the target, even if the process is killed.
func TestNothingIsLeft(t *testing.T) {
	tree, path := empty(t, offline.Options{}.Small(1, 1, 2))
	for i := range 10 {
		must(t, tree.Multi(t.Context(), []znode.Op{znode.Create(fmt.Sprint("/n", i), nil)}))
	}
	if tree.Runs() == 0 {
		t.Error("the tree has no run on disk")
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// A large tree needs little memory.
func TestLargeTreeNeedsLittleMemory(t *testing.T) {
	const jobs = 20_000
	tree, path := empty(t, offline.Options{Memory: 2 << 20})
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/jobs", nil)}))
	begin, peak := heap(), uint64(0)
	grown := func(at int) {
		if at%1000 == 0 {
			peak = max(peak, heap())
		}
	}
	names := []string{"bid", "configuration", "inventory", "metadata", "priority", "space_needed", "status", "token", "zero"}
	data := bytes.Repeat([]byte("x"), 100)
	for i := range jobs {
		job := fmt.Sprintf("/jobs/jid%010d", i)
		ops := []znode.Op{znode.Create(job, nil)}
		for _, name := range names {
			ops = append(ops, znode.Create(job+"/"+name, data))
		}
		must(t, tree.Multi(t.Context(), ops))
		grown(i)
	}
	f, err := os.Create(path)
	must(t, err)
	must(t, tree.WriteDump(t.Context(), f))
	must(t, f.Close())
	tree.Close()
	d, err := side.OpenDump(t.Context(), path, false, nil)
	must(t, err)
	again, err := offline.Open(t.Context(), d, offline.Options{Beside: path, Memory: 2 << 20})
	must(t, err)
	must(t, d.Close())
	defer again.Close()
	for i := jobs - 1; i >= 0; i-- { // newest first, as a rollback does
		job := fmt.Sprintf("/jobs/jid%010d", i)
		var ops []znode.Op
		for _, name := range names {
			ops = append(ops, znode.Delete(job+"/"+name, 0))
		}
		must(t, again.Multi(t.Context(), append(ops, znode.Delete(job, 0))))
		grown(i)
	}
	jobsNode, err := again.Get(t.Context(), "/jobs")
	if want := (znode.Stat{NumChildren: 0, Cversion: 2 * jobs}); err != nil || jobsNode.Stat.NumChildren != want.NumChildren || jobsNode.Stat.Cversion != want.Cversion {
		t.Errorf("%+v, %v", jobsNode.Stat, err)
	}
	const most = 9 << 20 // the znodes' data alone is twice that
	grew := peak - min(begin, peak)
	t.Logf("the heap grew by %d KiB", grew>>10)
	if grew > most {
		t.Errorf("the heap grew by %d bytes, want at most %d", grew, most)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A dump that no server would load is refused, and so is an ACL that no server accepts.
func TestRefused(t *testing.T) {
	owned := `{"path":"/e","data":"","stat":{"czxid":3,"mzxid":3,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":77,"dataLength":0,"numChildren":0,"pzxid":3}}`
	if tree, err := open(t, t.Context(), t.TempDir(), owned+"\n"+`{"path":"/e/x","data":null}`, offline.Options{}); err == nil || !strings.Contains(err.Error(), "/e/x: ") {
		if tree != nil {
			tree.Close()
		}
		t.Errorf("a znode below an ephemeral one: %v", err)
	}
	tree, _ := empty(t, offline.Options{Now: func() time.Time { return time.UnixMilli(5) }})
	for _, acl := range [][]znode.ACL{{}, {{Perms: 31, Scheme: "auth"}}} {
		var refused *znode.MultiError
		err := tree.Multi(t.Context(), []znode.Op{znode.Create("/a", nil), {Kind: znode.OpCreate, Path: "/b", ACL: acl}})
		if !errors.Is(err, offline.ErrACL) || !errors.As(err, &refused) || refused.Index != 1 {
			t.Errorf("%v: %v", acl, err)
		}
	}
	if _, there, err := tree.Exists(t.Context(), "/a"); there || err != nil {
		t.Errorf("half of a transaction was done: %v", err)
	}
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/a", nil)}))
	if stat, _, err := tree.Exists(t.Context(), "/a"); err != nil || stat.Ctime != 5 || stat.Mtime != 5 {
		t.Errorf("%+v, %v", stat, err)
	}
}
