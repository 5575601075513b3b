package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// noLegacyQueue is the error of a source without a legacy queue. If SOURCE and TARGET are
// swapped, it says so, and gives the right command.
func (a *app) noLegacyQueue(ctx context.Context, s sides, l *legacyFlags, err error) error {
	queues, qerr := l.queues()
	if !errors.Is(err, migrate.ErrNoQueues) || qerr != nil {
		return err
	}
	return cmp.Or(a.ifSwapped(ctx, s, queues), err)
}

// ifSwapped is a usage error if SOURCE and TARGET are swapped, else nil.
func (a *app) ifSwapped(ctx context.Context, s sides, queues migrate.Queues) error {
	source, target := a.lookAt(ctx, s.source, queues), a.lookAt(ctx, s.target, queues)
	if text := swapped(s, source, target); text != "" {
		return usageError("%s; nothing was written. Next: %s", text, a.exchanged())
	}
	return nil
}

// ifSource is a usage error if a command that takes a TARGET got what looks like the
// SOURCE, else nil.
func (a *app) ifSource(ctx context.Context, e endpoint, queues migrate.Queues) error {
	is := a.lookAt(ctx, e, queues)
	if !is.legacy || is.newQueue {
		return nil
	}
	target := "TARGET"
	if len(is.below) == 1 && e.file == "" {
		target = zkconn.Address{Servers: e.addr.Servers, Chroot: e.addr.Chroot + "/" + is.below[0]}.String()
	}
	return usageError("%s holds a legacy queue and no new one, so it looks like the SOURCE, and mrtq %s takes the TARGET; nothing was written. Next: %s",
		e.text, a.name, commandLine(a.name, append([]string{target}, a.args[1:]...), a.typed))
}

// content is what a side holds.
type content struct {
	known                   bool // false if the side can't be read
	empty, legacy, newQueue bool
	below                   []string // znodes that hold a new queue
}

// swapped says that SOURCE and TARGET were given in the wrong order. It is "" if they were
// not.
func swapped(s sides, source, target content) string {
	if !source.known || !target.legacy || target.newQueue || source.legacy {
		return ""
	}
	is, so := "", ""
	switch {
	case source.newQueue:
		is, so = "a new queue", "SOURCE and TARGET are swapped"
	case source.empty:
		is, so = "empty", "SOURCE and TARGET are swapped, or SOURCE is mistyped"
	default:
		return ""
	}
	return fmt.Sprintf("the source %s is %s, and the target %s holds a legacy queue: %s", s.source.text, is, s.target.text, so)
}

// lookAt finds out what a side holds. It is only used for the text of an error, so it
// returns no error of its own.
func (a *app) lookAt(ctx context.Context, e endpoint, queues migrate.Queues) content {
	from, err := a.openSource(ctx, e, nil)
	if err != nil {
		return content{}
	}
	defer from.Close()
	found, err := migrate.ReadNoQueue(ctx, from)
	if err != nil {
		return content{}
	}
	h := content{known: true, newQueue: found == nil}
	if found != nil {
		h.empty, h.legacy, h.below = len(found.Znodes) == 0, len(found.Legacy) > 0, found.Queues
	}
	for _, nodes := range queues.Nodes {
		for _, node := range nodes {
			if _, err := from.Get(ctx, node); err == nil {
				h.legacy = true
			}
		}
	}
	return h
}

// exchanged is the command line of this command, with its first two arguments exchanged.
func (a *app) exchanged() string {
	args := append([]string{}, a.args...)
	args[0], args[1] = args[1], args[0]
	return commandLine(a.name, args, a.typed)
}
