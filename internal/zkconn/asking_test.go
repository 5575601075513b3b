package zkconn_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

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
				nodes, err := w.WithACLs().GetAll(t.Context(), append(slices.Clone(some), "/none"))
				if err != nil || len(nodes) != len(some) {
					t.Errorf("%d of %d: %v", len(nodes), len(some), err)
					return
				}
				for i, n := range nodes {
					if n.Path != some[i] || string(n.Data) != some[i] || n.Stat.DataLength != int32(len(some[i])) || len(n.ACL) != 1 {
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

// A reconnection resumes the same session and names the newest transaction that the session
// has read. So a server that is older refuses it.
func TestReconnectionResumesTheSession(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	stranger := openWriter(t, zkconn.Config{Address: zkconn.Address{Servers: []string{server(t).Address()}, Chroot: w.Address().Chroot}})
	path := value(w.CreateEphemeral(t.Context(), "/e-", nil, nil))(t)
	multi(t, stranger, znode.Create("/later", nil))
	n := value(w.Get(t.Context(), "/later"))(t)
	p.cut()
	own := value(w.Get(t.Context(), path))(t)
	connects := p.connects()
	if last := connects[len(connects)-1]; len(connects) < 2 || last.seen < n.Stat.Czxid || last.session != own.Stat.EphemeralOwner {
		t.Errorf("the connect requests are %+v, after the transaction %#x in the session %#x", connects, n.Stat.Czxid, own.Stat.EphemeralOwner)
	}
}
