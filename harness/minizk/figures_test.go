package minizk_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mrtq/harness"
	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

var (
	figures        = flag.Bool("figures", false, "measure minizk and a jvm server, and fail if minizk misses a goal")
	figureChildren = flag.Int("figure-children", 1_000_000, "children of one node that TestFigures creates")
)

// The sizes of the measurements.
const (
	starts      = 51
	jvmStarts   = 5
	loadClients = 16
	loadWindow  = 100
	loadCreates = 4000 // by each client
	loadGets    = 10000
	loadData    = 1024
)

// TestFigures measures and prints the figures of README.md in one run. It fails if a figure misses its
// goal. With -update it writes the figures to README.md.
func TestFigures(t *testing.T) {
	part := readmeSection(t, "figures", "go test -run TestFigures -figures -update -v")
	if !*figures {
		t.Skip("skipped: it takes two minutes of the whole machine; it runs only with -figures")
	}
	var table strings.Builder
	line := func(format string, args ...any) {
		fmt.Printf(format+"\n", args...) // print it at once, for a person who watches
		fmt.Fprintf(&table, format+"\n", args...)
	}
	line("| what | minizk | jvm | goal |\n|---|---|---|---|")
	row := func(what, mini, jvm, goal string, ok bool) {
		line("| %s | %s | %s | %s |", what, mini, jvm, goal)
		if !ok {
			t.Errorf("%s: %s, jvm %s, goal %s", what, mini, jvm, goal)
		}
	}
	fast, slow := medianStart(t, starts, startMini), medianStart(t, jvmStarts, startJVM)
	row("start to first read, median", ms(fast), ms(slow), "under 5 ms, and 100 times as fast", fast < 5*time.Millisecond && slow >= 100*fast)

	miniCreate, miniGet := throughput(t, startMini)
	jvmCreate, jvmGet := throughput(t, startFastJVM)
	per := func(r float64) string { return fmt.Sprintf("%.0f/s", r) }
	row("1 KiB creates, 16 pipelining clients", per(miniCreate), per(jvmCreate), fmt.Sprintf("3 times as fast (is %.1f)", miniCreate/jvmCreate), miniCreate >= 3*jvmCreate)
	row("1 KiB gets, 16 pipelining clients", per(miniGet), per(jvmGet), fmt.Sprintf("3 times as fast (is %.1f)", miniGet/jvmGet), miniGet >= 3*jvmGet)

	first, last, all, list := children(t, startMini)
	jf, jl, jall, jlist := children(t, startFastJVM)
	many := "a million"
	if *figureChildren != 1_000_000 {
		many = fmt.Sprint(*figureChildren)
	}
	row(fmt.Sprintf("time to create the last 30 %% of %s children ÷ the first 30 %%", many), ratio(last, first), ratio(jl, jf), "under 5, so not quadratic", last < 5*first)
	row(many+" children created, one pipelining client", ms(all), ms(jall), "faster than jvm", all < jall)
	row(many+" children listed", ms(list), ms(jlist), "under 2 s", list < 2*time.Second)
	if *update {
		part.write(t, "\n"+table.String()+"\n")
	}
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }

// server starts a server for a measurement. It returns the server's address and a function that
// stops it.
type server func(t *testing.T) (addr string, stop func())

func startMini(t *testing.T) (string, func()) {
	s, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Addr(), func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// startJVM starts the server as the harness does.
func startJVM(t *testing.T) (string, func()) {
	s, err := harness.Start(t.Context(), harness.JVM, harness.Options{})
	if err != nil {
		missing(t, err.Error())
	}
	return s.Address(), func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// startFastJVM lets the JVM compile as much as it can, as a production server does. The
// harness's usual settings start quickly instead.
func startFastJVM(t *testing.T) (string, func()) {
	t.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4")
	return startJVM(t)
}

func session(t *testing.T, addr string) *rawzk.Conn {
	t.Helper()
	c, err := rawzk.Open(addr, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func medianStart(t *testing.T, n int, start server) time.Duration {
	var all []time.Duration
	for range n {
		began := time.Now()
		addr, stop := start(t)
		c := session(t, addr)
		want(t, "read", do(t, c, opRead(jute.OpGetData, "/zookeeper")), jute.OK)
		all = append(all, time.Since(began))
		c.Close()
		stop()
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// load runs f on every client at once and returns how many of the n×clients operations were
// done each second.
func load(t *testing.T, addr string, n int, f func(c *rawzk.Conn, client int) error) float64 {
	t.Helper()
	conns := make([]*rawzk.Conn, loadClients)
	for i := range conns {
		conns[i] = session(t, addr)
		defer conns[i].Close()
	}
	errs := make([]error, loadClients)
	began := time.Now()
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() { errs[i] = f(c, i) })
	}
	wg.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return float64(n*loadClients) / took.Seconds()
}

// throughput measures creates and gets in the third round, because a JVM compiles code that is
// used often.
func throughput(t *testing.T, start server) (creates, gets float64) {
	addr, stop := start(t)
	defer stop()
	data := make([]byte, loadData)
	for round := range 3 {
		creates = load(t, addr, loadCreates, func(c *rawzk.Conn, client int) error {
			return c.Stream(loadCreates, loadWindow, func(i int) (jute.OpCode, []byte) {
				return packet(jute.Request{Op: jute.OpCreate, Path: fmt.Sprintf("/n%d-%d-%d", round, client, i), Data: data, ACL: open})
			})
		})
		gets = load(t, addr, loadGets, func(c *rawzk.Conn, client int) error {
			return c.Stream(loadGets, loadWindow, func(i int) (jute.OpCode, []byte) {
				return packet(opRead(jute.OpGetData, fmt.Sprintf("/n%d-%d-%d", round, client, i%loadCreates)))
			})
		})
	}
	return creates, gets
}

// children creates -figure-children children of one node, a tenth at a time. It returns the median time of
// the first three tenths and of the last three, the time for all, and the time of a listing.
func children(t *testing.T, start server) (first, last, all, list time.Duration) {
	addr, stop := start(t)
	defer stop()
	c := session(t, addr)
	defer c.Close()
	want(t, "create", do(t, c, newNode("/q", "", 0)), jute.OK)
	tenth := *figureChildren / 10
	var took []time.Duration
	for range 10 {
		began := time.Now()
		err := c.Stream(tenth, loadWindow, func(int) (jute.OpCode, []byte) {
			return packet(newNode("/q/n-", "", jute.ModeSequential))
		})
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		all += took[len(took)-1]
	}
	median := func(three []time.Duration) time.Duration {
		slices.Sort(three)
		return three[1]
	}
	first, last = median(took[:3]), median(took[7:])
	began := time.Now()
	p, _, err := c.Do(packet(opRead(jute.OpGetChildren, "/q")))
	list = time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	names := jute.NewDecoder(p.Body).Strings("names")
	slices.Sort(names)
	if len(slices.Compact(names)) != 10*tenth {
		t.Fatalf("%d children were listed", len(names))
	}
	return first, last, all, list
}
