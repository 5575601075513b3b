package side

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sort"
	"strings"

	"mrtq/internal/znode"
)

// Dump is a dump as a side. It is read from its file znode by znode. Memory
// holds only the paths at which sections of the file begin. Close it.
type Dump struct {
	file       *os.File // unpacked, in path order, with all parents
	marks      []mark   // the first is at the beginning; an empty dump has none
	size       int64
	nodes      int
	unreadable []string // the first of them
}

// mark is where a section of the file begins, and the path of its first line.
type mark struct {
	path   string
	offset int64
}

// stretch is the minimum number of bytes from mark to mark. To find a znode, about
// that many must be read.
const stretch = 32 << 10

// Nodes counts the znodes in the dump.
func (d *Dump) Nodes() int { return d.nodes }

// Unreadable are the first znodes that are marked as unreadable, in path order.
func (d *Dump) Unreadable() []string { return d.unreadable }

// Close closes the file, and the temporary file if there is one.
func (d *Dump) Close() error { return d.file.Close() }

// Get implements [Side].
func (d *Dump) Get(ctx context.Context, path string) (znode.Node, error) {
	c := d.cursor(ctx)
	n, ok, err := c.node(path)
	if err == nil && !ok {
		err = notThere(path)
	}
	if err != nil {
		return znode.Node{}, err
	}
	return n, c.fillStat(&n)
}

// Children implements [Side].
func (d *Dump) Children(ctx context.Context, path string) ([]string, error) {
	c := d.cursor(ctx)
	if _, ok, err := c.node(path); err != nil || !ok {
		if err == nil {
			err = notThere(path)
		}
		return nil, err
	}
	var names []string
	err := c.children(path, func(name []byte) { names = append(names, string(name)) })
	return names, err
}

// Subtrees implements [Side].
func (d *Dump) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		c := d.cursor(ctx)
		for root := range roots {
			nodes, err := c.subtree(root)
			if err != nil {
				yield(Subtree{}, err)
				return
			}
			if !yield(Subtree{Root: root, Nodes: nodes}, nil) {
				return
			}
		}
	}
}

// Walk implements [Side].
func (d *Dump) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		c, beside := d.cursor(ctx), d.cursor(ctx)
		n, ok, err := c.node(root)
		if err == nil && !ok {
			return
		}
		for err == nil {
			if err = beside.fillStat(&n); err != nil {
				break
			}
			if !yield(n, nil) {
				return
			}
			if n.Path == root {
				err = c.seekBelow(root)
			} else {
				err = c.next()
			}
			if err != nil || !c.at(below(root)) {
				break
			}
			n, err = c.parse()
		}
		if err != nil {
			yield(znode.Node{}, err)
		}
	}
}

// cursor reads lines of a dump. It reads forwards if possible.
type cursor struct {
	d      *Dump
	ctx    context.Context
	r      *bufio.Reader
	line   []byte // the current line; nil before the first and after the last
	offset int64  // where it begins
	path   []byte
	before []byte // the path of the previous line, if that was read just before
	long   []byte // for lines that are longer than r's buffer
}

func (d *Dump) cursor(ctx context.Context) *cursor { return &cursor{d: d, ctx: ctx} }

