package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

const maxRequest = 16 << 20

func start(t *testing.T, w *zkconn.Writer, ops ...znode.Op) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- w.Multi(t.Context(), ops) }()
	return answer
}

// link is the i-th multi of a chain. It demands the version that the previous
// one left.
func link(i int) []znode.Op {
	return []znode.Op{znode.Set("/chain", fmt.Append(nil, i), int32(i)), znode.Create(fmt.Sprintf("/n%05d", i), nil)}
}

// The connection is cut again and again. Every answer says that the multi was done, was
// refused, or may have been done. The version says what was done, and the answers agree
// with it. A caller that looks and goes on, as a migration does, completes the chain.
func TestChainThroughCuts(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	multi(t, w, znode.Create("/chain", nil))
	var count, cuts int
	p.decide(func(pkt packet) action {
		if !isMulti(pkt) && !pkt.answer {
			return pass
		}
		if count++; count%97 == 0 {
			cuts++
			return []action{cutBefore, cutWithin, cutAfter, cutBefore}[cuts%4]
		}
		return pass
	})
	const n = 400
	for i, tries := 0, 0; i < n; tries++ {
		if tries > 2*n {
			t.Fatal("no progress")
		}
		answer := w.Multi(t.Context(), link(i))
		if answer != nil && !errors.Is(answer, zkconn.ErrUnknownOutcome) {
			t.Fatal(answer)
		}
		s, _, err := w.Exists(t.Context(), "/chain")
		must(t, err)
		if done := int(s.Version); done != i && done != i+1 || answer == nil && done == i {
			t.Fatalf("version %d after the multi for %d, which answered %v", done, i, answer)
		}
		i = int(s.Version)
	}
	if cuts < 3 {
		t.Errorf("cut only %d times", cuts)
	}
	if names, err := w.Children(t.Context(), "/"); err != nil || len(names) != n+1 {
		t.Errorf("%d nodes, %v", len(names), err)
	}
}

// A write that could not be sent waits for the server, because it was not done.
func TestWriteWhileDisconnected(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	p.refuse(true)
	awaitAttempts(t, p, 1) // otherwise it may still be written to the old connection
	answer := start(t, w, znode.Create("/late", nil))
	awaitAttempts(t, p, 2)
	p.refuse(false)
	within(t, 10*time.Second, "the write", func() {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	})
	if n, err := w.Get(t.Context(), "/late"); err != nil || n.Stat.Version != 0 {
		t.Errorf("%+v, %v", n, err)
	}
}

func awaitAttempts(t *testing.T, p *proxy, n int) {
	t.Helper()
	n += p.connections()
	eventually(t, func() bool { return p.connections() >= n })
}

