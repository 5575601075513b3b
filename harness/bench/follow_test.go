package bench

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/internal/session"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// TestFollow measures mrtq follow on a server: how long a record waits until its job can run, while one comes every 20 ms; how many it moves in a second,
// beside a migration and its release of as many; and another client's writes, alone, while nothing comes, and while as many records are moved:
//
//	go test ./harness/bench -run TestFollow -backends jvm -records 5000 -v
func TestFollow(t *testing.T) {
	t.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4")
	for _, backend := range strings.Split(*backends, ",") {
		t.Run(backend, func(t *testing.T) {
			server := harness.ForTest(t, harness.Backend(backend), harness.Options{})
			address, err := zkconn.ParseAddress(server.Address())
			must(t, err)
			connect := func() *zk.Conn {
				conn, err := session.Open(t.Context(), zkconn.Config{Address: address})
				must(t, err)
				t.Cleanup(conn.Close)
				return conn
			}
			f := &followed{t: t, dir: t.TempDir(), target: server.Address() + sourceRoot + "/new", submits: connect(), writes: connect()}
			f.measure(server.Address())
		})
	}
}

type followed struct {
	t               *testing.T
	dir, target     string
	submits, writes *zk.Conn
}

func (f *followed) run(args ...string) float64 {
	b := &bench{dir: f.dir}
	s, err := b.run(f.t.Context(), args...)
	must(f.t, err)
	return s.seconds
}

func (f *followed) measure(address string) {
	t := f.t
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 2**records + few, Seed: 1})
	must(t, err)
	first, rest, last := znode.NewTree(), []*znode.Node{}, []*znode.Node{}
	for n := range tree.All("/") {
		key, err := legacy.ParseKey(znode.Name(n.Path))
		switch {
		case err != nil || int(key.Sequence) < *records:
			must(t, first.Put(*n))
		case int(key.Sequence) < 2**records:
			rest = append(rest, n)
		default:
			last = append(last, n)
		}
	}
	file, err := os.Create(filepath.Join(f.dir, "source.ndjson"))
	must(t, err)
	must(t, znode.WriteDump(file, first))
	must(t, file.Close())
	f.run("restore", address+sourceRoot, "--in", "source.ndjson")
	_, err = f.writes.Create("/other", nil, 0, zk.WorldACL(zk.PermAll))
	must(t, err)
	alone := f.others(func() { time.Sleep(span) })
	migrated := f.run("migrate", "--dialect", "mrt-zk", "--new-queue", "--unserviceable", "migrate", "--inventory-records", "migrate", address+sourceRoot, f.target) + f.run("release", f.target)

	moved, stop := f.follow()
	idle := f.others(func() { time.Sleep(span) })
	waits := f.waits(last, moved)
	stop()
	for _, n := range rest { // while nobody follows, so that none moves before the time begins
		f.submit(n)
	}
	began := time.Now()
	moved, stop = f.follow()
	busy := f.others(func() {
		for range len(movable(rest)) {
			f.next(moved)
		}
	})
	burst := time.Since(began).Seconds()
	stop()
	speed := float64(*records) / migrated
	t.Logf("a record waits %v until its job is there (median of %d, one every %v; p99 %v)", rank(waits, 50), len(waits), pause, rank(waits, 99))
	t.Logf("migrate and release: %.0f records/s; follow, from its start, of %d that waited: %.0f records/s, %.2f times as many", speed, len(rest), float64(len(movable(rest)))/burst, float64(len(movable(rest)))/burst/speed)
	t.Logf("another client's write, median and p99: alone %v, %v; while nothing comes %v, %v (%.2f times the median); while %d are moved %v, %v",
		rank(alone, 50), rank(alone, 99), rank(idle, 50), rank(idle, 99), float64(rank(idle, 50))/float64(rank(alone, 50)), len(rest), rank(busy, 50), rank(busy, 99))
	if len(waits) < few/2 || len(busy) == 0 {
		t.Errorf("%d records were moved one by one, and another client wrote %d times meanwhile", len(waits), len(busy))
	}
}

const (
	few   = 200                   // records that come one by one
	pause = 20 * time.Millisecond // between two of them
	span  = 3 * time.Second       // in which another client's writes are measured
)

// movable are the records that follow moves: the others are done.
func movable(nodes []*znode.Node) (records []*znode.Node) {
	for _, n := range nodes {
		r, err := legacy.Decode(znode.Name(n.Path), n.Data, legacy.Options{})
		if err == nil && (r.Header.Status == legacy.Pending || r.Header.Status == legacy.Held || r.Header.Status == legacy.Failed) {
			records = append(records, n)
		}
	}
	return records
}

func (f *followed) submit(n *znode.Node) {
	_, err := f.submits.Create(sourceRoot+n.Path, n.Data, 0, zk.WorldACL(zk.PermAll))
	must(f.t, err)
}

type event struct{ Record, Fate, Job string }

func (f *followed) next(moved chan event) event {
	select {
	case e := <-moved:
		return e
	case <-time.After(time.Minute):
		f.t.Fatal("nothing was moved for a minute")
	}
	panic("not reached")
}

// follow starts mrtq follow. moved gets what it moves.
func (f *followed) follow() (moved chan event, stop func()) {
	cmd, said := prepare(f.t.Context(), f.dir, "follow", f.target, "-o", "ndjson")
	out, in := io.Pipe()
	cmd.Stdout = in
	must(f.t, cmd.Start())
	moved = make(chan event, 1<<20)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil && e.Fate == "moves" {
				moved <- e
			}
		}
	}()
	return moved, func() {
		must(f.t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			f.t.Errorf("%v: %s", err, said)
		}
		in.Close()
	}
}

// waits submits records one by one, and returns how long each took until its job was there, as the server's clock says, which is this machine's.
func (f *followed) waits(records []*znode.Node, moved chan event) (waits []time.Duration) {
	came := map[string]time.Time{}
	for _, n := range records {
		came[n.Path] = time.Now()
		f.submit(n)
		time.Sleep(pause)
	}
	for range len(movable(records)) {
		e := f.next(moved)
		_, stat, err := f.submits.Exists(sourceRoot + "/new" + e.Job)
		must(f.t, err)
		waits = append(waits, time.UnixMilli(stat.Ctime).Sub(came[e.Record]))
	}
	slices.Sort(waits)
	return waits
}

// others are the times of another client's writes, one every 5 ms, while do runs, sorted.
func (f *followed) others(do func()) (times []time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		began := time.Now()
		_, err := f.writes.Set("/other", []byte("x"), -1)
		must(f.t, err)
		times = append(times, time.Since(began))
		select {
		case <-done:
			slices.Sort(times)
			return times
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func rank(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Round(10 * time.Microsecond)
}
