package main

import (
	"context"
	"errors"
	"fmt"

	"mrtq/migrate"
)

// noLegacyQueue is the error of a source without a legacy queue. If SOURCE and TARGET are
// swapped, it says so, and gives the right command.
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

// content is what a side holds.
type content struct {
	known                   bool // false if the side can't be read
	empty, legacy, newQueue bool
}

// swapped says that SOURCE and TARGET were given in the wrong order. It is "" if they were
// not.
func swapped(s sides, source, target content) string {
	if !source.known || !target.legacy || target.newQueue || source.legacy {
		return ""
	}
	is := ""
	switch {
	case source.newQueue:
		is = "a new queue"
	case source.empty:
		is = "empty"
	default:
		return ""
	}
	return fmt.Sprintf("the source %s is %s, and the target %s holds a legacy queue: SOURCE and TARGET are swapped", s.source.text, is, s.target.text)
}

// lookAt finds out what a side holds. It is only used for the text of an error, so it
// returns no error of its own.
func (a *app) lookAt(ctx context.Context, e endpoint, l *legacyFlags) content {
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

// exchanged is the command line of this command, with its first two arguments exchanged.
func (a *app) exchanged() string {
	args := append([]string{}, a.args...)
	args[0], args[1] = args[1], args[0]
	return commandLine(a.name, args, a.typed)
}
