package zkserver

import (
	"bytes"

	"mrtq/internal/jute"
)

// The operations that change the tree. Each takes a zxid before anything else, so a refused change
// uses up a zxid, too. Each copies the data that the tree keeps, because the request's memory is
// reused.

func (s *Server) create(r *request) error {
	tx := s.nextTx()
	r.create.Data = bytes.Clone(r.create.Data)
	path, stat, err := s.tree.Create(tx, r.c.caller(), r.op, r.create)
	if err != nil {
		return err
	}
	r.body = jute.AppendString(r.body, path)
	if r.op != jute.OpCreate {
		r.body = jute.AppendStat(r.body, &stat)
	}
	return nil
}

func (s *Server) delete(r *request) error {
	return s.tree.Delete(s.nextTx(), r.c.caller(), r.version)
}

// deleteContainer is an operation that a real server sends to itself. From a client it never
// succeeds: the server reads the whole packet as the path, so the path has a zero byte.
func (s *Server) deleteContainer(*request) error {
	s.nextTx()
	return jute.BadArguments
}

func (s *Server) setData(r *request) error {
	tx := s.nextTx()
	r.set.Data = bytes.Clone(r.set.Data)
	stat, err := s.tree.SetData(tx, r.c.caller(), r.set)
	if err == nil {
		r.body = jute.AppendStat(r.body, &stat)
	}
	return err
}

func (s *Server) setACL(r *request) error {
	s.nextTx()
	stat, err := s.tree.SetACL(r.c.caller(), r.setACL)
	if err == nil {
		r.body = jute.AppendStat(r.body, &stat)
	}
	return err
}

// check outside a multi is something that no client sends. If the version is right, the real
// server does not answer at all: it has no Stat to answer with, and fails.
func (s *Server) check(r *request) error {
	s.nextTx()
	err := s.tree.Check(r.c.caller(), r.version)
	r.noReply = err == nil
	return err
}

// multi answers OK in the header even if it failed: the results say what happened. If an operation
// has a null path, the server fails before there is a transaction. Then the zxid is used up, but
// the reply does not show it.
func (s *Server) multi(r *request) error {
	if firstNull(r.ops) < len(r.ops) {
		s.skipped++
		r.body = jute.AppendMultiEnd(r.body)
		return jute.MarshallingError
	}
	tx := s.nextTx()
	for i := range r.ops {
		o := &r.ops[i]
		o.Create.Data = bytes.Clone(o.Create.Data)
		o.Set.Data = bytes.Clone(o.Set.Data)
	}
	results, err := s.tree.Multi(tx, r.c.caller(), r.ops)
	if err == nil {
		r.body = jute.AppendMultiResults(r.body, results)
	}
	return err
}

// firstNull returns the index of the first operation with a null path, or len(ops).
func firstNull(ops []jute.MultiOp) int {
	for i := range ops {
		if ops[i].NullPath() {
			return i
		}
	}
	return len(ops)
}

// reconfig is for ensembles, and is off by default even there.
func (s *Server) reconfig(*request) error {
	s.nextTx()
	return jute.ReconfigDisabled
}
