package migrate

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
)

// All items come in order, and the error last, whether seq ends by itself or its context
// ends.
func TestReadAhead(t *testing.T) {
	broken := errors.New("the connection is lost")
	for _, tc := range []struct {
		name  string
		fails error
		leave int // after how many items the caller stops; 0: at the end
		want  []int
	}{
		{"all", nil, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"an error", broken, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"the caller leaves", nil, 3, []int{0, 1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ended := false
			seq := func(ctx context.Context) iter.Seq2[int, error] {
				return func(yield func(int, error) bool) {
					defer func() { ended = true }()
					for i := range 10 {
						if !yield(i, nil) {
							return
						}
					}
					if tc.fails != nil {
						yield(0, tc.fails)
					}
				}
			}
			var got []int
			var last error
			for i, err := range readAhead(t.Context(), 2, seq) {
				if last = err; err == nil {
					got = append(got, i)
				}
				if len(got) == tc.leave {
					break
				}
			}
			if !slices.Equal(got, tc.want) || last != tc.fails || !ended {
				t.Errorf("got %v, %v, ended is %t; want %v, %v", got, last, ended, tc.want, tc.fails)
			}
		})
	}
}

// If the context ends, the caller gets the context's error, because it did not get all items.
func TestReadAheadInterrupted(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		seq := func(ctx context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := 0; ctx.Err() == nil; i++ {
					if !yield(i, nil) {
						return
					}
				}
				yield(0, ctx.Err())
			}
		}
		var last error
		defer cancel()
		for i, err := range readAhead(ctx, 1, seq) {
			if last = err; i == 5 {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("it ended with %v", last)
		}
	}
}
