package harness_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
)

// This starts a disposable ZooKeeper, uses it with an ordinary client, kills it and
// restarts it. With harness.JVM or harness.Docker the server is Apache's own.
func Example() {
	ctx := context.Background()
	server, err := harness.Start(ctx, harness.Embedded, harness.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop(ctx)

	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Create("/greeting", []byte("hello"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		log.Fatal(err)
	}

	// What the server has confirmed is still there after a crash.
	if err := server.Kill(); err != nil {
		log.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		log.Fatal(err)
	}
	for {
		data, _, err := conn.Get("/greeting")
		if err == nil {
			fmt.Printf("%s\n", data)
			return
		}
		time.Sleep(10 * time.Millisecond) // the client is connecting again
	}
	// Output: hello
}
