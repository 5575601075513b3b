package sides_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/jute"

	"pgregory.net/rapid"

	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// The paths collide often. "a-" and "a0" come before and after what is below "a".
var someNames = []string{"a", "a-", "a0", "b", "zookeeper"}

func drawPath(t *rapid.T) string {
	path := ""
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		path += "/" + rapid.SampledFrom(someNames).Draw(t, "name")
	}
	return cmp.Or(path, "/")
}

func drawData(t *rapid.T) []byte {
	return rapid.SampledFrom([][]byte{nil, {}, []byte("x"), []byte("longer data"), bytes.Repeat([]byte("long "), 60)}).Draw(t, "data")
}

// The server's client is this user, who may do everything to every znode.
const user, password = "owner", "secret"

var mine = znode.ACL{Perms: 31, Scheme: "digest", ID: zk.DigestACL(zk.PermAll, user, password)[0].ID}

func drawACL(t *rapid.T) []znode.ACL {
	return rapid.SampledFrom([][]znode.ACL{
		nil, nil, nil, {}, znode.OpenACL(), {mine},
		{{Perms: 1, Scheme: "world", ID: "anyone"}, mine, {Perms: 1, Scheme: "world", ID: "anyone"}},
		{{Perms: 30, Scheme: "ip", ID: "10.0.0.0/8"}, mine},
		{{Perms: 1, Scheme: "nonsense", ID: "x"}, mine},
	}).Draw(t, "acl")
}

func drawOp(t *rapid.T) znode.Op {
	op := znode.Op{
		Kind:    rapid.SampledFrom([]znode.OpKind{znode.OpCreate, znode.OpCreate, znode.OpCreate, znode.OpSet, znode.OpDelete, znode.OpDelete, znode.OpCheck}).Draw(t, "op"),
		Path:    drawPath(t),
		Version: rapid.SampledFrom([]int32{-1, -1, -1, 0, 0, 1, 2}).Draw(t, "version"),
	}
	if op.Kind == znode.OpCreate || op.Kind == znode.OpSet {
		op.Data = drawData(t)
	}
	if op.Kind == znode.OpDelete && op.Path == "/" { // a server's client can delete its chroot
		op.Path = "/a"
	}
	if op.Kind == znode.OpCreate {
		op.ACL, op.Version = drawACL(t), 0
	}
	if op.Kind == znode.OpDelete && rapid.IntRange(0, 20).Draw(t, "odd") == 0 {
		op.Path = rapid.SampledFrom([]string{"/zookeeper", "/zookeeper/quota", "bad", "/a//b"}).Draw(t, "odd path")
	}
	return op
}

// TestSameAsServer: a tree below a chroot is dumped, and the dump opened as a target. Random transactions
// on both have equal answers, and in the end the dumps are equal.
func TestSameAsServer(t *testing.T) {
	s := server(t)
	address := s.Address() + "/app"
	dir := t.TempDir()
	connect := func(rt *rapid.T) *zkconn.Writer {
		addr, err := zkconn.ParseAddress(address)
		must(rt, err)
		w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr, Auth: []zkconn.Auth{zkconn.DigestAuth(user, password)}})
		must(rt, err)
		return w
	}
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		must(rt, s.Clean(ctx))
		w, other := connect(rt), connect(rt)
		_, err := w.MakeChroot(ctx)
		must(rt, err)
		defer w.Close()
		defer other.Close()
		for range rapid.IntRange(0, 10).Draw(rt, "steps before") {
			_ = w.Multi(ctx, rapid.SliceOfN(rapid.Custom(drawOp), 0, 6).Draw(rt, "multi")) // it may be refused
		}
		if rapid.Bool().Draw(rt, "lock") {
			_, _ = other.CreateEphemeral(ctx, znode.Join(drawPath(rt), "lock-"), nil, nil) // it may be refused
		}
		must(rt, w.Multi(ctx, []znode.Op{znode.Set("/", []byte("root"), -1)}))
		path := filepath.Join(dir, "tree.ndjson")
		dump := dumped(rt, ctx, &w.Reader)
		must(rt, os.WriteFile(path, []byte(dump), 0o600))
		before := zxid(rt, dump)

		tree, err := sides.OpenWritable(ctx, place(rt, "file:"+path), sides.Options{})
		must(rt, err)
		defer tree.Close()
		for range rapid.IntRange(0, 20).Draw(rt, "steps") {
			step(rt, ctx, tree.Writer, w)
		}
		if got, want := ranked(rt, dumped(rt, ctx, &tree.Reader), before), ranked(rt, dumped(rt, ctx, &w.Reader), before); got != want {
			rt.Fatalf("read\n%s\nwant\n%s", got, want)
		}
		must(rt, tree.Commit(ctx))
		w.Close()
		written, err := os.ReadFile(path)
		must(rt, err)
		if got, want := ranked(rt, string(written), before), ranked(rt, dumped(rt, ctx, &other.Reader), before); got != want {
			rt.Fatalf("written\n%s\nwant\n%s", got, want)
		}
	})
}

