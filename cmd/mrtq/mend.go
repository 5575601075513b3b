package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/layouts"
)

// mender is a target that check mends.
type mender interface {
	Multi(ctx context.Context, ops []znode.Op) error
	ACL(ctx context.Context, path string) ([]znode.ACL, error)
}

// mostRounds is how often check mends and checks again at most. A mend may create a
// folder that another mend needs.
const mostRounds = 5

// mend shows the safe mends of a report. With --yes it commits them.
func (c *checkCmd) mend(ctx context.Context, a *app, l layouts.Layout, e endpoint, report *layout.Report) error {
	fixable := withFix(report)
	if len(fixable) == 0 {
		fmt.Fprintln(a.stdout, "No finding has a safe mend.")
		return broken(report)
	}
	if !c.yes {
		c.showMends(a, fixable)
		return broken(report)
	}
	m, done, err := a.mender(ctx, e)
	if err != nil {
		return failed("check", e.text, err)
	}
	for range mostRounds {
		mended := 0
		for _, f := range fixable {
			ok, err := c.commit(ctx, a, m, f)
			if err != nil {
				return failed("check", e.text, errors.Join(err, done(false)))
			}
			if ok {
				mended++
			}
		}
		if mended == 0 {
			break
		}
		if report, err = c.recheck(ctx, a, l, m, e); err != nil {
			return failed("check", e.text, errors.Join(err, done(false)))
		}
		if fixable = withFix(report); len(fixable) == 0 {
			break
		}
	}
	if err := done(true); err != nil {
		return failed("check", e.text, err)
	}
	fmt.Fprintf(a.stdout, "After mending: %s, %s\n", count(report.Count(layout.Error), "error", "errors"), count(report.Count(layout.Warning), "warning", "warnings"))
	return broken(report)
}

func withFix(r *layout.Report) []layout.Finding {
	var all []layout.Finding
	for _, f := range r.Findings {
		if f.Fix != nil {
			all = append(all, f)
		}
	}
	return all
}

func (c *checkCmd) showMends(a *app, fixable []layout.Finding) {
	var rows [][]any
	for _, f := range fixable {
		var ops []string
		for _, op := range f.Fix.Ops {
			ops = append(ops, op.String())
		}
		rows = append(rows, []any{f.Path, f.Rule, strings.Join(ops, ", ")})
	}
	a.table("What --fix --yes would do, one transaction on each line", []string{"ZNODE", "RULE", "TRANSACTION"}, rows)
}

// commit mends one finding. ok is false if the znodes have changed or are locked.
func (c *checkCmd) commit(ctx context.Context, a *app, m mender, f layout.Finding) (ok bool, err error) {
	ops, err := inherit(ctx, m, f.Fix.Transaction())
	if err == nil {
		err = m.Multi(ctx, ops)
	}
	var op *znode.MultiError
	switch {
	case err == nil:
		fmt.Fprintf(a.stdout, "mended %s (%s)\n", cell(f.Path), f.Rule)
		return true, nil
	case errors.As(err, &op) && f.Fix.IsLock(op.Op):
		a.say("%s is locked, and was not changed", znode.Parent(op.Op.Path))
		return false, nil
	case errors.Is(err, znode.ErrNoNode), errors.As(err, &op) && (errors.Is(err, znode.ErrBadVersion) || errors.Is(err, znode.ErrNodeExists) || errors.Is(err, znode.ErrNotEmpty)):
		a.say("%s has changed since it was checked (%v), and was not mended", f.Path, err)
		return false, nil
	}
	return false, err
}

// mender opens the target to mend. done closes it. If the target is a file, done saves
// the mends if keep is true.
func (a *app) mender(ctx context.Context, e endpoint) (m mender, done func(keep bool) error, err error) {
	if e.file != "" {
		f, err := a.openFileTarget(ctx, e.file, 0)
		if err != nil {
			return nil, nil, err
		}
		return f.tree, func(keep bool) error {
			if !keep {
				f.Close()
				return f.unchanged(errNotMended)
			}
			return f.save(ctx)
		}, nil
	}
	w, err := a.writer(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	return w, func(bool) error {
		w.Close()
		return nil
	}, nil
}

var errNotMended = errors.New("nothing was mended")

// recheck checks the target after mends.
func (c *checkCmd) recheck(ctx context.Context, a *app, l layouts.Layout, m mender, e endpoint) (*layout.Report, error) {
	if tree, ok := m.(*migrate.OfflineTree); ok {
		return c.check(ctx, a, l, tree, e)
	}
	s, err := a.openSource(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return c.check(ctx, a, l, s, e)
}

// inherit gives each created znode the ACL of its parent, so that a client that may
// not read a queue may not read the mended znodes in it.
func inherit(ctx context.Context, m mender, ops []znode.Op) ([]znode.Op, error) {
	made := map[string][]znode.ACL{}
	for i, op := range ops {
		if op.Kind != znode.OpCreate {
			continue
		}
		parent := znode.Parent(op.Path)
		acl, ok := made[parent]
		if !ok {
			var err error
			if acl, err = m.ACL(ctx, parent); err != nil {
				return nil, err
			}
		}
		ops[i].ACL, made[op.Path] = acl, acl
	}
	return ops, nil
}
