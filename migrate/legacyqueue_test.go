package migrate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A queue that is read record by record is the same as one that is read whole.
func TestLegacyQueue(t *testing.T) {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 600, Seed: 5, Consumed: true})
	if err != nil {
		t.Fatal(err)
	}
	queues := DefaultQueues()
	queues.Nodes[Ingest] = append(queues.Nodes[Ingest], "/ingest/older", "/ingest-2", "/not-there")
	for _, n := range []znode.Node{
		{Path: "/ingest/older/mrtQ-020000000000001", Data: []byte("x")},
		{Path: "/ingest/mrtQ-020000000000001/below", Data: []byte("x")},
		{Path: "/ingest/zzz", Data: nil},
		{Path: "/ingest-2/mrtQ-020000000000001", Unreadable: "no permission"},
		{Path: "/mrt.lock/a", Data: []byte("jid")},
		{Path: "/mrt.lock/b", Unreadable: "no permission"},
	} {
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	want, err := ReadSource(tree, queues, legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := OpenLegacyQueue(t.Context(), side.Tree(tree), queues, legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []Record
	for r, err := range q.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != q.Len() || len(got) != len(want.Records) {
		t.Fatalf("%d records of %d, want %d", len(got), q.Len(), len(want.Records))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want.Records[i]) {
			t.Fatalf("record %d is\n%+v\nwant\n%+v", i, got[i], want.Records[i])
		}
	}
	if !slices.Equal(q.Missing, want.Missing) || fmt.Sprint(q.Locks) != fmt.Sprint(want.Locks) {
		t.Errorf("missing %q and locks %v, want %q and %v", q.Missing, q.Locks, want.Missing, want.Locks)
	}
}

func TestNoLegacyQueue(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []znode.Node
		want  error
		says  string
	}{
		"nothing":      {nil, ErrNoQueues, "there is nothing"},
		"others":       {[]znode.Node{{Path: "/x/ingest"}, {Path: "/y"}}, ErrNoQueues, "there is /x, /y"},
		"unlisted":     {[]znode.Node{{Path: "/ingest", Unreadable: "no permission"}}, ErrUnlisted, "/ingest"},
		"locks hidden": {[]znode.Node{{Path: "/ingest"}, {Path: "/mrt.lock", Unreadable: "no permission"}}, ErrUnlisted, "/mrt.lock"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := znode.NewTree()
			for _, n := range c.nodes {
				if err := tree.Put(n); err != nil {
					t.Fatal(err)
				}
			}
			_, err := OpenLegacyQueue(t.Context(), side.Tree(tree), DefaultQueues(), legacy.Options{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}
