package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

const (
	// readsUnderWay and multisUnderWay are how many requests are under way at the
	// same time: enough to keep a server busy. Multis are large, and more of them
	// made a JVM slower: of 1, 4, 16 and 64, 16 was the fastest.
	readsUnderWay  = 64
	multisUnderWay = 16
	// operations is how many creates one multi has.
	operations = 500
	// probePause is how long the probe pauses after an answer: short enough to have
	// enough samples of a short migration, and long enough to be no load.
	probePause = 4 * time.Millisecond
)

// atOnce calls do for each of all, with so many calls under way.
func atOnce[T any](ctx context.Context, underWay int, all []T, do func(T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(underWay)
	for _, one := range all {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return do(one) })
	}
	return g.Wait()
}

// bareRead reads each znode once, and does nothing else.
func bareRead(ctx context.Context, conn *zk.Conn, paths []string, acls bool) error {
	return atOnce(ctx, readsUnderWay, paths, func(path string) error {
		_, _, err := conn.Get(path)
		if err == nil && acls {
			_, _, err = conn.GetACL(path)
		}
		return err
	})
}

// bareLoad creates the znodes of one chroot in another, in multis, and does nothing else. It
// creates all znodes of one depth before the deeper ones, because those need their parents.
func bareLoad(ctx context.Context, conn *zk.Conn, tree *znode.Tree, from, to string) error {
	depths := map[int][]any{}
	for _, path := range tree.Paths(from) {
		depth := strings.Count(path, "/")
		depths[depth] = append(depths[depth], &zk.CreateRequest{Path: to + path[len(from):], Data: tree.Get(path).Data, Acl: zk.WorldACL(zk.PermAll)})
	}
	var err error
	for depth := 1; err == nil && len(depths[depth]) > 0; depth++ {
		err = atOnce(ctx, multisUnderWay, slices.Collect(slices.Chunk(depths[depth], operations)), func(ops []any) error {
			_, err := conn.Multi(ops...)
			return err
		})
	}
	return err
}

// probe measures how long another client of the server waits for an answer while do runs. It
// reads and writes a small znode of its own in turn, one request after the other. 99 of 100
// waits were no longer than the one that it returns.
func probe(conn *zk.Conn, do func() error) (time.Duration, error) {
	const path = "/probe"
	if _, err := conn.Create(path, make([]byte, 100), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	var waits []time.Duration
	for {
		asked := time.Now()
		_, _, err := conn.Get(path)
		if len(waits)%2 == 1 {
			asked = time.Now()
			_, err = conn.Set(path, make([]byte, 100), -1)
		}
		if err != nil {
			return 0, err
		}
		waits = append(waits, time.Since(asked))
		select {
		case err := <-done:
			slices.Sort(waits)
			if err == nil {
				err = conn.Delete(path, -1)
			}
			return waits[(len(waits)-1)*99/100], err
		case <-time.After(probePause):
		}
	}
}

// documentedWay creates jobs as the published design describes it, and as CDL's migration
// script does (docs/field-script.md): one after the other, waiting for each answer before
// the next step.
func documentedWay(ctx context.Context, q *client.Queue, jobs int) error {
	bid, err := q.CreateBatch(ctx, newqueue.Submission{ProfileName: "demo_merritt_content", Submitter: "demo/Demo Depositor", Type: "object-manifest"})
	if err != nil {
		return err
	}
	batch, err := q.AcquireBatch(ctx, newqueue.BatchPending)
	if err != nil {
		return err
	}
	if _, err := batch.Process(ctx); err != nil {
		return err
	}
	for i := range jobs {
		_, err := q.CreateJob(ctx, bid, client.NewJob{
			Priority: client.DefaultPriority,
			Configuration: newqueue.Configuration{
				ProfileName: "demo_merritt_content", Submitter: "demo/Demo Depositor", PayloadType: "Manifest", ResponseType: "xml",
				PayloadURL: fmt.Sprintf("http://example.org/manifests/jid-%07d.checkm", i), LocalID: fmt.Sprintf("loc%06d", i),
			},
			Metadata: newqueue.Metadata{ErcWhat: "First title", ErcWho: "A. Creator", ErcWhen: "2024"},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