func step(t *rapid.T, ctx context.Context, tree, server *zkconn.Writer) {
	switch rapid.IntRange(0, 8).Draw(t, "step") {
	case 0:
		prefix := znode.Join(drawPath(t), "n-")
		got, err := tree.CreateEphemeral(ctx, prefix, []byte("me"), nil)
		want, serr := server.CreateEphemeral(ctx, prefix, []byte("me"), nil)
		if got != want || verdict(err) != verdict(serr) {
			t.Fatalf("create %s: %q, %v; the server: %q, %v", prefix, got, err, want, serr)
		}
	case 1:
		path := drawPath(t)
		names, err := tree.Children(ctx, path)
		wanted, serr := server.Children(ctx, path)
		slices.Sort(names)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) || verdict(err) != verdict(serr) {
			t.Fatalf("children of %s: %q, %v; the server: %q, %v", path, names, err, wanted, serr)
		}
	default:
		ops := rapid.SliceOfN(rapid.Custom(drawOp), 0, 6).Draw(t, "multi")
		if got, want := verdict(tree.Multi(ctx, ops)), verdict(server.Multi(ctx, ops)); got != want {
			t.Fatalf("%v: %s; the server: %s", ops, got, want)
		}
	}
}

func zxid(t fataler, dump string) int64 {
	t.Helper()
	newest := int64(0)
	must(t, znode.ScanDump(strings.NewReader(dump), func(n znode.Node) error {
		newest = max(newest, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
		return nil
	}))
	return newest
}

// ranked is a dump that can be compared with another one. The transactions after the given one are
// numbered anew, and have no times. Their sessions all have one id.
func ranked(t fataler, dump string, after int64) string {
	t.Helper()
	tree, err := znode.ReadDump(strings.NewReader(dump))
	must(t, err)
	var zxids []int64
	for n := range tree.All("/") {
		zxids = append(zxids, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
	}
	slices.Sort(zxids)
	zxids = slices.Compact(slices.DeleteFunc(zxids, func(z int64) bool { return z <= after }))
	for n := range tree.All("/") {
		s := &n.Stat
		if s.Czxid > after {
			s.Ctime, s.EphemeralOwner = 0, min(s.EphemeralOwner, 1)
		}
		if s.Mzxid > after {
			s.Mtime = 0
		}
		for _, z := range []*int64{&s.Czxid, &s.Mzxid, &s.Pzxid} {
			if i, new := slices.BinarySearch(zxids, *z); new {
				*z = after + 1 + int64(i)
			}
		}
	}
	var b bytes.Buffer
	must(t, znode.WriteDump(&b, tree))
	return b.String()
}

func verdict(err error) string {
	if err == nil {
		return "done"
	}
	what := "refused"
	for _, known := range []error{
		znode.ErrNoNode, znode.ErrNodeExists, znode.ErrNotEmpty, znode.ErrBadVersion, znode.ErrEphemeralParent, znode.ErrPath,
		zkconn.ErrUnknownOutcome, zkconn.ErrNoAuth, jute.BadArguments, jute.InvalidACL,
	} {
		if errors.Is(err, known) {
			what = known.Error()
		}
	}
	var refused *znode.MultiError
	if errors.As(err, &refused) {
		what += " at " + string(rune('0'+refused.Index)) + " " + cmp.Or(refused.Op.String(), "nothing")
	}
	return what
}
