package minizk

import (
	"bytes"
	"cmp"

	"mrtq/internal/jute"
)

// The operations that change the tree. Each takes a zxid before anything else, so a refused change
// uses up a zxid, too. Each copies the data that the tree keeps, because the request's memory is
// reused.

// change does one change. A check outside a multi is something that no client sends. If its version is
// right, the real server does not answer at all: it has no Stat to answer with, and fails.
func (s *Server) change(r *request) error {
	tx := s.nextTx()
	r.Data = bytes.Clone(r.Data)
	res, err := s.db.Do(tx, r.c.caller(), &r.Request)
	if err != nil {
		return err
	}
	r.body = jute.AppendResult(r.body, &res)
	r.noReply = r.Op == jute.OpCheck
	return nil
}

// deleteContainer is an operation that a real server sends to itself. From a client it never
// succeeds: the server reads the whole packet as the path, so the path has a zero byte.
func (s *Server) deleteContainer(*request) error {
	s.nextTx()
	return jute.BadArguments
}

// multi answers OK in the header even if it failed: the results say what happened.
func (s *Server) multi(r *request) error {
	tx := s.nextTx()
	for i := range r.Ops {
		r.Ops[i].Data = bytes.Clone(r.Ops[i].Data)
	}
	results, err := s.db.Multi(tx, r.c.caller(), r.Ops)
	if err != nil {
		return err
	}
	for i := range results {
		r.refused = cmp.Or(r.refused, results[i].Err)
		r.body = jute.AppendMultiResult(r.body, &results[i])
	}
	r.body = jute.AppendMultiEnd(r.body)
	return nil
}

// reconfig is for ensembles, and is off by default even there.
func (s *Server) reconfig(*request) error {
	s.nextTx()
	return jute.ReconfigDisabled
}
