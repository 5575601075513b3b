//go:build linux

package life_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/internal/zkconn"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// first is all of them with -torture, and the first one without: three servers take seconds
// for each.
func first[T any](all ...T) []T {
	if *torture {
		return all
	}
	return all[:1]
}

type ensemble struct {
	*explored
	t       *testing.T
	server  *harness.Server
	records int
}

func newEnsemble(t *testing.T) *ensemble {
	e := &ensemble{explored: &explored{site: &site{ctx: t.Context(), dialect: newqueue.MrtZK}, choices: willing}, t: t, records: 40}
	e.server = harness.ForTest(t, harness.JVM, harness.Options{Nodes: 3, TickTime: 500 * time.Millisecond})
	return e
}

func (e *ensemble) client(servers string) *zk.Conn {
	conn, _, err := zk.Connect(strings.Split(servers, ","), 30*time.Second, zk.WithLogger(silent{}))
	must(err)
	return conn
}

func (e *ensemble) fill() {
	e.conn = e.client(e.server.Address())
	defer e.conn.Close()
	for _, root := range migration.DefaultQueues().Roots() {
		e.create(root, nil, 0)
	}
	for i := range e.records {
		id := fmt.Sprint(i)
		switch i % 8 {
		case 6:
			e.manifest(id, legacy.Pending)
		case 7:
			e.request("/accessSmall.1", "token-"+id)
		default:
			e.deposit(id, fmt.Sprint("bid-", i%3), legacy.Pending)
		}
	}
}

func (e *ensemble) operator() *migrate.Writer {
	w, err := zkconn.OpenWriter(e.ctx, zkconn.Config{Address: zkconn.Address{Servers: strings.Split(e.server.Address(), ",")}, GiveUpAfter: time.Minute})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(w.Close)
	return w
}

func (e *ensemble) leader() (leader, follower int) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		for i, host := range strings.Split(e.server.Address(), ",") {
			c, err := net.DialTimeout("tcp", host, time.Second)
			if err != nil {
				continue
			}
			_ = c.SetDeadline(time.Now().Add(2 * time.Second))
			_, _ = io.WriteString(c, "srvr")
			answer, _ := io.ReadAll(c)
			c.Close()
			if strings.Contains(string(answer), "Mode: leader") {
				return i, (i + 1) % e.server.Nodes()
			}
		}
	}
	e.t.Fatal("no server leads")
	return 0, 0
}

// signal sends a signal to the process of a server, which is a child of this one.
func (e *ensemble) signal(i int, s syscall.Signal) {
	all := value(filepath.Glob("/proc/[0-9]*/cmdline"))
	for _, path := range all {
		line, _ := os.ReadFile(path)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		var pid, parent int
		var name, state string
		_, _ = fmt.Sscan(string(stat), &pid, &name, &state, &parent)
		if parent == os.Getpid() && strings.Contains(string(line), fmt.Sprintf("/conf.%d/zoo.cfg", i+1)) {
			must(syscall.Kill(pid, s))
			return
		}
	}
	e.t.Fatalf("server %d has no process", i)
}

// once gives a command once, as a new process. What was rolled back before the answer was lost is done.
func (e *ensemble) once(ctx context.Context, what string) error {
	w := e.operator()
	defer w.Close()
	e.source = w
	err := e.command(ctx, &operator{w: w, from: w}, what).error
	if what == "rollback" && errors.Is(err, migrate.ErrNoRun) {
		return nil
	}
	return err
}

func (e *ensemble) clean() {
	e.t.Helper()
	e.leader()
	if err := e.server.Clean(e.ctx); err != nil {
		e.t.Fatal(err)
	}
	e.fill()
}

