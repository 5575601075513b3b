package restore_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/jute"
	"mrtq/internal/restore"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func TestMain(m *testing.M) { shared.Main(m) }

// TestRefused: what the server would refuse is named before anything is written.
func TestRefused(t *testing.T) {
	s := shared.Server(t, false)
	open := func(chroot string) *zkconn.Writer {
		t.Helper()
		address, err := zkconn.ParseAddress(s.Address() + chroot)
		must(t, err)
		w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: address})
		must(t, err)
		t.Cleanup(w.Close)
		return w
	}
	a := znode.Node{Path: "/a", Data: []byte("same")}
	readOnly := []znode.ACL{{Perms: 1, Scheme: "world", ID: "anyone"}}
	for name, c := range map[string]struct {
		chroot, below string
		there         func(w *zkconn.Writer) error
		dump          []znode.Node
		want          string
	}{
		"an ephemeral znode with the same data": {there: ephemeral(t, "/a", "same"), dump: []znode.Node{a},
			want: "the target can't hold the dump: /a: the target has an ephemeral znode there, which ends with its session and can have no children; nothing was written; wait until that session has ended, or remove the znode first"},
		"an ephemeral parent": {there: ephemeral(t, "/a", "other"), dump: []znode.Node{a, {Path: "/a/b"}},
			want: "the target can't hold the dump: /a: the target has an ephemeral znode there"},
		"an ephemeral znode above --below": {below: "/a/b", there: ephemeral(t, "/a", "other"), dump: []znode.Node{a, {Path: "/a/b"}},
			want: "the target can't hold the dump: /a: the target has an ephemeral znode there"},
		"an ephemeral chroot": {chroot: "/e", there: ephemeral(t, "/e", ""), dump: []znode.Node{a},
			want: "the target can't hold the dump: /e: it is ephemeral, or a znode above it is, and an ephemeral znode can have no children; nothing was written; restore into another chroot"},
		"a chroot below an ephemeral znode": {chroot: "/e/new", there: ephemeral(t, "/e", ""), dump: []znode.Node{a},
			want: "the target can't hold the dump: /e/new: it is ephemeral, or a znode above it is"},
		"a large znode": {chroot: "/new/chroot", dump: []znode.Node{a, {Path: "/a/large", Data: make([]byte, 1<<20)}, {Path: "/a/larger", Data: make([]byte, 1<<20+1)}},
			want: "the target can't hold the dump: /a/larger: it has 1048577 bytes of data, and this server does not take a request of 1048662 bytes: its jute.maxbuffer is smaller; " +
				"2 znodes of the dump take more than 1 MiB, which is the usual limit; nothing was written; raise jute.maxbuffer of all servers to 1048662 at least (-Djute.maxbuffer=…), or take the znode out of the dump"},
		"an unknown scheme": {dump: []znode.Node{a, {Path: "/a/b", ACL: []znode.ACL{{Perms: 31, Scheme: "house", ID: "x"}}}},
			want: `the target can't hold the dump: /a/b: this server takes no ACL of ["house:x"]; nothing was written; change the ACL in the dump, or configure its scheme at the server`},
		"an unknown scheme of a parent": {dump: []znode.Node{{Path: "/a", ACL: []znode.ACL{{Perms: 31, Scheme: "house", ID: "x"}}}, {Path: "/a/b"}},
			want: "the target can't hold the dump: /a: this server takes no ACL"},
		"an empty ACL": {dump: []znode.Node{{Path: "/a", ACL: []znode.ACL{}}},
			want: "the target can't hold the dump: /a: its ACL in the dump is empty, and no server takes that; nothing was written; correct the dump"},
		"ZooKeeper's own": {dump: []znode.Node{{Path: "/zookeeper"}, {Path: "/zookeeper/x"}},
			want: "the target can't hold the dump: /zookeeper and 1 more: ZooKeeper has its own znodes there, and the dump is that of a chroot; nothing was written; restore it into a chroot"},
		"no permission": {there: func(w *zkconn.Writer) error {
			return w.Multi(t.Context(), []znode.Op{{Kind: znode.OpCreate, Path: "/a", Data: []byte("same"), ACL: readOnly}})
		}, dump: []znode.Node{{Path: "/a", Data: []byte("same"), ACL: readOnly}, {Path: "/a/b"}}, want: "create /a/b: no permission (give credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, s.Clean(t.Context()))
			other := open("")
			if c.there != nil {
				must(t, c.there(other))
			}
			before := dumped(t, other)
			tree := znode.NewTree()
			for _, n := range c.dump {
				must(t, tree.Put(n))
			}
			below := c.below
			if below == "" {
				below = "/"
			}
			res, err := restore.Restore(t.Context(), tree, open(c.chroot), restore.Options{Below: below, Progress: func(int, int) {}})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, restore.ErrRefused) != strings.HasPrefix(c.want, restore.ErrRefused.Error()) {
				t.Errorf("%+v\n got %v\nwant %s", res, err, c.want)
			}
			if after := dumped(t, other); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

func ephemeral(t *testing.T, path, data string) func(w *zkconn.Writer) error {
	return func(w *zkconn.Writer) error {
		conn, _, err := zk.Connect(w.Address().Servers, 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			return err
		}
		t.Cleanup(conn.Close)
		_, err = conn.Create(w.Address().Chroot+path, []byte(data), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		return err
	}
}

// TestSmallBuffer: transactions are as small as a server with a lowered jute.maxbuffer needs them. A znode that just
// fits is restored, and one with a byte more is refused.
func TestSmallBuffer(t *testing.T) {
	const limit = 4096
	fits := limit - znode.MultiSize([]znode.Op{znode.Create("/large", nil)}, 0) + 4
	for more, want := range []string{"", "/large: it has " + fmt.Sprint(fits+1) + " bytes of data, and this server does not take a request of 4097 bytes: its jute.maxbuffer is smaller; nothing was written"} {
		s, err := minizk.Start(minizk.Options{RealTime: true, Private: true, MaxBuffer: limit})
		must(t, err)
		defer s.Close()
		w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"memory:0"}}, Dial: s.Dial})
		must(t, err)
		defer w.Close()
		tree := znode.NewTree()
		must(t, tree.Put(znode.Node{Path: "/large", Data: make([]byte, fits+more)}))
		for i := range 100 {
			must(t, tree.Put(znode.Node{Path: fmt.Sprintf("/n%d", i), Data: make([]byte, 300)}))
		}
		res, err := restore.Restore(t.Context(), tree, w, restore.Options{Below: "/", Progress: func(int, int) {}})
		if want == "" && (err != nil || res.Created != 101) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes more: %+v, %v", more, res, err)
		}
	}
}

