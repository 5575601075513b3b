package zkserver

import (
	"mrtq/internal/jute"
)

func (s *Server) setWatches(r *request) error {
	return s.tree.SetWatches(r.op, r.watches, r.c)
}

// addWatch answers with a record that is an error code, and always 0.
func (s *Server) addWatch(r *request) error {
	if err := s.tree.AddWatch(r.pathInt, r.c); err != nil {
		return err
	}
	r.body = jute.AppendInt(r.body, 0)
	return nil
}

func (s *Server) checkWatches(r *request) error {
	return s.tree.CheckWatch(r.pathInt)
}

func (s *Server) removeWatches(r *request) error {
	return s.tree.RemoveWatch(r.pathInt, r.c)
}
