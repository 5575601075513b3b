package main

import (
	"bytes"
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
	// deletes is how many deletes one multi has.
	deletes = 500

	sessionTimeout = 30 * time.Second
	// maxReply, in bytes, is several times the longest list of children in a large
	// queue.
	maxReply = 256 << 20
)

// bareLoad sends recorded changes again and does nothing else. It sends the same
// bytes, except that it replaces the chroot by another one whose name has the same
// length. It only counts the answers.
func bareLoad(address string, requests []request, from, to string) (sample, error) {
	bodies := make([][]byte, len(requests))
	for i, r := range requests {
		bodies[i] = bytes.ReplaceAll(r.body, []byte(from), []byte(to))
	}
	return stream(address, len(requests), multisUnderWay, func(i int) (jute.OpCode, []byte) { return requests[i].op, bodies[i] })
}

// bareDelete deletes znodes in multis and does nothing else.
func bareDelete(address string, paths []string) (sample, error) {
	deepest := slices.Sorted(slices.Values(paths))
	slices.Reverse(deepest) // children come before their parent
	var bodies [][]byte
	for some := range slices.Chunk(deepest, deletes) {
		multi := jute.Request{Op: jute.OpMulti}
		for _, path := range some {
			multi.Ops = append(multi.Ops, jute.Request{Op: jute.OpDelete, Path: path, Version: -1})
		}
		bodies = append(bodies, jute.AppendRequest(nil, &multi))
	}
	return stream(address, len(bodies), multisUnderWay, func(i int) (jute.OpCode, []byte) { return jute.OpMulti, bodies[i] })
}

// stream measures how long requests take over one connection. It does not count the
// time to open the connection.
func stream(address string, n, underWay int, request func(i int) (jute.OpCode, []byte)) (sample, error) {
	c, err := rawzk.Open(address, sessionTimeout)
	if err != nil {
		return sample{}, err
	}
	defer c.Close()
	began := time.Now()
	err = c.Stream(n, underWay, request)
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

// below returns the paths of a znode and of all znodes below it. Parents come before
// their children.
func below(conn *zk.Conn, path string) ([]string, error) {
	paths := []string{path}
	for i := 0; i < len(paths); i++ {
		children, _, err := conn.Children(paths[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[i], err)
		}
		for _, name := range children {
			paths = append(paths, paths[i]+"/"+name)
		}
	}
	return paths, nil
}
