package zkconn_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// fires waits until a watch has fired.
func fires(t *testing.T, what string, w zkconn.Watch) {
	t.Helper()
	within(t, 10*time.Second, what, func() {
		for !w.Fired() {
			time.Sleep(time.Millisecond)
		}
	})
}

// A watch fires once, because of the change that it was set for, and not
// before.
func TestWatches(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	ctx := t.Context()
	r := openReader(t, zkconn.Config{Address: w.Address()})

	_, there, created, err := r.ExistsW(ctx, "/a")
	if err != nil || there || !created.Set() {
		t.Fatalf("there %v, set %v, %v", there, created.Set(), err)
	}
	multi(t, w, znode.Create("/b", nil))
	if err := r.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if created.Fired() {
		t.Error("the watch on /a fired because of /b")
	}
	multi(t, w, znode.Create("/a", []byte("1")))
	fires(t, "a creation", created)

	names, stat, children, err := r.ChildrenW(ctx, "/a")
	if err != nil || len(names) != 0 || stat.Czxid == 0 {
		t.Fatalf("%q %+v %v", names, stat, err)
	}
	before, there, data, err := r.ExistsW(ctx, "/a")
	if err != nil || !there || before.Version != 0 {
		t.Fatalf("%+v %v %v", before, there, err)
	}
	multi(t, w, znode.Set("/a", []byte("2"), 0))
	fires(t, "new data", data)
	if children.Fired() {
		t.Error("the watch on the children fired because of data")
	}
	multi(t, w, znode.Create("/a/x", nil))
	fires(t, "a child", children)

	names, stat, gone, err := r.ChildrenW(ctx, "/a")
	if err != nil || !slices.Equal(names, []string{"x"}) || stat.NumChildren != 1 {
		t.Fatalf("%q %+v %v", names, stat, err)
	}
	multi(t, w, znode.Delete("/a/x", -1), znode.Delete("/a", -1))
	fires(t, "a deletion", gone)
	if _, _, none, err := r.ChildrenW(ctx, "/a"); !errors.Is(err, znode.ErrNoNode) || none.Set() {
		t.Errorf("set %v, %v", none.Set(), err)
	}
	if (zkconn.Watch{}).Fired() || (zkconn.Watch{}).Set() {
		t.Error("the zero Watch counts as set")
	}
}

// A reconnection fires every watch, because there may have been changes
// meanwhile. A watch that is set afterwards waits for a change.
func TestReconnectionFiresWatches(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	ctx := t.Context()
	direct := w.Address()
	direct.Servers = []string{server(t).Address()}
	other := openWriter(t, zkconn.Config{Address: direct})
	multi(t, w, znode.Create("/a", nil), znode.Create("/b", nil))
	_, _, a, err := w.ChildrenW(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	_, _, b, err := w.ChildrenW(ctx, "/b")
	if err != nil {
		t.Fatal(err)
	}
	p.refuse(true)
	p.cut()
	multi(t, other, znode.Create("/a/x", nil))
	p.refuse(false)
	fires(t, "what changed meanwhile", a)
	fires(t, "what did not change", b)
	if _, _, b, err = w.ChildrenW(ctx, "/b"); err != nil || b.Fired() {
		t.Fatalf("fired without a change, %v", err)
	}
	multi(t, other, znode.Create("/b/x", nil))
	fires(t, "what changed afterwards", b)
}

// If a caller gives up a watch, a late answer must not set the caller's
// variables. The race detector would report it.
func TestWatchGivenUp(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(i) * time.Microsecond)
			cancel()
		}()
		_, there, watch, err := w.ExistsW(ctx, "/none")
		if there || (err == nil) != watch.Set() {
			t.Fatalf("there %v, set %v, %v", there, watch.Set(), err)
		}
		_, _, watch, err = w.ChildrenW(ctx, "/")
		if (err == nil) != watch.Set() {
			t.Fatalf("set %v, %v", watch.Set(), err)
		}
	}
}
