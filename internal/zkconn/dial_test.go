package zkconn

import (
	"strings"
	"testing"
)

// With the library's own order of servers, each reconnection would wait a
// second.
func TestServersOrder(t *testing.T) {
	p := &servers{s: &session{up: make(chan struct{})}}
	p.Init([]string{"a", "b"})
	var got []string
	next := func() {
		server, pause := p.Next()
		if pause {
			server = "pause " + server
		}
		got = append(got, server)
	}
	for range 5 {
		next()
	}
	p.Connected()
	for range 3 {
		next()
	}
	if want := "a b pause a b pause a b a pause b"; strings.Join(got, " ") != want || p.Len() != 2 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAbs(t *testing.T) {
	for _, tc := range []struct{ chroot, path, want string }{
		{"", "/", "/"}, {"", "/a", "/a"}, {"/x/y", "/", "/x/y"}, {"/x/y", "/a/b", "/x/y/a/b"},
	} {
		if got := (Address{Chroot: tc.chroot}).abs(tc.path); got != tc.want {
			t.Errorf("%q in %q: %q", tc.path, tc.chroot, got)
		}
	}
}
