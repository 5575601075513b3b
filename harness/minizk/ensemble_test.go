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

// Suites that others wrote start their servers themselves, as processes that are given a zoo.cfg.
// This lets them: such a process (member) only asks the test's own process to serve what its
// zoo.cfg says, for as long as it lives. There, the servers of one ensemble are ports of one minizk,
// which serves while more than half of them are up.

// serverScript is the name under which suites start a server, and under which this test's own
// program therefore is one.
const serverScript = "zkServer.sh"

// ensemblesVariable tells a member where to ask.
const ensemblesVariable = "MRTQ_TEST_ENSEMBLES"

// member is the process "zkServer.sh start-foreground zoo.cfg": it says what it is and waits for the
// end, its own or the test's.
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

// ensembles are all that a suite has started.
type ensembles struct {
	l    net.Listener
	done sync.WaitGroup

	mu      sync.Mutex
	all     map[string]*ensemble  // by the folder that their servers share
	members map[net.Conn]struct{} // nil when it is over
}

// ensemble is one minizk behind the ports of its members. ensembles.mu guards it.
type ensemble struct {
	size int
	zk   *minizk.Server
	up   map[string]*port
}

// port is where one member serves.
type port struct {
	l    net.Listener
	gone chan struct{} // closed when its member has gone and the port is free

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it is over
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
					fmt.Fprintln(c, err) // the member says it to whoever started it
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		e.mu.Lock()
		for c := range e.members {
			c.Close() // those that a suite has left behind end by it
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

// zooCfg is what matters of a zoo.cfg here.
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

// serve is a member's life: until c ends.
func (e *ensembles) serve(c net.Conn) error {
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return nil // it was stopped before it could say anything
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
	_, _ = io.Copy(io.Discard, c) // however the member ends
	return e.leave(of, cfg.port, p)
}

// join opens a member's port. Where the member takes the place of one that was killed, that it has
// gone may not be known yet.
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

// leave closes a member's port, and stops the ensemble where that leaves it without a majority.
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

// end hangs up on everybody.
func (p *port) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	p.conns = nil
	return p.l.Close()
}

// keep notes a connection for end, unless that has been.
func (p *port) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns != nil {
		p.conns[c] = true
	}
	return p.conns != nil
}

var isoDate = regexp.MustCompile(`(\d{4})-(\d\d)-(\d\d)`)

// pass connects a client with the ensemble's minizk. A stopped one refuses, and the client is hung
// up on, as by a server without a majority.
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
		// go-zookeeper takes a server for healthy that writes dates as before 3.5.
		answer, err := io.ReadAll(back)
		if err == nil {
			_, _ = front.Write(isoDate.ReplaceAll(answer, []byte("$2/$3/$1"))) // the connection ends either way
		}
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{front, back}, {back, front}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // it ends when either side does
			ended <- struct{}{}
		}()
	}
	<-ended
}
