package minizk_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
)

// connect opens a session with the go-zookeeper client and waits until it is
// open.
func connect(t testing.TB, addr string) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	c, events, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogger(silence{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	await(t, events, zk.StateHasSession)
	return c, events
}

func await(t testing.TB, events <-chan zk.Event, state zk.State) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case e := <-events:
			if e.State == state {
				return
			}
		case <-timeout:
			t.Fatalf("no %v", state)
		}
	}
}

// awaitOperation waits until a server has done an operation.
func awaitOperation(t testing.TB, s *minizk.Server, op minizk.OpCode) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(s.Log(), func(e minizk.Entry) bool { return e.Op == op }) {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("no %v", op)
		}
	}
}

// TestGoClient: every operation of the client that mrtq uses.
func TestGoClient(t *testing.T) { servers(t, goClient) }

func goClient(t *testing.T, addr string) {
	c, _ := connect(t, addr)
	world := zk.WorldACL(zk.PermAll)
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, err := c.Create("/a", []byte("one"), 0, world)
	check("create", err)
	if _, err := c.Create("/a", nil, 0, world); !errors.Is(err, zk.ErrNodeExists) {
		t.Errorf("second create: %v", err)
	}
	_, err = c.CreateContainer("/c", nil, zk.FlagTTL, world)
	if !errors.Is(err, zk.ErrInvalidFlags) {
		t.Errorf("container with flag TTL: %v", err)
	}
	_, err = c.CreateTTL("/ttl", nil, zk.FlagTTL, world, time.Hour)
	check("createTTL", err)
	_, stat, err := c.Get("/a")
	check("get", err)
	stat, err = c.Set("/a", []byte("two"), stat.Version)
	check("set", err)
	if stat.Version != 1 {
		t.Errorf("version %d", stat.Version)
	}
	res, err := c.Multi(&zk.CreateRequest{Path: "/a/b", Acl: world}, &zk.SetDataRequest{Path: "/a", Version: -1}, &zk.CheckVersionRequest{Path: "/a", Version: 2})
	check("multi", err)
	if len(res) != 3 || res[0].String != "/a/b" || res[1].Stat.Version != 2 {
		t.Errorf("multi %+v", res)
	}
	if _, err := c.Multi(&zk.DeleteRequest{Path: "/a/b"}, &zk.DeleteRequest{Path: "/nope"}); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("failing multi: %v", err)
	}
	path, err := c.CreateProtectedEphemeralSequential("/a/lock-", nil, world)
	check("protected", err)
	kids, _, watch, err := c.ChildrenW("/a")
	check("childrenW", err)
	if len(kids) != 2 {
		t.Errorf("children %v", kids)
	}
	check("delete", c.Delete(path, 0))
	if e := <-watch; e.Type != zk.EventNodeChildrenChanged || e.Path != "/a" {
		t.Errorf("event %+v", e)
	}
	check("auth", c.AddAuth("digest", []byte("u:p")))
	_, err = c.SetACL("/a", zk.DigestACL(zk.PermAll, "u", "p"), -1)
	check("setACL", err)
	acl, _, err := c.GetACL("/a")
	check("getACL", err)
	if len(acl) != 1 || acl[0].Scheme != "digest" {
		t.Errorf("acl %v", acl)
	}
	_, err = c.Sync("/a")
	check("sync", err)
	other, _ := connect(t, addr)
	if _, _, err := other.Get("/a"); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("get without auth: %v", err)
	}
	_, _, _, err = other.ExistsW("/a")
	check("existsW", err)
	there, _, created, err := other.ExistsW("/w")
	check("existsW", err)
	_, err = c.Create("/w", nil, 0, world)
	check("create", err)
	if e := <-created; there || e.Type != zk.EventNodeCreated || e.Path != "/w" {
		t.Errorf("there %v, event %+v", there, e)
	}
}

// TestGoClientSurvives: the go-zookeeper client reconnects after a cut connection and after a
// restart with the same session, and gets a new session when its own has expired.
func TestGoClientSurvives(t *testing.T) {
	s := run(t, minizk.Options{})
	c, events := connect(t, s.Addr())
	world := zk.WorldACL(zk.PermAll)
	if _, err := c.Create("/eph", nil, zk.FlagEphemeral, world); err != nil {
		t.Fatal(err)
	}
	_, _, watch, err := c.GetW("/eph")
	if err != nil {
		t.Fatal(err)
	}
	id := c.SessionID()
	if !s.Disconnect(id) {
		t.Fatal("no connection")
	}
	await(t, events, zk.StateHasSession)
	if c.SessionID() != id {
		t.Errorf("session %#x, was %#x", c.SessionID(), id)
	}
	// The client sets its watches again by itself. Until it has, another request is a data race
	// inside of it: sendSetWatches reads the zxid that recvLoop writes.
	awaitOperation(t, s, minizk.OpSetWatches)
	if _, err := c.Set("/eph", []byte("x"), -1); err != nil {
		t.Fatal(err)
	}
	if e := <-watch; e.Type != zk.EventNodeDataChanged {
		t.Errorf("event %+v", e)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	await(t, events, zk.StateHasSession)
	s.ExpireSession(id)
	await(t, events, zk.StateExpired)
	await(t, events, zk.StateHasSession)
	if ok, _, err := c.Exists("/eph"); ok || err != nil {
		t.Errorf("exists %v, %v", ok, err)
	}
}

// TestGoClientLocks: of many sessions, only one at a time holds the lock.
func TestGoClientLocks(t *testing.T) { servers(t, goClientLocks) }

func goClientLocks(t *testing.T, addr string) {
	const clients, rounds = 8, 10
	var holders, total int
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	for range clients {
		c, _ := connect(t, addr)
		wg.Go(func() {
			for range rounds {
				l := zk.NewLock(c, "/lock", zk.WorldACL(zk.PermAll))
				if err := l.Lock(); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				holders++
				if holders != 1 {
					errs <- fmt.Errorf("%d clients hold the lock at the same time", holders)
				}
				total++
				holders--
				mu.Unlock()
				if err := l.Unlock(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if total != clients*rounds {
		t.Errorf("the lock was taken %d times, want %d", total, clients*rounds)
	}
}
