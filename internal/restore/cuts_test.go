package restore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/restore"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// largeTree has 3,120 znodes below the root: parents with an ACL of their own, leaves, and sequence counters that are ahead
// of the children.
func largeTree(t *testing.T) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	closed := []znode.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "ip", ID: "10.0.0.0/8"}}
	put := func(n znode.Node) {
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 120 {
		parent := fmt.Sprintf("/p%03d", i)
		put(znode.Node{Path: parent, Data: []byte(parent), ACL: closed, Stat: znode.Stat{Czxid: 1, Cversion: int32(2*(25+i%3) - 25), NumChildren: 25}})
		for k := range 25 {
			path := fmt.Sprintf("%s/n%010d", parent, k+i%3)
			put(znode.Node{Path: path, Data: make([]byte, 150)})
		}
	}
	return tree
}

// TestRestoreThroughCuts: the connection breaks at a part of all requests, before they are done or after. The restore ends
// all the same, and counts what it has created, once.
func TestRestoreThroughCuts(t *testing.T) {
	tree := largeTree(t)
	for _, percent := range []int{3, 10} {
		for _, ops := range []int{0, 20} {
			t.Run(fmt.Sprintf("%d %% cut, %d operations in a transaction", percent, ops), func(t *testing.T) {
				s, w := server(t)
				random := rand.New(rand.NewPCG(1, uint64(percent)))
				var faults []*minizk.Injection
				for _, action := range []minizk.Action{minizk.CutAfter(), minizk.CutBefore()} {
					faults = append(faults, s.Inject(minizk.Fault{On: func(op minizk.Op) bool {
						return op.Code != minizk.OpPing && random.IntN(200) < percent
					}, Do: action}))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
				defer cancel()
				began := time.Now()
				res, err := restore.Restore(ctx, tree, w, restore.Options{Below: "/", Ops: ops, Progress: func(int, int) {}})
				t.Logf("%+v after %s", res, time.Since(began))
				if err != nil || res.Created != tree.Len()-1 || res.There != 0 || len(res.Counters) != 80 {
					t.Fatalf("%v; want %d znodes, and 80 counters that are behind", err, tree.Len()-1)
				}
				for _, fault := range faults {
					fault.Remove()
				}
				if res, err = restore.Restore(t.Context(), tree, w, restore.Options{Below: "/", Progress: func(int, int) {}}); err != nil || res.There != tree.Len()-1 || res.Created != 0 || len(res.Counters) != 80 {
					t.Errorf("once more: %+v, %v", res, err)
				}
			})
		}
	}
}

// TestRestoreThatIsAlwaysCut: if no transaction is answered, the restore ends and says why.
func TestRestoreThatIsAlwaysCut(t *testing.T) {
	s, w := server(t)
	s.Inject(minizk.Fault{On: minizk.OnOp(minizk.OpMulti), Do: minizk.CutBefore()})
	res, err := restore.Restore(t.Context(), largeTree(t), w, restore.Options{Below: "/", Progress: func(int, int) {}})
	if !errors.Is(err, zkconn.ErrUnknownOutcome) || res.Created != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestAnotherClientMeanwhile: a transaction is lost, and another client creates its znodes before the connection is back. With the same data
// they stay, as at any other time. Other data is not taken for the dump's.
func TestAnotherClientMeanwhile(t *testing.T) {
	for data, want := range map[string]error{"dump": nil, "other": restore.ErrOtherData} {
		s, err := minizk.Start(minizk.Options{RealTime: true, Private: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		open := func(dial func(context.Context) (net.Conn, error)) *zkconn.Writer {
			w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"memory:0"}}, Dial: dial})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Close)
			return w
		}
		other, dials := open(s.Dial), 0
		w := open(func(ctx context.Context) (net.Conn, error) {
			if dials++; dials == 2 {
				if err := other.Multi(ctx, []znode.Op{znode.Create("/a", []byte(data))}); err != nil {
					t.Error(err)
				}
			}
			return s.Dial(ctx)
		})
		tree := znode.NewTree()
		if err := tree.Put(znode.Node{Path: "/a", Data: []byte("dump")}); err != nil {
			t.Fatal(err)
		}
		lost := s.Inject(minizk.Fault{On: minizk.OnOp(minizk.OpMulti), Nth: 3, Do: minizk.CutBefore()}) // two trials come before
		if _, err = restore.Restore(t.Context(), tree, w, restore.Options{Below: "/", Progress: func(int, int) {}}); !errors.Is(err, want) || lost.Fired() != 1 {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func server(t *testing.T) (*minizk.Server, *zkconn.Writer) {
	t.Helper()
	s, err := minizk.Start(minizk.Options{RealTime: true, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"memory:0"}}, Dial: s.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return s, w
}
