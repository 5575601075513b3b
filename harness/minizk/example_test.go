package minizk_test

import (
	"bytes"
	"errors"
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

	tree, err := server.Snapshot()
	check(err)
	fmt.Println(tree.Get("/job") != nil)
	// Output:
	// zk: connection closed 1
	// true
}

// A refused operation gets an error code, which the client turns into its usual error.
func ExampleRefuse() {
	server, err := minizk.Start(minizk.Options{})
	check(err)
	defer server.Close()

	conn := dial(server)
	defer conn.Close()
	server.Inject(minizk.Fault{On: minizk.Changing, Do: minizk.Refuse(minizk.NoAuth)})
	_, err = conn.Create("/job", nil, 0, zk.WorldACL(zk.PermAll))
	fmt.Println(errors.Is(err, zk.ErrNoAuth))
	// Output: true
}

// An hour passes at once, and the server removes a node with a time to live. The client has asked
// for a longer session timeout, because otherwise its session would expire, too. (Or let the hour
// pass in steps that leave the client time to ping.)
func ExampleServer_Advance() {
	server, err := minizk.Start(minizk.Options{MaxTimeout: 2 * time.Hour})
	check(err)
	defer server.Close()

	conn, _, err := zk.Connect([]string{server.Addr()}, 2*time.Hour, zk.WithLogger(silence{}))
	check(err)
	defer conn.Close()
	_, err = conn.CreateTTL("/offer", nil, zk.FlagTTL, zk.WorldACL(zk.PermAll), time.Hour)
	check(err)
	for range 2 {
		there, _, err := conn.Exists("/offer")
		check(err)
		fmt.Println(there)
		server.Advance(time.Hour + time.Minute)
	}
	// Output:
	// true
	// false
}

// Prepare a tree once and load it in every test. Versions and the numbers of sequential
// children continue where they were.
func ExampleServer_LoadDump() {
	origin, err := minizk.Start(minizk.Options{})
	check(err)
	defer origin.Close()
	conn := dial(origin)
	defer conn.Close()
	for _, path := range []string{"/queue", "/queue/item-", "/queue/item-"} {
		flags := int32(0)
		if path != "/queue" {
			flags = zk.FlagSequence
		}
		_, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
		check(err)
	}
	var dump bytes.Buffer // this could be a file
	check(origin.WriteDump(&dump))

	copied, err := minizk.Start(minizk.Options{})
	check(err)
	defer copied.Close()
	check(copied.LoadDump(&dump))
	other := dial(copied)
	defer other.Close()
	path, err := other.Create("/queue/item-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	check(err)
	fmt.Println(path)
	// Output: /queue/item-0000000002
}

func dial(s *minizk.Server) *zk.Conn {
	conn, _, err := zk.Connect([]string{s.Addr()}, 10*time.Second, zk.WithLogger(silence{}))
	check(err)
	return conn
}

// silence is a logger that ignores what the client logs about every connection.
type silence struct{}

func (silence) Printf(string, ...any) {}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