func (e *ensemble) count(want, legacy int) {
	e.t.Helper()
	conn := e.client(e.server.Address())
	defer conn.Close()
	value(conn.Sync("/"))
	jobs := map[string]int{}
	for _, parent := range []string{newqueue.JobsPath, "/access/small", "/access/large"} {
		names, _, _ := conn.Children(parent)
		for _, name := range names {
			var provenance struct{ Path string }
			if data, _, err := conn.Get(parent + "/" + name); err == nil && json.Unmarshal(data, &provenance) == nil && provenance.Path != "" {
				jobs[provenance.Path]++
			}
		}
	}
	left := 0
	for _, root := range migration.DefaultQueues().Roots() {
		names, _, _ := conn.Children(root)
		left += len(names)
	}
	if left != legacy*e.records || len(jobs) != want*e.records {
		e.t.Errorf("%d legacy records and %d that have a job, expected %d and %d", left, len(jobs), legacy*e.records, want*e.records)
	}
	for path, k := range jobs {
		if k > 1 {
			e.t.Errorf("%s has %d jobs", path, k)
		}
	}
}

var failures = []struct {
	name string
	do   func(e *ensemble, leader, follower int)
}{
	{"the leader is killed", func(e *ensemble, leader, _ int) { e.kill(leader) }},
	{"a follower is killed", func(e *ensemble, _, follower int) { e.kill(follower) }},
	{"the majority is killed", func(e *ensemble, leader, follower int) { e.kill(leader, follower) }},
	{"all are killed", func(e *ensemble, _, _ int) { e.kill(0, 1, 2) }},
	{"the leader is stopped", func(e *ensemble, leader, _ int) { e.stop(leader) }},
	{"a follower is stopped", func(e *ensemble, _, follower int) { e.stop(follower) }},
}

func (e *ensemble) kill(servers ...int) {
	must(e.server.Kill(servers...))
	time.Sleep(2 * time.Second)
	must(e.server.Restart(e.ctx, servers...))
}

// stop stops a server for longer than the others wait for it.
func (e *ensemble) stop(i int) {
	e.signal(i, syscall.SIGSTOP)
	time.Sleep(12 * time.Second)
	e.signal(i, syscall.SIGCONT)
}

// TestThreeServers: servers fail in the middle of a command. The same command, repeated if it had to give up,
// finishes it: each record has one job, or after a rollback none.
func TestThreeServers(t *testing.T) {
	e := newEnsemble(t)
	type interrupted struct {
		command string
		ready   []string
		phase   migrate.Phase
		jobs    int // of each record
		legacy  int // how often it is in the legacy queue
	}
	for _, c := range first(
		interrupted{"migrate", nil, migrate.PhaseSending, 1, 1},
		interrupted{"rollback", []string{"migrate"}, migrate.PhaseRemoving, 0, 1},
		interrupted{"rollback", []string{"migrate", "release"}, migrate.PhaseRemoving, 0, 1},
		interrupted{"release", []string{"migrate"}, migrate.PhaseHandingOver, 1, 0},
	) {
		for _, f := range first(failures...) {
			e.clean()
			for _, ready := range c.ready {
				must(e.once(e.ctx, ready))
			}
			leader, follower := e.leader()
			began, over := false, make(chan struct{})
			ctx := migrate.WithProgress(e.ctx, func(p migrate.Phase, done, _ int) {
				if p == c.phase && done >= 3 && !began {
					began = true
					go func() { defer close(over); f.do(e, leader, follower) }()
					time.Sleep(20 * time.Millisecond) // the command goes on in the middle of it
				}
			})
			tries := 0
			for err := error(io.EOF); err != nil; tries++ {
				if tries == 5 {
					t.Fatalf("%s, %s: %v", c.command, f.name, err)
				}
				if err = e.once(ctx, c.command); err != nil {
					t.Logf("    %.200v", err)
				}
			}
			if !began {
				t.Fatalf("%s never came to %s", c.command, c.phase)
			}
			<-over
			e.count(c.jobs, c.legacy)
			if c.jobs > 0 {
				must(e.once(e.ctx, "verify"))
			}
			t.Logf("%s, %s: done by %d calls", c.command, f.name, tries)
		}
	}
}
