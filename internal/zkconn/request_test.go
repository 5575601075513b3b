package zkconn_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func failed(code int32, body ...byte) func(request, answer packet) []byte {
	return func(request, answer packet) []byte {
		if !isMultiRead(request) {
			return answer.body
		}
		head := slices.Clone(answer.body[:4+8])
		return append(binary.BigEndian.AppendUint32(head, uint32(code)), body...)
	}
}

// TestManyInOneRequest: many znodes are read in one request. If the server, or a proxy
// before it, doesn't answer such a request, they are read one by one. The result is the
// same.
func TestManyInOneRequest(t *testing.T) {
	shared.LargeParts(t)
	const count = 200
	for _, tc := range []struct {
		name       string
		cfg        zkconn.Config
		change     func(request, answer packet) []byte
		rule       func(packet) action
		size       int // of a znode's data
		most       int // requests for all znodes
		mostOfMany int // multiReads among them
	}{
		{name: "a server of 3.6 or later", most: 20, mostOfMany: 20},
		{name: "an older server", change: failed(-6), most: count + 5, mostOfMany: 1},
		{name: "a server that does not know the request and says nothing", change: failed(0), most: count + 5, mostOfMany: 1},
		{name: "a server that answers something else", change: failed(0, 0, 0, 0, 4), most: count + 5, mostOfMany: 1},
		{name: "a server that closes the connection", rule: always(cutBefore, isMultiRead), most: count + 5, mostOfMany: 2},
		{name: "a server that says nothing", cfg: zkconn.Config{SessionTimeout: time.Second}, rule: always(swallow, isMultiRead), most: count + 5, mostOfMany: 4},
		{name: "znodes that are too long together", cfg: zkconn.Config{MaxResponse: 100_000}, size: 40_000, most: count + 5, mostOfMany: count + 5},
		{name: "long znodes", size: 30_000, most: count, mostOfMany: 30},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, p := setup(t, tc.cfg)
			var paths []string
			var ops []znode.Op
			for i := range count {
				path := fmt.Sprintf("/n%03d", i)
				ops = append(ops, znode.Create(path, []byte(path+strings.Repeat("x", tc.size))), znode.Create(path+"/"+path[1:]+"-child", nil))
				paths = append(paths, path)
			}
			for some := range slices.Chunk(ops, 40) {
				multi(t, w, some...)
			}
			must(t, w.SetACL(t.Context(), paths[7], []znode.ACL{{Perms: znode.PermAll, Scheme: "digest", ID: "owner:x"}}))
			multi(t, w, znode.Delete(paths[9]+"/n009-child", -1), znode.Delete(paths[9], -1))
			first := len(p.requests())
			p.changeAnswers(tc.change)
			p.decide(tc.rule)
			_, err := w.GetAll(t.Context(), paths)
			if !errors.Is(err, zkconn.ErrNoAuth) || !strings.HasPrefix(err.Error(), "get "+paths[7]+": no permission") {
				t.Errorf("a znode that may not be read gives %v", err)
			}
			nodes, err := w.MarkUnreadable().GetAll(t.Context(), paths)
			if err != nil || len(nodes) != count-1 {
				t.Fatalf("%d nodes, %v", len(nodes), err)
			}
			readable := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == paths[7] })
			lists := value(w.ChildrenAll(t.Context(), readable))(t)
			for i, n := range slices.DeleteFunc(nodes, func(n znode.Node) bool { return n.Path == paths[7] && n.Unreadable != "" }) {
				list := slices.Index(readable, n.Path)
				if want := n.Path + strings.Repeat("x", tc.size); string(n.Data) != want || n.Stat.NumChildren != 1 || n.Stat.DataLength != int32(len(want)) {
					t.Errorf("%d: %s has %d bytes and the stat %+v", i, n.Path, len(n.Data), n.Stat)
				}
				if want := []string{n.Path[1:] + "-child"}; !slices.Equal(lists[list], want) {
					t.Errorf("%s has the children %q", n.Path, lists[list])
				}
			}
			if missing := slices.Index(readable, paths[9]); lists[missing] != nil {
				t.Errorf("a missing znode has the children %q", lists[missing])
			}
			// All three calls together.
			requests := p.requests()[first:]
			many := len(requests) - len(slices.DeleteFunc(slices.Clone(requests), isMultiRead))
			if len(requests) > 3*tc.most || many > 3*tc.mostOfMany || many == 0 {
				t.Errorf("%d requests, %d of them for many znodes", len(requests), many)
			}
		})
	}
}
