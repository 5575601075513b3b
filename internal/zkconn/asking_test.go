package zkconn_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Many questions of several callers get the right answers, although the connection
// breaks at any time. No question is sent before the credentials.
func TestManyQuestionsThroughCuts(t *testing.T) {
	w, p := setup(t, zkconn.Config{Auth: []zkconn.Auth{zkconn.DigestAuth("ann", password)}})
	var ops []znode.Op
	var paths []string
	for i := range 400 {
		path := fmt.Sprintf("/n%03d", i)
		paths = append(paths, path)
		ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: []byte(path), ACL: []znode.ACL{{Perms: znode.PermAll, Scheme: "auth"}}})
	}
	multi(t, w, ops...)
	answers := 0
	p.decide(func(p packet) action {
		if !p.answer {
			return pass
		}
		switch answers++; answers % 31 {
		case 0:
			return cutWithin
		case 17:
			return cutBefore
		}
		return pass
	})
	const callers = 4
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for some := range slices.Chunk(paths, 23) {
				nodes, err := w.LookAll(t.Context(), append(slices.Clone(some), "/none"), func(path string) bool { return path == some[0] })
				if err != nil || len(nodes) != len(some) {
					t.Errorf("%d of %d: %v", len(nodes), len(some), err)
					return
				}
				for i, n := range nodes {
					if n.Path != some[i] || string(n.Data) != some[i] || n.Stat.DataLength != int32(len(some[i])) || (len(n.ACL) == 1) != (i == 0) {
						t.Errorf("asked for %s, got %+v", some[i], n)
					}
				}
			}
		})
	}
	running.Wait()
	if n := p.connections(); n < 4 {
		t.Errorf("the connection was made %d times: it was not cut as often as it should be", n)
	}
}

// After a reconnection the session names the newest transaction that it has
// read, and a server that is older refuses it. The watches name the same
// transaction, so that the server reports every change since then, and no other.
func TestReconnectionNamesTheNewestTransaction(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	stranger := openWriter(t, zkconn.Config{Address: zkconn.Address{Servers: []string{server(t).Address()}, Chroot: w.Address().Chroot}})
	if _, _, _, err := w.ExistsW(t.Context(), "/watched"); err != nil {
		t.Fatal(err)
	}
	multi(t, stranger, znode.Create("/later", nil))
	n, err := w.Get(t.Context(), "/later")
	if err != nil {
		t.Fatal(err)
	}
	again := make(chan struct{})
	p.decide(once(pass, func(r packet) bool {
		setsWatches := r.opcode() == zkconn.OpcodeSetWatches
		if setsWatches {
			close(again)
		}
		return setsWatches
	}))
	p.stall(true)
	p.cut()
	multi(t, stranger, znode.Create("/meanwhile", nil))
	p.stall(false)
	within(t, 10*time.Second, "setting the watches again", func() { <-again })
	connects, watches := p.named()
	if last := connects[len(connects)-1]; last < n.Stat.Czxid || watches[0] != last {
		t.Errorf("the connections name the transactions %#x, the watches %#x, and %#x was read in between", connects, watches, n.Stat.Czxid)
	}
}
