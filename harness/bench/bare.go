package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"mrtq/harness/internal/rawzk"
	"mrtq/internal/jute"
)

const (
	// readsUnderWay and multisUnderWay are how many requests are under way at the
	// same time: enough to keep a server busy. Multis are large, and more of them
	// made a JVM slower: of 1, 4, 16 and 64, 16 was the fastest.
	readsUnderWay  = 64
	multisUnderWay = 16
	// operations is how many creates or deletes one multi has.
	operations = 500

	sessionTimeout = 30 * time.Second
	// maxReply, in bytes, is several times the longest list of children in a large
	// queue.
	maxReply = 256 << 20
)

// node is a znode, with its data.
type node struct {
	path string
	data []byte
}

func paths(nodes []node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.path
	}
	return all
}

// bareLoad creates the znodes of one chroot in another, in multis, and does nothing else.
func bareLoad(address string, nodes []node, from, to string) (sample, error) {
	acl := []jute.ACL{{Perms: zk.PermAll, ID: jute.ID{Scheme: "world", Name: "anyone"}}}
	var bodies [][]byte
	for some := range slices.Chunk(nodes, operations) {
		multi := jute.Request{Op: jute.OpMulti}
		for _, n := range some {
			multi.Ops = append(multi.Ops, jute.Request{Op: jute.OpCreate, Path: to + n.path[len(from):], Data: n.data, ACL: acl})
		}
		bodies = append(bodies, jute.AppendRequest(nil, &multi))
	}
	return stream(address, bodies)
}

// bareDelete deletes znodes in multis and does nothing else.
func bareDelete(address string, paths []string) (sample, error) {
	deepest := slices.Sorted(slices.Values(paths))
	slices.Reverse(deepest) // children come before their parent
	var bodies [][]byte
	for some := range slices.Chunk(deepest, operations) {
		multi := jute.Request{Op: jute.OpMulti}
		for _, path := range some {
			multi.Ops = append(multi.Ops, jute.Request{Op: jute.OpDelete, Path: path, Version: -1})
		}
		bodies = append(bodies, jute.AppendRequest(nil, &multi))
	}
	return stream(address, bodies)
}

// stream measures how long multis take over one connection. It does not count the time to
// open the connection.
func stream(address string, multis [][]byte) (sample, error) {
	c, err := rawzk.Open(address, sessionTimeout)
	if err != nil {
		return sample{}, err
	}
	defer c.Close()
	began := time.Now()
	err = c.Stream(len(multis), multisUnderWay, func(i int) (jute.OpCode, []byte) { return jute.OpMulti, multis[i] })
	s := since(began)
	if err == nil {
		_, _, err = c.Do(jute.OpCloseSession, nil)
	}
	return s, err
}

// bareRead reads each znode once with the client library, and does nothing else.
func bareRead(ctx context.Context, conn *zk.Conn, paths []string, acls bool) (sample, error) {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	began := time.Now()
	for range readsUnderWay {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(paths)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if _, _, err := conn.Get(paths[i]); err != nil {
					return fmt.Errorf("%s: %w", paths[i], err)
				}
				if !acls {
					continue
				}
				if _, _, err := conn.GetACL(paths[i]); err != nil {
					return fmt.Errorf("%s: %w", paths[i], err)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return since(began), err
}

// connect opens a session of the client library.
func connect(ctx context.Context, address string) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{address}, sessionTimeout, zk.WithLogInfo(false), zk.WithMaxBufferSize(maxReply))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// below returns a znode and all znodes below it. Parents come before their children.
func below(conn *zk.Conn, path string) ([]node, error) {
	nodes := []node{{path: path}}
	for i := 0; i < len(nodes); i++ {
		at := nodes[i].path
		data, _, err := conn.Get(at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		nodes[i].data = data
		children, _, err := conn.Children(at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		for _, name := range children {
			nodes = append(nodes, node{path: at + "/" + name})
		}
	}
	return nodes, nil
}
