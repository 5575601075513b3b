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
	blocks    = 50
	blockSize = 200
)

// block are the ports of this process. It listens at the first one as long as it runs, so
// that no other process that uses the harness takes any of them.
var block struct {
	sync.Mutex
	first net.Listener
	last  int // the port that takePorts has returned last
}

// takePorts returns n ports that are free on the loopback interface. It does not
// return them again before it has been through all others of the block.
func takePorts(n int) (ports []int, err error) {
	block.Lock()
	defer block.Unlock()
	for _, b := range rand.Perm(blocks) {
		if block.first != nil {
			break
		}
		first := firstPort + b*blockSize
		if block.first, err = net.Listen("tcp", loopback(first)); err == nil {
			block.last = first
		}
	}
	if block.first == nil {
		return nil, fmt.Errorf("harness: no free ports from %d on: %w", firstPort, err)
	}
	for range blockSize {
		if len(ports) == n {
			return ports, nil
		}
		if block.last++; block.last%blockSize == 0 {
			block.last -= blockSize - 1
		}
		if l, err := net.Listen("tcp", loopback(block.last)); err == nil {
			l.Close()
			ports = append(ports, block.last)
		}
	}
	return nil, fmt.Errorf("harness: no %d free ports among those from %s on", n, block.first.Addr())
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
