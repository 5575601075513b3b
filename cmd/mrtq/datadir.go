package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

// readData reads a server's data directory, and says as of when it is.
func (a *app) readData(ctx context.Context, e endpoint) (*zkdata.Data, error) {
	show, finish := a.progress("reading the data directory")
	defer finish()
	d, err := zkdata.Read(ctx, *e.data, zkdata.Options{
		Say:      func(news string) { a.say("%s", news) },
		Progress: func(n int) { show(n, 0) },
	})
	if err != nil {
		return nil, err
	}
	made := ""
	if !d.Time().IsZero() {
		made = ", made at " + d.Time().Format(time.RFC3339)
	}
	// A migration reads its source twice.
	if news := fmt.Sprintf("%s is read as of transaction 0x%x%s", e.text, d.Zxid(), made); news != a.asOf {
		a.asOf = news
		a.say("%s", news)
	}
	return d, nil
}

// legacyData reads the legacy queues of a data directory, as
// [migrate.ReadLegacy] reads those of a server.
func (a *app) legacyData(ctx context.Context, e endpoint, queues migrate.Queues) (*znode.Tree, error) {
	d, err := a.readData(ctx, e)
	if err != nil {
		return nil, err
	}
	roots := queues.Roots()
	if !slices.ContainsFunc(roots, func(root string) bool { _, ok := d.Get(root); return ok }) {
		// Nothing of a legacy queue: what is there helps to see why.
		tree := znode.NewTree()
		for _, name := range d.Children("/") {
			if err := tree.Put(znode.Node{Path: znode.Join("/", name)}); err != nil {
				return nil, err
			}
		}
		return tree, nil
	}
	return d.Tree(roots...)
}
