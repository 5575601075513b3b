package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The harness chooses ports below every system's ephemeral range, which begins at
// 32768 on Linux and at 49152 on others. So no outgoing connection and no
// listener on port 0 can take one between the check and the server's start, or
// while a killed server waits to be restarted. ZooKeeper can't choose a port
// itself: for ZooKeeper clientPort=0 means "none", and with a clientPortAddress
// it is an error.
const (
	firstPort = 20000
	lastPort  = 29999
)

// reserved has the ports that takePorts has returned in this process.
var reserved = struct {
	sync.Mutex
	ports map[int]bool
}{ports: make(map[int]bool)}

// takePorts returns n ports that are free on the loopback interface. It does not
// return them again before releasePorts. Another process may still take one: then
// the server fails to start.
func takePorts(n int) ([]int, error) {
	reserved.Lock()
	defer reserved.Unlock()
	var ports []int
	for _, i := range rand.Perm(lastPort - firstPort + 1) {
		if len(ports) == n {
			break
		}
		if p := firstPort + i; !reserved.ports[p] && isFree(p) {
			ports = append(ports, p)
		}
	}
	if len(ports) < n {
		return nil, fmt.Errorf("harness: no %d free ports between %d and %d on the loopback interface", n, firstPort, lastPort)
	}
	for _, p := range ports {
		reserved.ports[p] = true
	}
	return ports, nil
}

func releasePorts(ports []int) {
	reserved.Lock()
	defer reserved.Unlock()
	for _, p := range ports {
		delete(reserved.ports, p)
	}
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
