package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"syscall"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

// place is a SOURCE or TARGET as given on the command line.
type place struct {
	what string // SOURCE or TARGET
	sides.Place
}

// parsePlace parses an argument. A TARGET can't be a data directory.
func parsePlace(what, text string) (place, error) {
	p, err := parseReadable(what, text)
	if err == nil && p.Data != nil && what != "SOURCE" {
		return p, exit.Usagef("%s %q: %w", what, text, sides.ErrReadOnly)
	}
	return p, err
}

// parseReadable parses an argument that the command only reads. So it can be a data
// directory.
func parseReadable(what, text string) (place, error) {
	p, err := sides.Parse(text)
	if err != nil {
		return place{}, exit.Usagef("%s %q: %w", what, text, err)
	}
	return place{what, p}, nil
}

// pair is a command's SOURCE and TARGET.
type pair struct{ source, target place }

func parsePair(args []string) (p pair, err error) {
	if p.source, err = parsePlace("SOURCE", args[0]); err == nil {
		p.target, err = parsePlace("TARGET", args[1])
	}
	return p, err
}

// parseSides parses the arguments TARGET [SOURCE].
func parseSides(args []string) (p pair, err error) {
	if p.target, err = parsePlace("TARGET", args[0]); err == nil && len(args) > 1 {
		p.source, err = parsePlace("SOURCE", args[1])
	}
	return p, err
}

// isServer reports whether a place is a server.
func (p place) isServer() bool { return p.File == "" && p.Data == nil }

// named is the file or the folders of a place. Path is "" if it is no file.
func (p place) named() files.Named {
	n := files.Named{By: p.what, Path: p.File}
	if p.Data != nil {
		n.Folders = p.Data.Dirs()
	}
	return n
}

// written is the file that a TARGET is kept in, if it is one.
func (p place) written() files.Named { return files.Named{By: p.what, Path: p.File, Kept: true} }

// options say how to open a place. finish ends the meter's step.
func (a *app) options(p place) (opt migrate.SideOptions, finish func(), err error) {
	what, unit := "connecting to "+p.Text, ""
	switch {
	case p.Data != nil:
		what, unit = "reading the data directory", "znodes"
	case p.File != "":
		what, unit = "reading the dump", "znodes"
	}
	if p.isServer() {
		opt.Config, err = a.connConfig(p.Server)
	}
	opt.Config.Log = a.log
	opt.Say = func(news string) {
		if news != a.asOf { // a command may read it twice
			a.asOf = news
			a.Say("%s", news)
		}
	}
	show, finish := a.Progress(what, unit)
	opt.Progress = func(n int) { show(n, 0) }
	return opt, finish, err
}

// open opens a place for reading. If whole is set, a dump in which znodes are marked as
// unreadable is refused.
func (a *app) open(ctx context.Context, p place, whole bool) (*migrate.Side, error) {
	opt, finish, err := a.options(p)
	defer finish()
	if err != nil {
		return nil, err
	}
	opt.Whole = whole
	side, err := migrate.OpenSide(ctx, p.Text, opt)
	return side, p.openError(err)
}

// znodes yields all znodes of a place in path order, with their ACLs. One that may not be read
// is marked as unreadable. A file's tree is read without a session, so that all of it is there.
func (a *app) znodes(ctx context.Context, p place) (all iter.Seq2[znode.Node, error], done func(), err error) {
	if !p.isServer() {
		opt, finish, err := a.options(p)
		defer finish()
		if err != nil {
			return nil, nil, err
		}
		nodes, err := sides.Nodes(ctx, p.Place, opt)
		if err != nil {
			return nil, nil, p.openError(err)
		}
		return func(yield func(znode.Node, error) bool) {
			for n := range nodes {
				if !yield(n, context.Cause(ctx)) {
					return
				}
			}
		}, func() {}, nil
	}
	side, err := a.open(ctx, p, false)
	if err != nil {
		return nil, nil, err
	}
	if _, there, err := side.Exists(ctx, "/"); err == nil && !there {
		side.Close()
		return nil, nil, fmt.Errorf("the chroot %s is not there", p.Server.Chroot)
	}
	return side.MarkUnreadable().WithACLs(zkconn.AllACLs).Walk(ctx, "/"), side.Close, nil
}

// openWritable opens a place for writing. adds is what the caller is going to create.
func (a *app) openWritable(ctx context.Context, p place, packet int, adds sides.Forecast) (*migrate.WritableSide, error) {
	opt, finish, err := a.options(p)
	defer finish()
	if err != nil {
		return nil, err
	}
	opt.Packet, opt.Adds = packet, adds
	side, err := migrate.OpenWritableSide(ctx, p.Text, opt)
	return side, p.openError(err)
}