// The errors distinguish a write that was never sent from one that may have
// been done.
func TestUnsent(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stop"))
	op := []znode.Op{znode.Create("/x", nil)}
	for range 20 { // the choice between two ready channels is random
		wantMessage(t, w.Multi(ctx, op), "nothing was sent: stop")
	}
	_, err := w.CreateEphemeral(ctx, "/x-", nil, nil)
	wantMessage(t, err, "create /x-: nothing was sent: stop")
	wantMessage(t, w.SetACL(ctx, "/", nil), "set the ACL of /: nothing was sent: stop")
	_, err = w.Get(ctx, "/")
	wantMessage(t, err, "get /: stop")

	big := []znode.Op{znode.Create("/x", make([]byte, maxRequest))}
	wantMessage(t, w.Multi(t.Context(), big), fmt.Sprintf("nothing was sent: 1 operations take %d bytes, more than the 16777216 that one request can have", znode.MultiSize(big, len(w.Address().Chroot))))
	// Sizes just above the limit.
	empty := znode.MultiSize([]znode.Op{znode.Create("/x", []byte{})}, len(w.Address().Chroot))
	for n := maxRequest - empty + 1; n < maxRequest-empty+12; n++ {
		if err := w.Multi(t.Context(), []znode.Op{znode.Create("/x", make([]byte, n))}); err == nil || !strings.HasPrefix(err.Error(), "nothing was sent: ") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	// This is sent, but the server doesn't accept so much.
	if err := w.Multi(t.Context(), []znode.Op{znode.Create("/x", make([]byte, maxRequest-empty))}); !errors.Is(err, zkconn.ErrUnknownOutcome) {
		t.Errorf("at the limit: %v", err)
	}

	w.Close()
	wantMessage(t, w.Multi(t.Context(), op), "nothing was sent: the ZooKeeper session was closed")
	_, err = w.Get(t.Context(), "/")
	wantMessage(t, err, "get /: the ZooKeeper session was closed")
}

// No path leaves the chroot.
func TestPathsStayInChroot(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	for _, path := range []string{"x", "/../x", "", "//x", "/x/"} {
		for _, op := range []znode.Op{znode.Create(path, nil), znode.Set(path, nil, -1), znode.Delete(path, -1), znode.Check(path, -1)} {
			err := w.Multi(t.Context(), []znode.Op{znode.Check("/", -1), op})
			var me *znode.MultiError
			if !errors.As(err, &me) || me.Index != 1 || !errors.Is(err, znode.ErrPath) {
				t.Errorf("%v: %v", op, err)
			}
		}
		if err := w.SetACL(t.Context(), path, nil); !errors.Is(err, znode.ErrPath) {
			t.Errorf("SetACL %q: %v", path, err)
		}
		if _, err := w.Get(t.Context(), path); !errors.Is(err, znode.ErrPath) {
			t.Errorf("Get %q: %v", path, err)
		}
	}
	if _, err := w.CreateEphemeral(t.Context(), "x", nil, nil); !errors.Is(err, znode.ErrPath) {
		t.Errorf("CreateEphemeral: %v", err)
	}
}

// The sizes that limit transactions are exactly the sizes on the wire.
func TestMultiSize(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	multi(t, w, znode.Create("/a", nil))
	data := rapid.SampledFrom([][]byte{nil, {}, []byte("x"), make([]byte, 1000)})
	acl := rapid.SampledFrom([][]znode.ACL{nil, znode.OpenACL(), {{Perms: 1, Scheme: "digest", ID: "u:h"}, {Perms: 31, Scheme: "world", ID: "anyone"}}})
	op := rapid.Custom(func(t *rapid.T) znode.Op {
		return znode.Op{
			Kind: znode.OpKind(rapid.IntRange(1, 4).Draw(t, "kind")), Data: data.Draw(t, "data"), ACL: acl.Draw(t, "acl"),
			Path: rapid.SampledFrom([]string{"/", "/a", "/a/b", "/ü"}).Draw(t, "path"), Version: 1234,
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(op, 0, 5).Draw(rt, "ops")
		w.Multi(t.Context(), append(ops, znode.Check("/none", -1)))
		all := p.requests()
		last := all[len(all)-1]
		for i := len(all) - 1; !isMulti(last); i-- {
			last = all[i]
		}
		if got, want := 4+len(last.body), znode.MultiSize(append(ops, znode.Check("/none", -1)), len(w.Address().Chroot)); got != want {
			rt.Fatalf("%d bytes on the wire, MultiSize says %d", got, want)
		}
	})
	whole := openWriter(t, zkconn.Config{Address: zkconn.Address{Servers: []string{p.address()}}})
	ops := []znode.Op{znode.Check("/", 7), znode.Create(w.Address().Chroot+"/q", []byte("x")), znode.Check("/none", -1)}
	whole.Multi(t.Context(), ops)
	all := p.requests()
	if got, want := 4+len(all[len(all)-1].body), znode.MultiSize(ops, 0); got != want {
		t.Errorf("without a chroot: %d bytes on the wire, MultiSize says %d", got, want)
	}
}

func TestMultiErrorsOfServer(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	multi(t, w, znode.Create("/a", nil), znode.Create("/a/b", nil))
	for _, tc := range []struct {
		op       znode.Op
		sentinel error
		want     string
	}{
		{znode.Create("/a", nil), znode.ErrNodeExists, "create /a: the znode exists"},
		{znode.Create("/x/y", nil), znode.ErrNoNode, "create /x/y: no such znode"},
		{znode.Set("/a", nil, 5), znode.ErrBadVersion, "set /a: the znode has another version"},
		{znode.Delete("/a", -1), znode.ErrNotEmpty, "delete /a: the znode has children"},
		{znode.Check("/x", -1), znode.ErrNoNode, "check /x: no such znode"},
		{znode.Op{Kind: znode.OpCreate, Path: "/acl", ACL: []znode.ACL{}}, nil, "create /acl: zookeeper: InvalidACL (-114)"},
	} {
		err := w.Multi(t.Context(), []znode.Op{znode.Check("/", -1), tc.op, znode.Create("/never", nil)})
		var me *znode.MultiError
		if !errors.As(err, &me) || me.Index != 1 || (tc.sentinel != nil && !errors.Is(err, tc.sentinel)) {
			t.Errorf("%#v", err)
		}
		wantMessage(t, err, tc.want)
	}
	if err := w.Multi(t.Context(), nil); err != nil {
		t.Errorf("no operations: %v", err)
	}
}

func TestMakeChroot(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	addr := w.Address()
	base := addr.Chroot
	addr.Chroot += "/x/y"
	deep := openWriter(t, zkconn.Config{Address: addr})
	_, err := deep.Get(t.Context(), "/")
	wantMessage(t, err, "get /: no such znode")
	made, err := deep.MakeChroot(t.Context())
	if err != nil || !slices.Equal(made, []string{base + "/x", base + "/x/y"}) {
		t.Fatalf("%q, %v", made, err)
	}
	seen := len(p.requests())
	if made, err := deep.MakeChroot(t.Context()); err != nil || made != nil {
		t.Errorf("again: %q, %v", made, err)
	}
	for _, r := range p.requests()[seen:] {
		if r.opcode() == 1 {
			t.Error("an existing chroot was recreated")
		}
	}
	multi(t, deep, znode.Create("/in", []byte("1")), znode.Set("/", []byte("root"), 0))
	if n, err := w.Get(t.Context(), "/x/y/in"); err != nil || string(n.Data) != "1" {
		t.Errorf("from outside: %+v, %v", n, err)
	}
	whole := openWriter(t, zkconn.Config{Address: zkconn.Address{Servers: addr.Servers}})
	if made, err := whole.MakeChroot(t.Context()); err != nil || made != nil {
		t.Errorf("without a chroot: %q, %v", made, err)
	}

	// A parent exists, but its ACL excludes us.
	ann := openWriter(t, zkconn.Config{Address: w.Address(), Auth: []zkconn.Auth{zkconn.DigestAuth("ann", password)}})
	closed := []znode.ACL{{Perms: znode.PermAll, Scheme: "auth"}}
	multi(t, ann, znode.Op{Kind: znode.OpCreate, Path: "/closed", ACL: closed}, znode.Create("/closed/open", nil))
	addr.Chroot = base + "/closed/open/z"
	if made, err := openWriter(t, zkconn.Config{Address: addr}).MakeChroot(t.Context()); err != nil || !slices.Equal(made, []string{addr.Chroot}) {
		t.Errorf("below a closed parent: %q, %v", made, err)
	}
	addr.Chroot = base + "/closed/mine"
	_, err = openWriter(t, zkconn.Config{Address: addr}).MakeChroot(t.Context())
	wantMessage(t, err, "create the chroot "+addr.Chroot+": no permission (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL)")
}

func TestEphemerals(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	other := openWriter(t, zkconn.Config{Address: w.Address()})
	first, err := w.CreateEphemeral(t.Context(), "/e-", []byte("me"), nil)
	if err != nil || first != "/e-0000000000" {
		t.Fatalf("%s, %v", first, err)
	}
	if n, err := other.Get(t.Context(), first); err != nil || string(n.Data) != "me" || n.Stat.EphemeralOwner == 0 {
		t.Errorf("%+v, %v", n, err)
	}
	w.Close()
	if _, there, err := other.Exists(t.Context(), first); there || err != nil {
		t.Errorf("after the session's end it is there: %t, %v", there, err)
	}
}

// eventually waits for something that has no event.
func eventually(t *testing.T, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in time")
		}
	}
}
