package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// reading is an endpoint that is open for reading. The caller closes it.
type reading struct {
	side.Side
	Close func()
}

// openSource opens a SOURCE for reading only. It marks znodes that may not be read. On a
// server, it also reads the ACLs of the znodes that acl chooses.
func (a *app) openSource(ctx context.Context, e endpoint, acl func(path string) bool) (*reading, error) {
	switch {
	case e.file != "":
		d, err := a.openDump(ctx, e.file, makeDump)
		if err != nil {
			return nil, err
		}
		return &reading{d, func() { d.Close() }}, nil
	case e.data != nil:
		d, err := a.readData(ctx, e)
		if err != nil {
			return nil, err
		}
		return &reading{side.Data(d), func() {}}, nil
	}
	r, err := a.freshReader(ctx, e)
	if err != nil {
		return nil, err
	}
	return &reading{side.Session(r.MarkUnreadable(), acl), r.Close}, nil
}

// freshReader opens a session that cannot write, and reads what is there now.
func (a *app) freshReader(ctx context.Context, e endpoint) (*zkconn.Reader, error) {
	r, err := a.reader(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := r.Sync(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// openQueue opens a legacy queue for reading. done closes it.
func (a *app) openQueue(ctx context.Context, e endpoint, l *legacyFlags) (queue *migrate.LegacyQueue, done func(), err error) {
	queues, opt, err := l.reads()
	if err != nil {
		return nil, nil, err
	}
	roots := queues.Roots()
	from, err := a.openSource(ctx, e, func(path string) bool { return slices.Contains(roots, path) })
	if err != nil {
		return nil, nil, err
	}
	queue, err = migrate.OpenLegacyQueue(ctx, from.Side, queues, opt)
	if err != nil {
		from.Close()
		return nil, nil, err
	}
	return queue, from.Close, nil
}

// openTarget opens a TARGET for reading only. If a znode may not be read, that is an error,
// also in a dump.
func (a *app) openTarget(ctx context.Context, e endpoint, acl func(path string) bool) (*reading, error) {
	if e.file != "" {
		d, err := a.openWholeDump(ctx, e.file)
		if err != nil {
			return nil, err
		}
		return &reading{d, func() { d.Close() }}, nil
	}
	r, err := a.freshReader(ctx, e)
	if err != nil {
		return nil, err
	}
	return &reading{side.Session(r, acl), r.Close}, nil
}

// readTarget opens a TARGET for reading only, calls read, and shows how far it is.
func readTarget[T any](ctx context.Context, a *app, e endpoint, read func(context.Context, side.Side) (T, error)) (T, error) {
	target, err := a.openTarget(ctx, e, nil)
	if err != nil {
		var none T
		return none, err
	}
	defer target.Close()
	ctx, finish := a.phases(ctx, "reading the target")
	defer finish()
	return read(ctx, target.Side)
}

// openWholeDump opens a dump that must be complete.
func (a *app) openWholeDump(ctx context.Context, path string) (*side.Dump, error) {
	d, err := a.openDump(ctx, path, makeTarget)
	if err != nil {
		return nil, err
	}
	if lacks := d.Unreadable(); len(lacks) > 0 {
		d.Close()
		return nil, fmt.Errorf("the dump lacks the data of %s, %w", lacks[0], errLacking)
	}
	return d, nil
}

// openDump opens a dump for reading, and unpacks it if its name ends in .gz. next says what
// to do if there is no file. The caller adds the file's name to other errors.
func (a *app) openDump(ctx context.Context, path, next string) (*side.Dump, error) {
	show, finish := a.progress("reading the dump", "znodes")
	defer finish()
	d, err := side.OpenDump(ctx, path, isGzip(path), func(n int) { show(n, 0) })
	if errors.Is(err, syscall.EISDIR) {
		next = "a server's data directory is snapshot:" + path
	}
	if err := noFile("file:"+path, path, err, next); err != nil {
		return nil, err
	}
	return d, unnamed(err)
}
