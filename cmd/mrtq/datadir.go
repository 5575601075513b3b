package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"mrtq/internal/zkdata"
)

// readData reads a server's data directory, and names the last transaction in it.
func (a *app) readData(ctx context.Context, e endpoint) (*zkdata.Data, error) {
	show, finish := a.progress("reading the data directory", "znodes")
	defer finish()
	d, err := zkdata.Read(ctx, *e.data, zkdata.Options{
		Say:      func(news string) { a.say("%s", news) },
		Progress: func(n int) { show(n, 0) },
	})
	if err != nil {
		return nil, cmp.Or(noFolder(e, err), err)
	}
	made := ""
	if !d.Time.IsZero() {
		made = ", made at " + d.Time.Format(time.RFC3339)
	}
	// A migration opens its source twice, and this is said only once.
	if news := fmt.Sprintf("the last transaction in %s is 0x%x%s", e.text, d.Zxid, made); news != a.asOf {
		a.asOf = news
		a.say("%s", news)
	}
	return d, nil
}
