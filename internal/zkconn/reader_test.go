package zkconn_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// A Reader has only these methods, and none of them writes. If you add a
// method, check that it doesn't write. The types of the results show that no
// method returns a Writer.
func TestReaderCannotWrite(t *testing.T) {
	want := []string{"ACL", "Address", "Children", "ChildrenAll", "Close", "Exists", "Get", "GetAll", "GetEach", "LastZxid", "MarkUnreadable", "Subtrees", "Sync", "Tree", "Walk", "WithACLs", "WithChroot"}
	var got []string
	for m := range reflect.TypeFor[*zkconn.Reader]().Methods() {
		got = append(got, m.Name)
		for i := range m.Type.NumOut() {
			if strings.Contains(m.Type.Out(i).String(), "Writer") || strings.Contains(m.Type.Out(i).String(), "zk.") {
				t.Errorf("%s gives a %v", m.Name, m.Type.Out(i))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("methods %q, want %q", got, want)
	}
	for f := range reflect.TypeFor[zkconn.Reader]().Fields() {
		if f.IsExported() {
			t.Errorf("field %s is exported", f.Name)
		}
	}
}

// A Reader's session sends only requests that read, even after a reconnection,
// and the server's tree doesn't change.
func TestReaderWritesNothing(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	auth := zkconn.DigestAuth("ann", password)
	multi(t, w, znode.Create("/a", []byte("1")), znode.Create("/a/b", nil), znode.Create("/c", []byte{}))
	before := everything(t)
	w.Close()
	first := len(p.requests())

	r := openReader(t, zkconn.Config{Address: w.Address(), Auth: []zkconn.Auth{auth}})
	ctx := t.Context()
	for range 2 {
		if err := r.Sync(ctx); err != nil {
			t.Error(err)
		}
		if n, err := r.Get(ctx, "/a"); err != nil || string(n.Data) != "1" || n.Path != "/a" || n.Stat.NumChildren != 1 || n.Stat.Czxid == 0 {
			t.Errorf("%+v, %v", n, err)
		}
		if n, err := r.Get(ctx, "/a/b"); err != nil || n.Data != nil {
			t.Errorf("null data: %#v, %v", n.Data, err)
		}
		if n, err := r.Get(ctx, "/c"); err != nil || n.Data == nil {
			t.Errorf("empty data: %#v, %v", n.Data, err)
		}
		if s, ok, err := r.Exists(ctx, "/a"); err != nil || !ok || s.DataLength != 1 {
			t.Errorf("%+v, %t, %v", s, ok, err)
		}
		if s, ok, err := r.Exists(ctx, "/none"); err != nil || ok || s != (znode.Stat{}) {
			t.Errorf("%+v, %t, %v", s, ok, err)
		}
		if names, err := r.Children(ctx, "/"); err != nil || !slices.Equal(slices.Sorted(slices.Values(names)), []string{"a", "c"}) {
			t.Errorf("%q, %v", names, err)
		}
		if acl, err := r.ACL(ctx, "/a"); err != nil || !reflect.DeepEqual(acl, znode.OpenACL()) {
			t.Errorf("%v, %v", acl, err)
		}
		if tree, err := r.WithACLs().Tree(ctx); err != nil || tree.Len() != 4 {
			t.Errorf("%v, %v", tree, err)
		}
		for op, err := range map[string]error{
			"get /none": second(r.Get(ctx, "/none")), "list /none": second(r.Children(ctx, "/none")), "get the ACL of /none": second(r.ACL(ctx, "/none")),
		} {
			if !errors.Is(err, znode.ErrNoNode) {
				t.Errorf("%v", err)
			}
			wantMessage(t, err, op+": no such znode")
		}
		_, err := r.Get(ctx, "a")
		wantMessage(t, err, `invalid znode path "a": it must start with /`)
		p.cut()
	}
	r.Close()

	reads := map[int]string{-1: "connect", 3: "exists", 4: "getData", 6: "getACL", 8: "getChildren", 9: "sync", 11: "ping", 22: "multiRead", 100: "auth", -11: "close"}
	seen := map[string]int{}
	for _, req := range p.requests()[first:] {
		name, ok := reads[req.opcode()]
		if !ok {
			t.Errorf("a request of type %d was sent", req.opcode())
		}
		seen[name]++
	}
	for _, name := range []string{"connect", "exists", "getData", "getACL", "sync", "getChildren", "auth"} {
		if seen[name] < 2 {
			t.Errorf("%s was not seen twice: %v", name, seen)
		}
	}
	if after := everything(t); !maps.Equal(before, after) {
		t.Errorf("the server's tree changed:\n%v\nwas\n%v", after, before)
	}
}

func second[T any](_ T, err error) error { return err }

// everything is the Stats of all nodes on the shared server, read without the
// proxy.
func everything(t *testing.T) map[string]znode.Stat {
	t.Helper()
	r := openReader(t, zkconn.Config{Address: zkconn.Address{Servers: []string{server(t).Address()}}})
	tree := value(r.Tree(t.Context()))(t)
	stats := map[string]znode.Stat{}
	for n := range tree.All("/") {
		stats[n.Path] = n.Stat
	}
	r.Close()
	return stats
}

func TestTree(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	ops := []znode.Op{znode.Create("/zookeeper", []byte("not the server's")), znode.Create("/a", nil), znode.Create("/a/deep", nil), znode.Create("/b", nil)}
	for i := range 200 {
		ops = append(ops, znode.Create(fmt.Sprintf("/a/deep/n%03d", i), []byte{byte(i)}))
	}
	multi(t, w, ops...)
	tree := value(w.Tree(t.Context()))(t)
	if tree.Len() != 205 {
		t.Errorf("%d nodes", tree.Len())
	}
	if tree.Get("/zookeeper") == nil {
		t.Error("an application's node below the chroot is left out because of its name")
	}
	for n := range tree.All("/a/deep") {
		if n.Path != "/a/deep" && (len(n.Data) != 1 || n.Stat.DataLength != 1 || n.Stat.Czxid != tree.Get("/a").Stat.Czxid) {
			t.Errorf("%+v", n)
		}
	}
	some := value(w.Tree(t.Context(), "/b", "/a/deep/n007", "/none/below", "/a/deep/n008"))(t)
	if want := []string{"/", "/a", "/a/deep", "/a/deep/n007", "/a/deep/n008", "/b"}; !slices.Equal(some.Paths("/"), want) {
		t.Errorf("%q, want %q", some.Paths("/"), want)
	}

	whole := value(openReader(t, zkconn.Config{Address: zkconn.Address{Servers: []string{server(t).Address()}}}).Tree(t.Context()))(t)
	if whole.Get("/zookeeper") != nil || whole.Get(w.Address().Chroot+"/zookeeper") == nil {
		t.Error("without a chroot, only /zookeeper is the server's own")
	}
}

func TestNoPermission(t *testing.T) {
	w, p := setup(t, zkconn.Config{Auth: []zkconn.Auth{zkconn.DigestAuth("ann", password)}})
	multi(t, w, znode.Op{Kind: znode.OpCreate, Path: "/locked", Data: []byte("x"), ACL: []znode.ACL{{Perms: znode.PermAll, Scheme: "auth"}}})
	acl, err := w.ACL(t.Context(), "/locked")
	if err != nil || len(acl) != 1 || acl[0].Scheme != "digest" || !strings.HasPrefix(acl[0].ID, "ann:") {
		t.Fatalf("%v, %v", acl, err)
	}
	const remedy = "no permission (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL)"
	stranger := openWriter(t, zkconn.Config{Address: w.Address()})
	_, err = stranger.Get(t.Context(), "/locked")
	wantMessage(t, err, "get /locked: "+remedy)
	_, err = stranger.Tree(t.Context())
	wantMessage(t, err, "get /locked: "+remedy)
	marking := value(stranger.MarkUnreadable().WithACLs().Tree(t.Context()))(t)
	if n := marking.Get("/locked"); n == nil || n.Unreadable != "no permission" || n.Data != nil || n.Stat.Czxid == 0 || n.Stat.DataLength != 1 {
		t.Errorf("a tree with an unreadable node: %+v", n)
	}
	err = stranger.Multi(t.Context(), []znode.Op{znode.Check("/", -1), znode.Set("/locked", nil, -1)})
	wantMessage(t, err, "set /locked: "+remedy)
	var me *znode.MultiError
	if !errors.Is(err, zkconn.ErrNoAuth) || !errors.As(err, &me) || me.Index != 1 {
		t.Errorf("%#v", err)
	}
	err = stranger.SetACL(t.Context(), "/locked", znode.OpenACL())
	wantMessage(t, err, "set the ACL of /locked: "+remedy)
	_, err = stranger.CreateEphemeral(t.Context(), "/locked/x", nil, nil)
	wantMessage(t, err, "create /locked/x: "+remedy)

	// The session sends its credentials again after a reconnection.
	for range 3 {
		p.cut()
		must(t, second(w.Get(t.Context(), "/locked")))
	}
	must(t, w.SetACL(t.Context(), "/locked", nil))
	if _, err := stranger.Get(t.Context(), "/locked"); err != nil {
		t.Errorf("after opening it: %v", err)
	}
}

// An answer over the limit fails its call, says which size it needs, and ends
// the session. The session doesn't reconnect, because the new connection would
// break too.
func TestMaxResponse(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	var ops []znode.Op
	for i := range 1000 {
		ops = append(ops, znode.Create(fmt.Sprintf("/child%04d", i), nil))
	}
	multi(t, w, ops...)
	// The header of 16 bytes, the count, the names of 9 with their lengths.
	const size = 16 + 4 + 1000*(4+9)
	r := openReader(t, zkconn.Config{Address: w.Address(), MaxResponse: size})
	if names, err := r.Children(t.Context(), "/"); err != nil || len(names) != 1000 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	r = openReader(t, zkconn.Config{Address: w.Address(), MaxResponse: size - 1})
	before := p.connections()
	within(t, 30*time.Second, "the error", func() {
		_, err := r.Children(t.Context(), "/")
		wantMessage(t, err, fmt.Sprintf("list /: the server's answer is %d bytes and the limit is %d, because a znode has very many children or much data; raise --max-response to %d or more", size, size-1, size))
		var too *zkconn.ResponseTooLargeError
		if !errors.As(err, &too) || too.Size != size || too.Limit != size-1 {
			t.Errorf("%#v", err)
		}
	})
	if _, err := r.Get(t.Context(), "/"); !errors.As(err, new(*zkconn.ResponseTooLargeError)) {
		t.Errorf("the next call: %v", err)
	}
	r.Close()
	if n := p.connections() - before; n != 0 {
		t.Errorf("%d connections were made after the failure", n)
	}
}
