package daemons

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Mirror remembers what a queue's workers read and write, so that what has not changed is read
// from the server once. Without it, workers that list a folder of 20,000 jobs before each step
// would take hours. All who change the queue while the mirror is used must do so through it.
// What a Stat says of a znode's children may be old: no worker of a migrated queue looks at that.
type Mirror struct {
	mu       sync.Mutex          // of the requests: a worker sends several at once
	nodes    map[string]*known   // nil for one that is not there
	children map[string][]string // sorted
	// HeldByOthers says that people may set and lift holds while the mirror is used.
	HeldByOthers bool
}

type known struct {
	data []byte
	stat zk.Stat
}

// NewMirror returns a mirror that knows nothing yet.
func NewMirror() *Mirror {
	m := &Mirror{}
	m.Forget()
	return m
}

// Forget forgets everything, because others may have changed the queue.
func (m *Mirror) Forget() {
	m.nodes, m.children = map[string]*known{}, map[string][]string{}
}

// passes reports whether a path is always read from the server: that of a hold or lock, if people may
// set holds meanwhile.
func (m *Mirror) passes(path string) bool {
	return m.HeldByOthers && strings.Contains(path, newqueue.LocksPath+"/")
}

// mirrored is a session with the server that reads through a mirror.
type mirrored struct {
	Session
	*Mirror
	ephemerals map[string]bool // that the session has made, and that end with it
}

// Site returns a queue whose sessions read through the mirror. connect opens one.
func (m *Mirror) Site(root string, connect func() (Session, error)) Site {
	return Site{Root: root, Connect: func() (Session, error) {
		s, err := connect()
		if err != nil {
			return nil, err
		}
		return &mirrored{Session: s, Mirror: m, ephemerals: map[string]bool{}}, nil
	}}
}

// Close ends the session, and its ephemeral znodes with it.
func (s *mirrored) Close() {
	s.Session.Close()
	for path := range maps.Keys(s.ephemerals) {
		s.removed(path)
	}
}

func (s *mirrored) Get(path string) ([]byte, *zk.Stat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.nodes[path]
	if !ok || s.passes(path) {
		data, stat, err := s.Session.Get(path)
		switch {
		case err == nil:
			n = &known{data, *stat}
		case !errors.Is(err, zk.ErrNoNode):
			return nil, nil, err
		}
		s.nodes[path] = n
	}
	if n == nil {
		return nil, nil, zk.ErrNoNode
	}
	stat := n.stat
	return slices.Clone(n.data), &stat, nil
}

// Exists reads the data, too: most workers want it next.
func (s *mirrored) Exists(path string) (bool, *zk.Stat, error) {
	_, stat, err := s.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return false, &zk.Stat{}, nil
	}
	return err == nil, stat, err
}

// Children is that of the session, and sorts the names. The Stat is empty.
func (s *mirrored) Children(path string) ([]string, *zk.Stat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, ok := s.children[path]
	if !ok || s.passes(path) {
		var err error
		if names, _, err = s.Session.Children(path); err != nil {
			return nil, nil, err
		}
		slices.Sort(names)
		s.children[path] = names
	}
	return slices.Clone(names), &zk.Stat{}, nil
}

func (s *mirrored) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made, err := s.Session.Create(path, data, flags, acl)
	s.done(err, path)
	if err == nil {
		s.created(made, flags)
	}
	return made, err
}

func (s *mirrored) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stat, err := s.Session.Set(path, data, version)
	s.done(err, path)
	if err == nil {
		s.nodes[path] = &known{slices.Clone(data), *stat}
	}
	return stat, err
}

func (s *mirrored) Delete(path string, version int32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.Session.Delete(path, version)
	s.done(err, path)
	if err == nil {
		s.removed(path)
	}
	return err
}

func (s *mirrored) Multi(ops ...any) ([]zk.MultiResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, err := s.Session.Multi(ops...)
	for i, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			if s.done(err, op.Path); err == nil {
				s.created(answers[i].String, op.Flags)
			}
		case *zk.DeleteRequest:
			if s.done(err, op.Path); err == nil {
				s.removed(op.Path)
			}
		case *zk.SetDataRequest:
			s.done(err, op.Path)
		default: // a check changes nothing
		}
	}
	return answers, err
}

// done forgets a znode that was changed, or that is not what the mirror knows. A lost session
// may have changed anything.
func (m *Mirror) done(err error, path string) {
	if err != nil {
		delete(m.children, znode.Parent(path))
	}
	delete(m.nodes, path)
	if err != nil && !slices.ContainsFunc([]error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion}, func(e error) bool { return errors.Is(err, e) }) {
		m.Forget()
	}
}

func (s *mirrored) created(path string, flags int32) {
	delete(s.nodes, path)
	s.children[path] = []string{}
	if flags&zk.FlagEphemeral != 0 {
		s.ephemerals[path] = true
	}
	parent, name := znode.Parent(path), znode.Name(path)
	if names, listed := s.children[parent]; listed {
		if i, there := slices.BinarySearch(names, name); !there {
			s.children[parent] = slices.Insert(names, i, strings.Clone(name))
		}
	}
}

func (m *Mirror) removed(path string) {
	m.nodes[path] = nil
	delete(m.children, path)
	parent, name := znode.Parent(path), znode.Name(path)
	if names, listed := m.children[parent]; listed {
		if i, there := slices.BinarySearch(names, name); there {
			m.children[parent] = slices.Delete(names, i, i+1)
		}
	}
}