// TestQuota: only an attempt shows a quota. The error says how far the restore came, and the next one goes on.
func TestQuota(t *testing.T) {
	s, w := server(t)
	tree, n := largeTree(t), 0
	for _, c := range []struct {
		after int
		want  string
	}{
		{0, "the target can't hold the dump: /p000: a quota of a znode above it is used up; nothing was written; raise it (setquota in zkCli), and run the same command again"},
		{4, "QuotaExceeded (-125): 1 of 3120 missing znodes are created, and a quota of a znode above this one is used up; raise it (setquota in zkCli), and run the same command again"},
	} {
		n = 0
		fault := s.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if op.Code != minizk.OpMulti {
				return false
			}
			n++
			return n > c.after
		}, Do: minizk.Refuse(jute.QuotaExceeded)})
		if res, err := restore.Restore(t.Context(), tree, w, restore.Options{Below: "/", Ops: 1, Progress: func(int, int) {}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v\n got %v\nwant %s", res, err, c.want)
		}
		fault.Remove()
	}
}

func dumped(t *testing.T, w *zkconn.Writer) string {
	t.Helper()
	tree, err := w.WithACLs().Tree(t.Context())
	must(t, err)
	var b bytes.Buffer
	must(t, znode.WriteDump(&b, tree))
	return b.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
