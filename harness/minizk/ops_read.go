package minizk

import (
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/ztree"
)

func (r *request) watcher() ztree.Watcher {
	if r.Watch {
		return r.c
	}
	return nil
}

func (s *Server) exists(r *request) error {
	stat, err := s.db.Exists(r.Path, r.watcher())
	if err == nil {
		r.body = jute.AppendStat(r.body, &stat)
	}
	return err
}

func (s *Server) getData(r *request) error {
	data, stat, err := s.db.GetData(r.c.caller(), r.Path, r.watcher())
	if err == nil {
		r.body = jute.AppendStat(jute.AppendBuffer(r.body, data), &stat)
	}
	return err
}

func (s *Server) getChildren(r *request) error {
	body, stat, err := s.db.AppendChildren(r.body, r.c.caller(), r.Path, r.watcher())
	if err != nil {
		return err
	}
	if r.Op == jute.OpGetChildren2 {
		body = jute.AppendStat(body, &stat)
	}
	r.body = body
	return nil
}

func (s *Server) getAllChildrenNumber(r *request) error {
	n, err := s.db.Descendants(r.c.caller(), r.Path)
	if err == nil {
		r.body = jute.AppendInt(r.body, int32(n))
	}
	return err
}

// getEphemerals lists the session's own nodes whose paths begin with a prefix. The
// prefix may end inside a name.
func (s *Server) getEphemerals(r *request) error {
	paths := s.db.EphemeralsOf(r.c.session.id)
	if trimmed := strings.TrimSpace(r.Path); trimmed != "" && trimmed != "/" {
		kept := paths[:0]
		for _, p := range paths {
			if strings.HasPrefix(p, r.Path) {
				kept = append(kept, p)
			}
		}
		paths = kept
	}
	r.body = jute.AppendStrings(r.body, paths)
	return nil
}

func (s *Server) getACL(r *request) error {
	acls, stat, err := s.db.GetACL(r.c.caller(), r.Path)
	if err == nil {
		r.body = jute.AppendStat(jute.AppendACLs(r.body, acls), &stat)
	}
	return err
}

func (s *Server) multiRead(r *request) error {
	if len(r.Ops) > 0 && r.Ops[0].Op != jute.OpGetData && r.Ops[0].Op != jute.OpGetChildren {
		r.body = jute.AppendMultiEnd(r.body)
		return jute.MarshallingError
	}
	r.body = jute.AppendMultiEnd(s.db.AppendMultiRead(r.body, r.c.caller(), r.Ops))
	return nil
}

// sync waits for nothing, because a single server is never behind. Any path works.
func (s *Server) sync(r *request) error {
	r.body = jute.AppendString(r.body, r.Path)
	return nil
}

func (s *Server) setWatches(r *request) error {
	s.db.SetWatches(&r.Request, r.c)
	return nil
}

// addWatch answers with a record that is an error code, and always 0.
func (s *Server) addWatch(r *request) error {
	err := s.db.AddWatch(&r.Request, r.c)
	if err == nil {
		r.body = jute.AppendInt(r.body, 0)
	}
	return err
}

func (s *Server) checkWatches(r *request) error { return s.db.CheckWatch(&r.Request) }

func (s *Server) removeWatches(r *request) error { return s.db.RemoveWatch(&r.Request, r.c) }