// openError adds what to do if a place could not be opened.
func (p place) openError(err error) error {
	switch {
	case err == nil:
		return nil
	case p.Data != nil:
		return cmp.Or(files.MissingFolder(p.Text, p.Data.Dirs(), err), err)
	case p.File == "":
		return err
	}
	next := files.MakeDump
	if p.what == "TARGET" {
		next = files.MakeTarget
	}
	if errors.Is(err, syscall.EISDIR) {
		next = "a server's data directory is snapshot:" + p.File
	}
	return cmp.Or(files.Missing(p.Text, p.File, err, next), files.Unnamed(err))
}

// onTarget calls do with a target that is there and can be written. If that is a dump, the
// file is replaced at the end, unless do fails: then it does not change.
func (a *app) onTarget(ctx context.Context, p place, do func(*migrate.WritableSide) error) error {
	if p.File != "" {
		if _, err := os.Stat(p.File); err != nil {
			return p.openError(err)
		}
	}
	return a.onTargetOrNew(ctx, p, 0, sides.Forecast{}, do)
}

// errUnchanged says that nothing was written to a target. Then a file is not written either,
// not even with the same content.
var errUnchanged = errors.New("nothing was written")

// onTargetOrNew is onTarget for a target that need not be there. adds is what is going to be
// created. If do returns errUnchanged, that is no error.
func (a *app) onTargetOrNew(ctx context.Context, p place, packet int, adds sides.Forecast, do func(*migrate.WritableSide) error) error {
	w, err := a.openWritable(ctx, p, packet, adds)
	if err != nil {
		return err
	}
	defer w.Close()
	err = do(w)
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case err == nil:
		err = files.Unnamed(w.Commit(ctx))
	}
	if err != nil && p.File != "" {
		return &unchangedError{err, p.File}
	}
	return err
}

// exchanged is a usage error if SOURCE and TARGET were exchanged, else nil. It is only asked
// for after another error, so it returns none of its own.
func (a *app) exchanged(ctx context.Context, s pair, queues migrate.Queues) error {
	source, known := a.lookAt(ctx, s.source, queues)
	target, _ := a.lookAt(ctx, s.target, queues)
	if !known || !target.Legacy || target.NewQueue || source.Legacy || !source.NewQueue && !source.Empty {
		return nil
	}
	is, so := "a new queue", "SOURCE and TARGET are swapped"
	if !source.NewQueue {
		is, so = "empty", "SOURCE and TARGET are swapped, or SOURCE is mistyped"
	}
	return exit.Usagef("the source %s is %s, and the target %s holds a legacy queue: %s; nothing was written. Next: %s",
		s.source.Text, is, s.target.Text, so, a.advice.Exchanged())
}

// isSource is a usage error if a command that takes a TARGET got what looks like the
// SOURCE, else nil.
func (a *app) isSource(ctx context.Context, p place) error {
	c, _ := a.lookAt(ctx, p, migrate.DefaultQueues())
	if !c.Legacy || c.NewQueue {
		return nil
	}
	return exit.Usagef("%s holds a legacy queue and no new one, so it looks like the SOURCE, and mrtq %s takes the TARGET; nothing was written. Next: %s",
		p.Text, a.advice.Name, a.advice.At(cmp.Or(queueBelow(p, &migrate.NoQueue{Queues: c.Below}), "TARGET")))
}

// queueBelow is the address of the new queue below a place without one; "" if there is none,
// or several.
func queueBelow(p place, found *migrate.NoQueue) string {
	if found == nil || len(found.Queues) != 1 || !p.isServer() {
		return ""
	}
	return zkconn.Address{Servers: p.Server.Servers, Chroot: p.Server.Chroot + "/" + found.Queues[0]}.String()
}

func (a *app) lookAt(ctx context.Context, p place, queues migrate.Queues) (c migrate.Content, known bool) {
	side, err := a.open(ctx, p, false)
	if err != nil {
		return c, false
	}
	defer side.Close()
	c, err = migrate.LookAt(ctx, side.MarkUnreadable(), queues)
	return c, err == nil
}

// noQueueAt says that no new queue is at a place, and what is there instead.
func noQueueAt(text string, found *migrate.NoQueue) string {
	p, _ := sides.Parse(text)
	says := "there is no new queue at " + text + ": "
	switch {
	case found.Missing && p.Server.Chroot != "":
		says += p.Server.Chroot + " is not there"
	case len(found.Znodes) == 0:
		says += "nothing is there"
	default:
		says += "it holds " + someOf(found.Znodes)
	}
	if len(found.Legacy) > 0 {
		says += fmt.Sprintf("; legacy records are in %s, so it may be the SOURCE", someOf(found.Legacy))
	}
	if len(found.Queues) > 0 {
		says += fmt.Sprintf("; a new queue is below it, in %s", someOf(found.Queues))
	}
	return says
}

// someOf lists the first names, and counts the others.
func someOf(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}
