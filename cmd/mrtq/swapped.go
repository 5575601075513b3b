package main

import (
	"context"
	"errors"
	"fmt"

	"mrtq/migrate"
)

// noLegacyQueue is the error of a source without a legacy queue. It says so if SOURCE
// and TARGET are swapped, and how the command should be.
func (a *app) noLegacyQueue(ctx context.Context, s sides, l *legacyFlags, err error) error {
	if !errors.Is(err, migrate.ErrNoQueues) {
		return err
	}
	source, target := a.lookAt(ctx, s.source, l), a.lookAt(ctx, s.target, l)
	if text := swapped(s, source, target); text != "" {
		return usageError("%s; nothing was written. Next: %s", text, a.exchanged())
	}
	return err
}

// holding is what a side holds.
type holding struct {
	known               bool // false if the side can't be read
	empty, legacy, next bool // next: a new queue
}

// swapped says that two sides were given in the wrong order, "" if they were not.
func swapped(s sides, source, target holding) string {
	if !source.known || !target.legacy || target.next || source.legacy {
		return ""
	}
	is := ""
	switch {
	case source.next:
		is = "a new queue"
	case source.empty:
		is = "empty"
	default:
		return ""
	}
	return fmt.Sprintf("the source %s is %s, and the target %s holds a legacy queue: SOURCE and TARGET are swapped", s.source.text, is, s.target.text)
}

// lookAt finds out what a side holds. It is only for an error's words, so a side that
// can't be read is not an error of its own.
func (a *app) lookAt(ctx context.Context, e endpoint, l *legacyFlags) holding {
	from, err := a.openSource(ctx, e, nil)
	if err != nil {
		return holding{}
	}
	defer from.Close()
	found, err := migrate.ReadNoQueue(ctx, from)
	if err != nil {
		return holding{}
	}
	h := holding{known: true, next: found == nil}
	if found != nil {
		h.empty, h.legacy = len(found.Znodes) == 0, len(found.Legacy) > 0
	}
	queues, err := l.queues()
	if err != nil {
		return h
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

// exchanged is the command that runs, with its first two arguments exchanged and with
// all its flags.
func (a *app) exchanged() string {
	args := append([]string{}, a.args...)
	args[0], args[1] = args[1], args[0]
	return commandLine(a.name, args, a.typed)
}
