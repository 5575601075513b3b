package minizk_test

import (
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// nested opens a session with a timeout of an hour. It creates a TTL node that is due, and three
// nested containers, of which the innermost has had a child.
func nested(t *testing.T, s *minizk.Server) {
	t.Helper()
	a := value(openRaw(s.Addr(), time.Hour))(t)
	t.Cleanup(func() { a.Close() })
	for _, path := range []string{"/c", "/c/c", "/c/c/c"} {
		want(t, "createContainer", do(t, a, jute.Request{Op: jute.OpCreateContainer, Path: path, ACL: open, Flags: jute.ModeContainer}), jute.OK)
	}
	want(t, "createTTL", do(t, a, jute.Request{Op: jute.OpCreateTTL, Path: "/ttl", ACL: open, Flags: jute.ModePersistentTTL, TTL: 1000}), jute.OK)
	want(t, "create", do(t, a, newNode("/c/c/c/kid", "", 0)), jute.OK)
	want(t, "delete", do(t, a, jute.Request{Op: jute.OpDelete, Path: "/c/c/c/kid", Version: -1}), jute.OK)
}

// left returns the nodes of nested that still exist.
func left(t *testing.T, s *minizk.Server) string {
	t.Helper()
	var there []string
	for _, path := range []string{"/c", "/c/c", "/c/c/c", "/ttl"} {
		if nodeAt(t, s, path) != nil {
			there = append(there, path)
		}
	}
	return strings.Join(there, " ")
}

// TestContainersAreRemovedInRounds: the server does not remove a container when it is due, but in
// the next round. Options.ContainerInterval says how often there is a round. A container that loses
// its last child in a round stays until the next one.
func TestContainersAreRemovedInRounds(t *testing.T) {
	type passed struct {
		time time.Duration
		left string
	}
	for _, tc := range []struct {
		every time.Duration
		after []passed
	}{
		{0, []passed{{59 * time.Second, "/c /c/c /c/c/c /ttl"}, {time.Second, "/c /c/c"}, {59 * time.Second, "/c /c/c"}, {time.Second, "/c"}, {61 * time.Second, ""}}},
		{0, []passed{{2*time.Minute + time.Second, "/c"}, {58 * time.Second, "/c"}, {time.Second, ""}}},
		{time.Second, []passed{{999 * time.Millisecond, "/c /c/c /c/c/c /ttl"}, {time.Millisecond, "/c /c/c /ttl"}, {time.Second, "/c"}, {time.Second, ""}}},
		{time.Millisecond, []passed{{time.Millisecond, "/c /c/c /ttl"}, {1000 * time.Hour, ""}}},
	} {
		s := run(t, minizk.Options{ContainerInterval: tc.every, MaxTimeout: 2000 * time.Hour})
		nested(t, s)
		for _, p := range tc.after {
			s.Advance(p.time)
			if got := left(t, s); got != p.left {
				t.Errorf("every %v, after %v: %q is left, want %q", tc.every, p.time, got, p.left)
			}
		}
	}
}

// TestRestartStartsTheRoundsAgain: the next round comes a full interval after a restart.
func TestRestartStartsTheRoundsAgain(t *testing.T) {
	s := run(t, minizk.Options{MaxTimeout: time.Hour})
	nested(t, s)
	s.Advance(59 * time.Second)
	must(t, s.Restart())
	s.Advance(59 * time.Second)
	if got := left(t, s); got != "/c /c/c /c/c/c /ttl" {
		t.Errorf("%q is left a minute after the start and none after the restart", got)
	}
	must(t, s.Stop())
	s.Advance(time.Hour)
	must(t, s.Restart())
	s.Advance(time.Second)
	if got := left(t, s); got != "/c /c/c /c/c/c /ttl" {
		t.Errorf("%q is left a second after the restart", got)
	}
	s.Advance(59 * time.Second)
	if got := left(t, s); got != "/c /c/c" {
		t.Errorf("%q is left a minute after the restart", got)
	}
}
