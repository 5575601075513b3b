package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/internal/sides"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type place struct {
	what string // SOURCE or TARGET
	sides.Place
}

func parsePlace(what, text string) (place, error) {
	p, err := sides.Parse(text)
	if err != nil {
		if _, _, unread := readPlan(text); unread == nil {
			err = fmt.Errorf("this is a saved plan, which migrate takes with --plan %s", advice.Word(text))
		}
		return place{}, exit.Usagef("%s %q: %w", what, text, err)
	}
	return place{what, p}, nil
}

type pair struct{ source, target place }

func parsePair(args []string) (p pair, err error) {
	if p.source, err = parsePlace("SOURCE", args[0]); err == nil {
		p.target, err = parsePlace("TARGET", args[1])
	}
	return p, err
}

func parseTarget(args []string) (pair, error) {
	p, err := parsePlace("TARGET", args[0])
	return pair{target: p}, err
}

func parseSides(args []string) (p pair, err error) {
	if p.target, err = parsePlace("TARGET", args[0]); err == nil && len(args) > 1 {
		p.source, err = parsePlace("SOURCE", args[1])
	}
	return p, err
}

func (p pair) inOneFile() bool { return p.source.File != "" && p.source.File == p.target.File }

func (p place) isServer() bool { return p.File == "" }

func (p place) named() files.Named { return files.Named{By: p.what, Path: p.File} }

// written is the file that a TARGET is kept in, if it is one.
func (p place) written() files.Named { return files.Named{By: p.what, Path: p.File, Regular: true} }

func (a *app) options(p place) (opt migrate.SideOptions, finish func(), err error) {
	what, unit := "connecting to "+p.Text, ""
	if p.isServer() {
		opt.Config, err = a.conn.Config(p.Server)
	} else {
		what, unit = "reading the dump", "znodes"
	}
	opt.Config.Log = a.log
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
	opt.RequireComplete = whole
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
		tree, err := sides.Load(ctx, p.Place, opt)
		if err != nil {
			return nil, nil, p.openError(err)
		}
		return func(yield func(znode.Node, error) bool) {
			for n := range tree.All("/") {
				if !yield(*n, context.Cause(ctx)) {
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
	return side.MarkUnreadable().WithACLs().Walk(ctx, "/"), side.Close, nil
}

func (a *app) openWritable(ctx context.Context, p place, packet int) (*migrate.WritableSide, error) {
	opt, finish, err := a.options(p)
	defer finish()
	if err != nil {
		return nil, err
	}
	opt.MaxBuffer = packet
	side, err := migrate.OpenWritableSide(ctx, p.Text, opt)
	if errors.Is(err, migrate.ErrPlace) {
		return nil, exit.With(exit.Usage, err)
	}
	return side, p.openError(err)
}

func (p place) openError(err error) error {
	if err == nil || p.isServer() {
		return err
	}
	if unread := files.Unread(p.Text, err); exit.Is(unread, exit.Usage) {
		return unread
	}
	return err
}

// onTarget calls do with a target that is there and can be written. If that is a dump, the
// file is replaced at the end, unless do fails: then it does not change.
func (a *app) onTarget(ctx context.Context, p place, do func(*migrate.WritableSide) error) error {
	if err := p.isThere(); err != nil {
		return err
	}
	return a.onTargetOrNew(ctx, p, 0, do)
}

// isThere returns why a file can't be read; nil for a server.
func (p place) isThere() error {
	if p.File == "" {
		return nil
	}
	_, err := os.Stat(p.File)
	return p.openError(err)
}

// errUnchanged says that nothing was written to a target. Then a file is not written either,
// not even with the same content.
var errUnchanged = errors.New("nothing was written")

// onTargetOrNew is onTarget for a target that need not be there. If do returns errUnchanged, that is no error.
func (a *app) onTargetOrNew(ctx context.Context, p place, packet int, do func(*migrate.WritableSide) error) error {
	w, err := a.openWritable(ctx, p, packet)
	if err != nil {
		return err
	}
	defer w.Close()
	err = do(w)
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case err == nil:
		err = w.Commit(ctx)
	}
	if err != nil && p.File != "" {
		return &unchangedError{err, p.File}
	}
	return err
}

// swapped is a usage error if TARGET holds a legacy queue, else nil. It is only asked for if
// SOURCE holds none, so it returns no error of its own.
func (a *app) swapped(ctx context.Context, s pair, queues migration.Queues) error {
	side, err := a.open(ctx, s.target, false)
	if err != nil {
		return nil
	}
	defer side.Close()
	if _, err := migrate.OpenSource(ctx, side.Reader, queues, legacy.Options{}); err != nil {
		return nil
	}
	return exit.Usagef("SOURCE %s holds no legacy queue, and TARGET %s holds one: they may be swapped; nothing was written", s.source.Text, s.target.Text)
}
