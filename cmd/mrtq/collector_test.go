package main

import "testing"

// A small heap may grow to 64 MiB, and a large one by 20 %.
func TestHeapPercent(t *testing.T) {
	for _, tc := range []struct {
		live uint64
		want int
	}{{0, 1600}, {4 << 20, 1600}, {64 << 20, 100}, {160 << 20, 40}, {1 << 30, 20}} {
		if got := heapPercent(tc.live); got != tc.want {
			t.Errorf("with %d bytes in use it may grow by %d %%, want %d %%", tc.live, got, tc.want)
		}
	}
}
