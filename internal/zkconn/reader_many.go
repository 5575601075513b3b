package zkconn

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// asks is a kind of question about a znode.
type asks struct {
	op   int32
	says string // its name in messages
	// library asks the same question through the library, to get an error that only
	// the library knows.
	library func(conn *zk.Conn, path string) error
}

var (
	asksNode = asks{opGetData, "get", func(conn *zk.Conn, path string) error {
		_, _, err := conn.Get(path)
		return err
	}}
	asksChildren = asks{opGetChildren, "list", func(conn *zk.Conn, path string) error {
		_, _, err := conn.Children(path)
		return err
	}}
	asksACL = asks{opGetACL, "get the ACL of", func(conn *zk.Conn, path string) error {
		_, _, err := conn.GetACL(path)
		return err
	}}
)

// ask asks one question.
func (r *Reader) ask(ctx context.Context, what asks, path string) (reply, error) {
	answers, err := r.askAll(ctx, what, []string{path})
	if err != nil {
		return reply{}, err
	}
	return answers[0], answers[0].err
}

// askAll asks the same question about many znodes, with as many requests under way as the
// pace allows. An error about one znode is in its answer.
func (r *Reader) askAll(ctx context.Context, what asks, paths []string) ([]reply, error) {
	questions := make([]question, len(paths))
	for i, path := range paths {
		if err := znode.ValidatePath(path); err != nil {
			return nil, err
		}
		questions[i] = question{what.op, r.at.abs(path)}
	}
	answers, err := r.s.askInTurn(ctx, questions)
	if err != nil {
		return nil, &pathError{op: what.says, path: paths[len(answers)], err: apiError(err)}
	}
	for i := range answers {
		a := &answers[i]
		if a.err == nil {
			continue
		}
		var other otherError
		if errors.As(a.err, &other) {
			if err := r.read(ctx, what.says, paths[i], func(abs string) error { return what.library(r.s.conn, abs) }); err != nil {
				a.err = err
				continue
			}
		}
		a.err = &pathError{op: what.says, path: paths[i], err: apiError(a.err)}
	}
	return answers, nil
}

// LookAll is [Reader.Look] for many znodes at once. It leaves out missing ones.
func (r *Reader) LookAll(ctx context.Context, paths []string, acl func(path string) bool) ([]znode.Node, error) {
	answers, err := r.askAll(ctx, asksNode, paths)
	if err != nil {
		return nil, err
	}
	nodes := make([]znode.Node, 0, len(paths))
	var closer []string // the znodes whose ACLs are also read
	for i, a := range answers {
		n := znode.Node{Path: paths[i], Data: a.data, Stat: a.stat}
		if r.marks && errors.Is(a.err, ErrNoAuth) {
			n, a.err = r.Look(ctx, paths[i], false)
		}
		switch {
		case errors.Is(a.err, znode.ErrNoNode):
			continue
		case a.err != nil:
			return nil, a.err
		case n.Unreadable == "" && acl(n.Path):
			closer = append(closer, n.Path)
		}
		nodes = append(nodes, n)
	}
	if len(closer) == 0 {
		return nodes, nil
	}
	return r.withACLs(ctx, nodes, closer)
}

// withACLs reads the ACLs of the named nodes, which are in the order of nodes.
// It leaves out a node that has vanished.
func (r *Reader) withACLs(ctx context.Context, nodes []znode.Node, paths []string) ([]znode.Node, error) {
	answers, err := r.askAll(ctx, asksACL, paths)
	if err != nil {
		return nil, err
	}
	kept := nodes[:0]
	for _, n := range nodes {
		if len(paths) > 0 && n.Path == paths[0] {
			a := answers[0]
			paths, answers = paths[1:], answers[1:]
			if r.marks && errors.Is(a.err, ErrNoAuth) {
				n, a.err = r.Look(ctx, n.Path, true)
				a.acl = n.ACL
			}
			switch n.ACL = a.acl; {
			case errors.Is(a.err, znode.ErrNoNode):
				continue
			case a.err != nil:
				return nil, a.err
			}
		}
		kept = append(kept, n)
	}
	return kept, nil
}

// ChildrenAll is [Reader.Children] for many znodes. It is nil for a missing one.
func (r *Reader) ChildrenAll(ctx context.Context, paths []string) ([][]string, error) {
	answers, err := r.askAll(ctx, asksChildren, paths)
	if err != nil {
		return nil, err
	}
	lists := make([][]string, len(paths))
	for i, a := range answers {
		if a.err != nil && !errors.Is(a.err, znode.ErrNoNode) {
			return nil, a.err
		}
		lists[i] = a.names
	}
	return lists, nil
}
