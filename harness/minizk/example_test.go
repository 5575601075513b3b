package minizk_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
)

// In a test, use minizk.Run(t) instead of Start and Close. Run also prints the log if the test
// fails.
func Example() {
	server, err := minizk.Start(minizk.Options{})
	check(err)
	defer server.Close()

	conn := dial(server)
	defer conn.Close()
	_, err = conn.Create("/greeting", []byte("hello"), 0, zk.WorldACL(zk.PermAll))
	check(err)
	data, stat, err := conn.Get("/greeting")
	check(err)
	fmt.Printf("%s, version %d\n", data, stat.Version)
	fmt.Println(server.Counts().Writes, "write")
	// Output:
	// hello, version 0
	// 1 write
}

// When a worker dies, its session ends, and the server deletes its ephemeral nodes. A watcher
// notices.
func ExampleServer_ExpireSession() {
	server, err := minizk.Start(minizk.Options{})
	check(err)
	defer server.Close()

	worker, watcher := dial(server), dial(server)
	defer worker.Close()
	defer watcher.Close()
	_, err = worker.Create("/worker", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	check(err)
	_, _, gone, err := watcher.ExistsW("/worker")
	check(err)

	server.ExpireSession(worker.SessionID())
	fmt.Println((<-gone).Type)
	// Output: EventNodeDeleted
}

// The connection is lost after the server has done an operation, but before the reply. The client
// cannot know whether it was done, and must check.
func ExampleServer_Inject() {
	server, err := minizk.Start(minizk.Options{})
	check(err)
	defer server.Close()

	conn := dial(server)
	defer conn.Close()
	fault := server.Inject(minizk.Fault{On: minizk.OnPath("/job"), Nth: 1, Do: minizk.CutAfter()})
	_, err = conn.Create("/job", nil, 0, zk.WorldACL(zk.PermAll))
	fmt.Println(err, fault.Fired())

	fmt.Println(server.Snapshot().Get("/job") != nil)
	// Output:
	// zk: connection closed 1
	// true
}

func dial(s *minizk.Server) *zk.Conn {
	conn, _, err := zk.Connect([]string{s.Addr()}, 10*time.Second, zk.WithLogger(silence{}))
	check(err)
	return conn
}

type silence struct{}

func (silence) Printf(string, ...any) {}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
