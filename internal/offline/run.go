package offline

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sort"

	"mrtq/internal/openfile"
	"mrtq/internal/znode"
)

// run is a layer on disk: entries in path order, written once. Memory holds a filter,
// and the paths at which its blocks begin.
type run struct {
	file   *os.File // a temporary file, see openfile.Temporary
	size   int64
	count  int
	blocks []block
	filter filter // the paths, and their parents
	// filtered is how many paths were added to the filter, some of them twice.
	filtered int
	level    int    // how often its entries have been merged
	at       cursor // for single lookups
}

// block is where a block of a run begins, and the path of its first entry.
type block struct {
	path   string
	offset int64
}

// defaultBlock is the minimum number of bytes in a block. To find one entry, about
// that many must be read.
const defaultBlock = 16 << 10

// runWriter writes a run, entry by entry in path order.
type runWriter struct {
	run   *run
	w     *bufio.Writer
	block int
	buf   []byte
	path  []byte
	above []string // the last path's parents that the filter has, topmost first
	err   error
}

// newRun begins a run in a temporary file. Its filter has room for this many paths.
func newRun(dir, name string, paths, block int) (*runWriter, error) {
	f, err := openfile.Temporary(dir, "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	r := &run{file: f, filter: newFilter(paths)}
	return &runWriter{run: r, w: bufio.NewWriterSize(f, 1<<16), block: block}, nil
}

func (w *runWriter) add(e *entry) {
	if w.err != nil {
		return
	}
	w.buf = appendEntry(w.buf[:0], e)
	w.path = append(w.path[:0], e.path...)
	w.addEncoded(w.path, w.buf)
}

// addEncoded adds an entry that is already encoded.
func (w *runWriter) addEncoded(path, text []byte) {
	r := w.run
	if n := len(r.blocks); n == 0 || r.size-r.blocks[n-1].offset >= int64(w.block) {
		r.blocks = append(r.blocks, block{string(path), r.size})
	}
	w.filter(hashOfBytes(path))
	w.filterAbove(path)
	r.size += int64(len(text))
	r.count++
	if _, err := w.w.Write(text); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *runWriter) filter(hash uint64) {
	w.run.filter.add(hash)
	w.run.filtered++
}

// filterAbove adds the parents of a path to the filter. So if the root of a subtree is
// not in the filter, the run has nothing of the subtree.
func (w *runWriter) filterAbove(path []byte) {
	parent := path[:max(bytes.LastIndexByte(path, '/'), 1)]
	if n := len(w.above); n > 0 && string(parent) == w.above[n-1] || len(path) == 1 {
		return // nearly always
	}
	for len(w.above) > 0 && !znode.Within(string(parent), w.above[len(w.above)-1]) {
		w.above = w.above[:len(w.above)-1]
	}
	from := len(w.above)
	for p := string(parent); p != "" && (from == 0 || p != w.above[from-1]); p = znode.Parent(p) {
		w.filter(hashOf(p))
		if len(w.above) == from {
			w.above = append(w.above, p) // if the filter has this one, it has all above it
		}
	}
}

// finish ends the writing, and returns the run.
func (w *runWriter) finish() (*run, error) {
	if err := w.w.Flush(); err != nil && w.err == nil {
		w.err = err
	}
	if w.err != nil {
		w.run.close()
		return nil, w.err
	}
	w.run.at = cursor{run: w.run}
	return w.run, nil
}

func (r *run) close() { r.file.Close() }

// get finds the entry of a path. It is not safe for concurrent use.
func (r *run) get(path string, hash uint64) (s state, gone, ok bool, err error) {
	if !r.filter.has(hash) {
		return state{}, false, false, nil
	}
	if err = r.at.seek(path); err != nil || !r.at.ok || string(r.at.path) != path {
		return state{}, false, false, err
	}
	s, gone, err = parseBody(r.at.body)
	return s, gone, err == nil, err
}

// cursor is at one entry of a run, or at its end.
type cursor struct {
	run  *run
	kept [keptBlocks]keptBlock
	uses int
	now  int // the index of the current block in kept
	rest []byte
	path []byte
	body []byte
	text []byte // of the whole entry
	ok   bool
}

// keptBlock is a block in memory.
type keptBlock struct {
	index int // from 1; 0 is none
	bytes []byte
	used  int
}

// keptBlocks is how many blocks a cursor keeps. A few are enough, because a migration
// works at a few places of the tree at a time.
const keptBlocks = 6

// seek moves to the first entry whose path is key or comes after it.
func (c *cursor) seek(key string) error {
	blocks := c.run.blocks
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].path > key }) // from 1, as in kept
	i = max(i, 1)
	forward := c.ok && c.kept[c.now].index == i && string(c.path) <= key
	if !forward {
		if err := c.open(i); err != nil {
			return err
		}
	}
	for c.ok && string(c.path) < key {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// open moves to the first entry of a block, counted from 1.
func (c *cursor) open(i int) error {
	c.ok, c.rest = false, nil
	if i > len(c.run.blocks) {
		return nil
	}
	if err := c.read(i); err != nil {
		return err
	}
	c.rest = c.kept[c.now].bytes
	return c.next()
}

// read makes a block the current one.
func (c *cursor) read(i int) error {
	c.uses++
	oldest := 0
	for k := range c.kept {
		if c.kept[k].index == i {
			c.now = k
			c.kept[k].used = c.uses
			return nil
		}
		if c.kept[k].used < c.kept[oldest].used {
			oldest = k
		}
	}
	r := c.run
	end := r.size
	if i < len(r.blocks) {
		end = r.blocks[i].offset
	}
	k := &c.kept[oldest]
	k.index = 0
	n := int(end - r.blocks[i-1].offset)
	if cap(k.bytes) < n || cap(k.bytes) > 8*max(n, defaultBlock) {
		k.bytes = make([]byte, n)
	}
	k.bytes = k.bytes[:n]
	if _, err := r.file.ReadAt(k.bytes, r.blocks[i-1].offset); err != nil && err != io.EOF {
		return err
	}
	c.now, k.index, k.used = oldest, i, c.uses
	return nil
}

// next moves to the next entry.
func (c *cursor) next() error {
	if len(c.rest) == 0 {
		if i := c.kept[c.now].index; i > 0 && i < len(c.run.blocks) {
			return c.open(i + 1)
		}
		c.ok = false
		return nil
	}
	path, body, rest, err := nextEntry(c.rest)
	if err != nil {
		return err
	}
	c.text = c.rest[:len(c.rest)-len(rest)]
	c.path, c.body, c.rest, c.ok = path, body, rest, true
	return nil
}
