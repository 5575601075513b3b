package znode_test

import (
	"flag"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
