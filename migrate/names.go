package migrate

import (
	"iter"
	"strconv"
	"strings"
)

// ref stands for a path or a name in a row. Nearly everything in a queue is named by one
// of a few stems and a number. So a ref is eight bytes and has no pointer. The zero ref is
// the empty name.
type ref struct {
	stem   int32 // index into names.stems; see whole
	number int32
}

// whole reports whether the ref stands for a name that does not end in a number as
// ZooKeeper writes it. Such a name is kept whole, and stem is its negative index.
func (r ref) whole() bool { return r.stem <= 0 }

// names has the names that refs stand for. It is not safe for concurrent use while names
// are added.
type names struct {
	stems  []string // the first is not used
	wholes []string
	stem   map[string]int32
	index  map[string]int32 // of wholes
}

func newNames() *names {
	return &names{stems: []string{""}, wholes: []string{""}, stem: map[string]int32{}, index: map[string]int32{"": 0}}
}

// ref returns the ref of a name, and adds the name if it is new.
func (t *names) ref(name string) ref {
	if stem, n, ok := canonical(name); ok {
		i, known := t.stem[stem]
		if !known {
			i = int32(len(t.stems))
			stem = strings.Clone(stem) // don't keep the whole name
			t.stem[stem], t.stems = i, append(t.stems, stem)
		}
		return ref{i, n}
	}
	i, known := t.index[name]
	if !known {
		i = int32(len(t.wholes))
		name = strings.Clone(name)
		t.index[name], t.wholes = i, append(t.wholes, name)
	}
	return ref{-i, 0}
}

// find returns the ref of a name. known is false if no row can have it, because its stem
// was never added.
func (t *names) find(name string) (r ref, known bool) {
	if stem, n, ok := canonical(name); ok {
		i, known := t.stem[stem]
		return ref{i, n}, known
	}
	i, known := t.index[name]
	return ref{-i, 0}, known
}

// text is the name that a ref stands for.
func (t *names) text(r ref) string {
	if r.whole() {
		return t.wholes[-r.stem]
	}
	return string(appendNumbered(nil, t.stems[r.stem], r.number))
}

// texts yields the names that refs stand for. Another goroutine may add names meanwhile.
func (t *names) texts(refs []ref) iter.Seq[string] {
	known := names{stems: t.stems, wholes: t.wholes}
	return func(yield func(string) bool) {
		for _, r := range refs {
			if !yield(known.text(r)) {
				return
			}
		}
	}
}

// compare compares refs by the names that they stand for, byte by byte.
func (t *names) compare(a, b ref) int {
	switch {
	case a == b:
		return 0
	case a.stem == b.stem && a.number >= 0 && b.number >= 0:
		return int(a.number) - int(b.number)
	}
	if !a.whole() && !b.whole() && a.stem != b.stem {
		x, y := t.stems[a.stem], t.stems[b.stem]
		if !strings.HasPrefix(x, y) && !strings.HasPrefix(y, x) {
			return strings.Compare(x, y)
		}
	}
	return strings.Compare(t.text(a), t.text(b))
}

// canonical splits a name. ok is false if the number is not written as ZooKeeper does.
func canonical(name string) (stem string, n int32, ok bool) {
	stem, number, err := numbered(name)
	if err != nil {
		return "", 0, false
	}
	var room [16]byte
	back := appendNumbered(room[:0], "", int32(number))
	return stem, int32(number), string(back) == name[len(stem):]
}

// appendNumbered adds a stem and a number as ZooKeeper's %010d writes it.
func appendNumbered(b []byte, stem string, n int32) []byte {
	b = append(b, stem...)
	width := sequenceDigits
	m := int64(n)
	if m < 0 {
		b, m, width = append(b, '-'), -m, width-1
	}
	var room [sequenceDigits]byte
	digits := strconv.AppendInt(room[:0], m, 10)
	for range width - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}
