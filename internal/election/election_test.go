package election_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/election"
	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func TestMain(m *testing.M) { shared.Main(m) }

const path = "/election"

func open(t *testing.T, address string) *zkconn.Writer {
	t.Helper()
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{address}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func serve(t *testing.T) string {
	t.Helper()
	address := harness.ForTest(t, harness.TestBackend(), harness.Options{}).Address()
	do(t, open(t, address), znode.Create(path, nil))
	return address
}

func do(t *testing.T, w *zkconn.Writer, ops ...znode.Op) {
	t.Helper()
	if err := w.Multi(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
}

type candidate struct {
	w        *zkconn.Writer
	place    *election.Place
	reported chan election.Ahead
	leads    chan error
}

func join(t *testing.T, ctx context.Context, w *zkconn.Writer, owner string) *candidate {
	t.Helper()
	place, err := election.Join(ctx, w, path, owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &candidate{w, place, make(chan election.Ahead, 10), make(chan error, 1)}
	go func() { c.leads <- place.Lead(ctx, func(a election.Ahead) { c.reported <- a }) }()
	return c
}

func resign(t *testing.T, c *candidate) {
	t.Helper()
	if err := c.place.Resign(t.Context()); err != nil {
		t.Error(err)
	}
}

func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: no value came", what)
		panic("unreachable")
	}
}

func (c *candidate) mustLead(t *testing.T, what string) {
	t.Helper()
	if err := receive(t, what, c.leads); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func (c *candidate) mustWait(t *testing.T, what string) {
	t.Helper()
	select {
	case err := <-c.leads:
		t.Errorf("%s: leads, or failed: %v", what, err)
	default:
	}
}

// Processes lead in the order of joining. The order stays if one of them leaves
// before its turn, or dies.
func TestOneLeadsAtATime(t *testing.T) {
	address := serve(t)
	var all []*candidate
	for i := range 4 {
		all = append(all, join(t, t.Context(), open(t, address), fmt.Sprint("owner ", i)))
		if i == 0 {
			all[0].mustLead(t, "the first")
			continue
		}
		want := election.Ahead{Path: all[i-1].place.Path(), Owner: fmt.Sprint("owner ", i-1)}
		if got := receive(t, "who is ahead", all[i].reported); got != want {
			t.Errorf("%d waits for %+v, want %+v", i, got, want)
		}
	}
	resign(t, all[2]) // before its turn
	if got, want := receive(t, "who is ahead now", all[3].reported), all[1].place.Path(); got.Path != want {
		t.Errorf("%+v, want %s", got, want)
	}
	all[1].mustWait(t, "the second")
	all[3].mustWait(t, "the fourth")
	all[0].w.Close() // its session expires
	all[1].mustLead(t, "the second")
	all[3].mustWait(t, "the fourth")
	resign(t, all[1])
	all[3].mustLead(t, "the fourth")
	if err := receive(t, "the process that lost its place", all[2].leads); !errors.Is(err, zkconn.ErrSessionLost) {
		t.Errorf("%v", err)
	}
	resign(t, all[3])
	resign(t, all[3]) // there is no place left to give up
	if names, err := all[3].w.Children(t.Context(), path); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// A place without a session is reported once and skipped, at any position.
func TestStrays(t *testing.T) {
	address := serve(t)
	w := open(t, address)
	do(t, w, znode.Create(path+"/n-", nil), znode.Create(path+"/a", nil), znode.Create(path+"/z", nil))
	first := join(t, t.Context(), w, "first")
	first.mustLead(t, "the first")
	var got []string
	for range 2 {
		a := receive(t, "a stray", first.reported)
		if !a.Stray || a.Owner != "" {
			t.Errorf("%+v", a)
		}
		got = append(got, a.Path)
	}
	if want := []string{path + "/n-", path + "/a"}; !slices.Equal(got, want) {
		t.Errorf("skipped %q, want %q", got, want)
	}
	second := join(t, t.Context(), open(t, address), "second")
	if a := receive(t, "who is ahead", second.reported); a.Stray || a.Owner != "first" {
		t.Errorf("%+v", a)
	}
	resign(t, first)
	second.mustLead(t, "the second")
	if len(second.reported) != 2 {
		t.Errorf("%d strays were reported", len(second.reported))
	}
}

// A process that stops waiting, and a process without an election to join.
func TestNoPlace(t *testing.T) {
	address := serve(t)
	join(t, t.Context(), open(t, address), "first").mustLead(t, "the first")
	ctx, cancel := context.WithCancelCause(t.Context())
	second := join(t, ctx, open(t, address), "second")
	receive(t, "who is ahead", second.reported)
	enough := errors.New("enough")
	cancel(enough)
	if err := receive(t, "the end of the wait", second.leads); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	if _, err := election.Join(t.Context(), second.w, "/none", "x", nil); !errors.Is(err, znode.ErrNoNode) {
		t.Errorf("%v", err)
	}
}

// The connection is lost before or after the server creates a place. The process then has one
// place, and leads.
func TestConnectionLostWhileJoining(t *testing.T) {
	for _, after := range []bool{false, true} {
		server := minizk.Run(t)
		w := open(t, server.Addr())
		do(t, w, znode.Create(path, nil))
		cut := minizk.CutBefore()
		if after {
			cut = minizk.CutAfter()
		}
		server.Inject(minizk.Fault{On: minizk.OnOp(jute.OpCreate), Nth: 1, Do: cut})
		c := join(t, t.Context(), w, "it")
		c.mustLead(t, fmt.Sprintf("cut after the create %t", after))
		if places, err := w.Children(t.Context(), path); err != nil || len(places) != 1 {
			t.Errorf("cut after the create %t: places %v, %v", after, places, err)
		}
	}
}
