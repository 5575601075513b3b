//go:build unix

package minizk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// A suite that others wrote starts its servers itself, as processes with a zoo.cfg. Here such a
// process is a member: it serves nothing itself, but asks the test's process to serve at the port
// in its zoo.cfg until it ends. All servers of one ensemble are ports of one minizk in the test's
// process. That minizk serves while more than half of the members run.

// serverScript is the name of the program that suites start as a server. If this test's program has
// that name, it acts as a server.
const serverScript = "zkServer.sh"

// ensemblesVariable is the environment variable with the address at which a member reaches the
// test's process.
const ensemblesVariable = "MRTQ_TEST_ENSEMBLES"

// member does what a member process does, which a suite starts with "zkServer.sh start-foreground
// zoo.cfg". It sends the path of its zoo.cfg to the test's process, and waits until it is stopped or
// the test ends.
func member() int {
	c, err := net.Dial("unix", os.Getenv(ensemblesVariable))
	if err == nil {
		_, err = fmt.Fprintln(c, os.Args[len(os.Args)-1])
	}
	if err == nil {
		_, err = io.Copy(os.Stderr, c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// ensembles has all ensembles that a suite has started.
type ensembles struct {
	l    net.Listener
	done sync.WaitGroup

	mu      sync.Mutex
	all     map[string]*ensemble  // by the folder that the servers share
	members map[net.Conn]struct{} // nil after the end
}

// ensemble is one minizk behind the ports of its members. ensembles.mu guards it.
type ensemble struct {
	size int
	zk   *minizk.Server
	up   map[string]*port
}

// port is one member's port.
type port struct {
	l    net.Listener
	gone chan struct{} // closed when the member has ended and the port is free

	mu    sync.Mutex
	conns map[net.Conn]bool // nil after the end
}

func startEnsembles(t *testing.T) *ensembles {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "ensembles"))
	if err != nil {
		t.Fatal(err)
	}
	e := &ensembles{l: l, all: map[string]*ensemble{}, members: map[net.Conn]struct{}{}}
	e.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.mu.Lock()
			if e.members == nil {
				c.Close()
			} else {
				e.members[c] = struct{}{}
			}
			e.mu.Unlock()
			e.done.Go(func() {
				defer c.Close()
				if err := e.serve(c); err != nil {
					fmt.Fprintln(c, err) // the member reports it to the suite
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		e.mu.Lock()
		for c := range e.members {
			c.Close() // this also ends the members that a suite has left behind
		}
		e.members = nil
		e.mu.Unlock()
		e.done.Wait()
		for _, one := range e.all {
			if err := one.zk.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return e
}

// zooCfg has the lines of a zoo.cfg that this test uses.
type zooCfg struct {
	port, dataDir string
	tick          time.Duration
	servers       int
}

func readZooCfg(file string) (zooCfg, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return zooCfg{}, err
	}
	cfg := zooCfg{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case key == "clientPort":
			cfg.port = value
		case key == "dataDir":
			cfg.dataDir = value
		case key == "tickTime":
			ms, err := strconv.Atoi(value)
			if err != nil {
				return zooCfg{}, err
			}
			cfg.tick = time.Duration(ms) * time.Millisecond
		case strings.HasPrefix(key, "server."):
			cfg.servers++
		}
	}
	if cfg.port == "" || cfg.dataDir == "" || cfg.tick == 0 {
		return zooCfg{}, fmt.Errorf("%s: no clientPort, dataDir or tickTime in\n%s", file, text)
	}
	return cfg, nil
}

// serve serves a member until c ends.
func (e *ensembles) serve(c net.Conn) error {
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return nil // the member was stopped before it could send anything
	}
	cfg, err := readZooCfg(strings.TrimSuffix(line, "\n"))
	if err != nil {
		return err
	}
	of, p, err := e.join(cfg)
	if err != nil {
		return err
	}
	go func() {
		for {
			front, err := p.l.Accept()
			if err != nil {
				return
			}
			go pass(of.zk, p, front)
		}
	}()
	_, _ = io.Copy(io.Discard, c) // it returns when the member ends, even if it was killed
	return e.leave(of, cfg.port, p)
}

// join opens a member's port. If the member replaces one that was killed, join may have to wait
// until the test has noticed that.
func (e *ensembles) join(cfg zooCfg) (*ensemble, *port, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	dir := filepath.Dir(cfg.dataDir)
	one := e.all[dir]
	if one == nil {
		zk, err := minizk.Start(minizk.Options{RealTime: true, MinTimeout: 2 * cfg.tick, MaxTimeout: 20 * cfg.tick, SuperDigest: digest("super:test")})
		if err != nil {
			return nil, nil, err
		}
		one = &ensemble{size: max(cfg.servers, 1), zk: zk, up: map[string]*port{}}
		e.all[dir] = one
	}
	for old := one.up[cfg.port]; old != nil; old = one.up[cfg.port] {
		e.mu.Unlock()
		<-old.gone
		e.mu.Lock()
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", cfg.port))
	if err != nil {
		return nil, nil, err
	}
	p := &port{l: l, gone: make(chan struct{}), conns: map[net.Conn]bool{}}
	one.up[cfg.port] = p
	if 2*len(one.up) > one.size && 2*(len(one.up)-1) <= one.size {
		err = one.zk.Restart()
	}
	return one, p, err
}

// leave closes a member's port, and stops the ensemble if it has no majority any more.
func (e *ensembles) leave(of *ensemble, at string, p *port) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := p.end()
	delete(of.up, at)
	close(p.gone)
	if 2*len(of.up) <= of.size {
		err = errors.Join(err, of.zk.Stop())
	}
	return err
}

// end closes all connections.
func (p *port) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	p.conns = nil
	return p.l.Close()
}

// keep records a connection for end. It returns false if end was called before.
func (p *port) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns != nil {
		p.conns[c] = true
	}
	return p.conns != nil
}

var isoDate = regexp.MustCompile(`(\d{4})-(\d\d)-(\d\d)`)

// pass connects a client with the ensemble's minizk. If minizk is stopped, pass closes the client's
// connection, as a server without a majority does.
func pass(zk *minizk.Server, p *port, front net.Conn) {
	defer front.Close()
	back, err := net.Dial("tcp", zk.Addr())
	if err != nil {
		return
	}
	defer back.Close()
	if !p.keep(front) {
		return
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(front, head); err != nil {
		return
	}
	if _, err := back.Write(head); err != nil {
		return
	}
	if string(head) == "srvr" {
		// go-zookeeper considers a server healthy only if the server writes dates as
		// ZooKeeper did before 3.5.
		answer, err := io.ReadAll(back)
		if err == nil {
			_, _ = front.Write(isoDate.ReplaceAll(answer, []byte("$2/$3/$1"))) // the connection ends either way
		}
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{front, back}, {back, front}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // it ends when either side ends
			ended <- struct{}{}
		}()
	}
	<-ended
}
