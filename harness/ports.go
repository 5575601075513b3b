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

// lastTaken is the port that takePorts has returned last. It begins anywhere, because other
// processes choose ports, too.
var lastTaken = struct {
	sync.Mutex
	port int
}{port: firstPort + rand.IntN(lastPort-firstPort)}

// takePorts returns n ports that are free on the loopback interface. It does not
// return them again before it has been through all others. Another process may still take one: then
// the server fails to start.
func takePorts(n int) (ports []int, err error) {
	lastTaken.Lock()
	defer lastTaken.Unlock()
	for range lastPort - firstPort + 1 {
		if len(ports) == n {
			return ports, nil
		}
		if lastTaken.port++; lastTaken.port > lastPort {
			lastTaken.port = firstPort
		}
		if isFree(lastTaken.port) {
			ports = append(ports, lastTaken.port)
		}
	}
	return nil, fmt.Errorf("harness: no %d free ports between %d and %d on the loopback interface", n, firstPort, lastPort)
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
