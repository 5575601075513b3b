package zkconn

import (
	"sync"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
)

// TestLimitIsShared: several sessions share a limit. Their reads and changes
// together stay within it, and all are done.
func TestLimitIsShared(t *testing.T) {
	s, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const perSecond = 100
	cfg := Config{Address: Address{Servers: []string{s.Addr()}}, Limit: NewLimit(perSecond)}
	began := time.Now()
	var all sync.WaitGroup
	for _, name := range []string{"/a", "/b"} {
		w, err := OpenWriter(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		all.Go(func() {
			ops := []znode.Op{znode.Create(name, nil)}
			for range 9 {
				ops = append(ops, znode.Check(name, 0))
			}
			if err := w.Multi(t.Context(), ops); err != nil {
				t.Error(err)
			}
			for range 15 {
				if _, err := w.Get(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	const operations, atOnce = 2 * (10 + 15), perSecond / 10
	if took, least := time.Since(began), (operations-atOnce)*time.Second/perSecond; took < least {
		t.Errorf("%d operations took %v, want at least %v", operations, took, least)
	}
}
