package offline

import (
	"bytes"
	"slices"
	"strings"
)

// merged reads several layers at once, in path order. If several layers have the same
// path, the newest one's entry is used.
type merged struct {
	layers []layer // by their current path, newer ones first; without those at their end
	all    []layer
}

// layer is a cursor of a run, or the changes in memory.
type layer interface {
	// seek moves to the first entry whose path is key or comes after it.
	seek(key string) error
	next() error
	// present is the current path, nil at the end.
	present() []byte
	// load returns the current entry.
	load() (entry, error)
	// age orders layers. The newest has the smallest age.
	age() int
}

// runLayer is a cursor as a layer.
type runLayer struct {
	*cursor
	order int // its age
}

func (a runLayer) age() int { return a.order }

func (a runLayer) present() []byte {
	if !a.ok {
		return nil
	}
	return a.path
}

func (a runLayer) load() (entry, error) {
	s, gone, err := parseBody(a.body)
	return entry{string(a.path), gone, s}, err
}

// list has entries in path order, as the newest layer.
type list struct {
	entries []entry
	i       int
	path    []byte
}

func (l *list) age() int { return -1 }

func (l *list) set(i int) error {
	l.i, l.path = i, l.path[:0]
	if i < len(l.entries) {
		l.path = append(l.path, l.entries[i].path...)
	}
	return nil
}

func (l *list) seek(key string) error {
	i, _ := slices.BinarySearchFunc(l.entries, key, func(e entry, key string) int { return strings.Compare(e.path, key) })
	return l.set(i)
}

func (l *list) next() error { return l.set(l.i + 1) }

func (l *list) present() []byte {
	if l.i >= len(l.entries) {
		return nil
	}
	return l.path
}

func (l *list) load() (entry, error) { return l.entries[l.i], nil }

func newMerged(layers []layer) *merged { return &merged{all: layers} }

// seek moves to the first path that is key or comes after it.
func (m *merged) seek(key string) error {
	m.layers = m.layers[:0]
	for _, l := range m.all {
		if err := l.seek(key); err != nil {
			return err
		}
		if l.present() != nil {
			m.layers = append(m.layers, l)
		}
	}
	slices.SortFunc(m.layers, before)
	return nil
}

func before(a, b layer) int {
	if c := bytes.Compare(a.present(), b.present()); c != 0 {
		return c
	}
	return a.age() - b.age()
}

// path is the current path, nil at the end. It is valid until the next move.
func (m *merged) path() []byte {
	if len(m.layers) == 0 {
		return nil
	}
	return m.layers[0].present()
}

// load returns the newest entry of the current path.
func (m *merged) load() (entry, error) { return m.layers[0].load() }

// next moves to the next path.
func (m *merged) next() error {
	for n := m.same(); n > 0; n-- {
		if err := m.advance(n - 1); err != nil {
			return err
		}
	}
	return nil
}

// same is how many layers have the current path.
func (m *merged) same() int {
	n := 1
	for n < len(m.layers) && bytes.Equal(m.layers[n].present(), m.layers[0].present()) {
		n++
	}
	return n
}

// advance moves one layer to its next entry, and to its new place in layers.
func (m *merged) advance(i int) error {
	l := m.layers[i]
	if err := l.next(); err != nil {
		return err
	}
	if l.present() == nil {
		m.layers = slices.Delete(m.layers, i, i+1)
		return nil
	}
	for ; i+1 < len(m.layers) && before(l, m.layers[i+1]) > 0; i++ {
		m.layers[i] = m.layers[i+1]
	}
	m.layers[i] = l
	return nil
}
