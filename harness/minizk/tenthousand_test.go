//go:build unix

package minizk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// dialTo is an environment variable with the server's address. If it is set, this process is only
// the client of TestTenThousandConnections. Client and server in one process would need twice as
// many open files as a process may have.
const (
	dialTo    = "MINIZK_TEST_DIAL"
	dialCount = "MINIZK_TEST_DIAL_COUNT"
)

func init() {
	addr := os.Getenv(dialTo)
	if addr == "" {
		return
	}
	if err := dialMany(addr, os.Getenv(dialCount)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const tenThousand = 10_000

// spareFiles is how many other files each of the two processes opens.
const spareFiles = 200

// raiseFileLimit lets this process open n files, or as many as it may, and returns how many.
func raiseFileLimit(n uint64) (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	if limit.Cur < min(n, limit.Max) {
		limit.Cur = min(n, limit.Max)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return 0, err
		}
	}
	return min(n, limit.Cur), nil
}

// TestTenThousandConnections opens ten thousand connections: half of them have sessions, and half
// send nothing.
func TestTenThousandConnections(t *testing.T) {
	n := tenThousand
	files, err := raiseFileLimit(uint64(n + spareFiles))
	if err != nil {
		t.Fatal(err)
	}
	if files < uint64(n+spareFiles) {
		n = int(files-spareFiles) / 2 * 2
		t.Logf("opening only %d connections, because a process may open %d files (ulimit -Hn)", n, files)
	}
	s := run(t, minizk.Options{})
	old := raw(t, s)
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), dialTo+"="+s.Addr(), dialCount+"="+strconv.Itoa(n))
	helper.Stderr = os.Stderr
	hold, err1 := helper.StdinPipe()
	out, err2 := helper.StdoutPipe()
	if err := errors.Join(err1, err2, helper.Start()); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "connected\n" {
		t.Fatalf("the client said %q, %v", said, err)
	}
	if got := len(s.Sessions()); got != n/2+1 {
		t.Errorf("%d sessions, want %d", got, n/2+1)
	}
	well(t, s, old)
	s.Advance(sessionTimeout + time.Second)
	if tree, err := s.Snapshot(); err != nil || tree.Len() != 1 {
		t.Errorf("%d nodes are left, %v", tree.Len(), err)
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	if err := helper.Wait(); err != nil {
		t.Error(err)
	}
}

// dialMany holds connections, every second one with a session, until its standard input ends.
func dialMany(addr, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if _, err := raiseFileLimit(uint64(n + spareFiles)); err != nil {
		return err
	}
	conns := make([]net.Conn, n) // the collector would close an unreferenced connection
	errs := make([]error, n)
	var wg sync.WaitGroup
	const dialers = 16
	for d := range dialers {
		wg.Go(func() {
			for i := d; i < n; i += dialers {
				if i%2 == 1 {
					conns[i], errs[i] = net.Dial("tcp", addr)
					continue
				}
				c, err := rawzk.Open(addr, sessionTimeout)
				if err == nil {
					conns[i] = c
					_, _, err = c.Do(jute.OpCreate, createBody(fmt.Sprint("/e", i), "", 1))
				}
				errs[i] = err
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("connected")
	_, err = io.Copy(io.Discard, os.Stdin)
	for _, c := range conns {
		c.Close()
	}
	return err
}