// seek moves to the first line with a path at or after key.
func (c *cursor) seek(key string) error {
	i := sort.Search(len(c.d.marks), func(i int) bool { return c.d.marks[i].path > key })
	begin := int64(0)
	if i > 0 {
		begin = c.d.marks[i-1].offset
	}
	switch {
	case c.line != nil && string(c.path) <= key && c.offset >= begin:
	case c.line != nil && c.before != nil && string(c.before) < key && key <= string(c.path):
	default:
		if err := c.open(begin); err != nil {
			return err
		}
	}
	for c.line != nil && string(c.path) < key {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// seekBelow moves to the first line that can be below a path. No name begins
// with a control character. The root ends with a slash but is not below itself.
func (c *cursor) seekBelow(path string) error { return c.seek(below(path) + "\x01") }

// open moves to the line that begins at an offset.
func (c *cursor) open(offset int64) error {
	from := io.NewSectionReader(c.d.file, offset, c.d.size-offset)
	if c.r == nil {
		c.r = bufio.NewReaderSize(from, stretch)
	} else {
		c.r.Reset(from)
	}
	c.offset, c.line, c.path, c.before = offset, nil, nil, nil
	return c.next()
}

// next moves to the next line.
func (c *cursor) next() error {
	if err := c.ctx.Err(); err != nil {
		return context.Cause(c.ctx)
	}
	c.offset += int64(len(c.line))
	c.before = append(c.before[:0], c.path...)
	for {
		line, err := readLine(c.r, &c.long)
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) == 0 {
			c.line = nil
			return nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			c.offset += int64(len(line))
			continue
		}
		c.line = line
		c.path = append(c.path[:0], znode.PathOfDumpLine(line)...)
		if len(c.path) == 0 {
			return fmt.Errorf("at byte %d: %w", c.offset, errOtherDump)
		}
		return nil
	}
}

// errOtherDump says that the file has changed since it was opened.
var errOtherDump = errors.New("another process wrote to the file while it was read")

// readLine reads a line with its line end. It uses long as the buffer of a long
// line. The line is valid until the next read. At the end of the file it may be
// empty.
func readLine(r *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*long = append((*long)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		*long = append(*long, line...)
	}
	return *long, err
}

// at reports whether the current line's path begins with prefix.
func (c *cursor) at(prefix string) bool {
	return c.line != nil && len(c.path) >= len(prefix) && string(c.path[:len(prefix)]) == prefix
}

func (c *cursor) parse() (znode.Node, error) {
	n, err := znode.ParseDumpLine(c.line)
	if err != nil {
		return n, fmt.Errorf("at byte %d: %w: %w", c.offset, errOtherDump, err)
	}
	return n, nil
}

// node is the znode at a path. Its Stat is zero if the dump has none. The root
// always exists.
func (c *cursor) node(path string) (n znode.Node, ok bool, err error) {
	if err := c.seek(path); err != nil {
		return znode.Node{}, false, err
	}
	if c.line == nil || string(c.path) != path {
		return znode.Node{Path: "/", Data: []byte{}}, path == "/", nil
	}
	n, err = c.parse()
	return n, err == nil, err
}

// fillStat sets the default Stat of a znode if the dump has none.
func (c *cursor) fillStat(n *znode.Node) error {
	if n.Stat != (znode.Stat{}) {
		return nil
	}
	children := 0
	err := c.children(n.Path, func([]byte) { children++ })
	n.Stat = znode.DefaultStat(len(n.Data), children)
	return err
}

// children calls child with the name of each child of a znode.
func (c *cursor) children(path string, child func(name []byte)) error {
	prefix := below(path)
	if err := c.seekBelow(path); err != nil {
		return err
	}
	for c.at(prefix) {
		rest := c.path[len(prefix):]
		var err error
		if i := bytes.IndexByte(rest, '/'); i >= 0 {
			err = c.seek(prefix + string(rest[:i]) + afterSlash)
		} else {
			child(rest)
			err = c.next()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// afterSlash is the character after the slash: everything below "a" is from
// "a/" to "a0".
const afterSlash = "0"

// subtree reads a znode and everything below it, in path order.
func (c *cursor) subtree(root string) ([]znode.Node, error) {
	n, ok, err := c.node(root)
	if err != nil || !ok {
		return nil, err
	}
	nodes := []znode.Node{n}
	prefix := below(root)
	for err = c.seekBelow(root); err == nil && c.at(prefix); err = c.next() {
		if n, err = c.parse(); err != nil {
			break
		}
		nodes = append(nodes, n)
	}
	if err != nil {
		return nil, err
	}
	fillStats(nodes)
	return nodes, nil
}

// fillStats is fillStat for a whole subtree.
func fillStats(nodes []znode.Node) {
	var children map[string]int
	for i := range nodes {
		n := &nodes[i]
		if n.Stat != (znode.Stat{}) {
			continue
		}
		if len(nodes) > 1 && children == nil {
			children = make(map[string]int, len(nodes))
			for _, m := range nodes[1:] {
				children[m.Path[:max(strings.LastIndexByte(m.Path, '/'), 1)]]++
			}
		}
		n.Stat = znode.DefaultStat(len(n.Data), children[n.Path])
	}
}
