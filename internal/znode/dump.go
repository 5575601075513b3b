package znode

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mrtq/internal/text"
)

// The dump format (docs/commands.md, "A dump"): one JSON object a
// line, sorted by path when mrtq writes it, in any order when it reads.
type dumpLine struct {
	Path string   `json:"path"`
	Data dumpData `json:"data"`
	Stat *Stat    `json:"stat,omitempty"`
	ACL  []ACL    `json:"acl,omitempty"`
	// Unreadable says why the data is not known. Then Data is null.
	Unreadable string `json:"unreadable,omitempty"`
}

// dumpData is base64, or null for null data.
type dumpData struct {
	bytes []byte
	given bool // otherwise a line without data would silently have null data
}

func (d dumpData) MarshalJSON() ([]byte, error) { return json.Marshal(d.bytes) }

func (d *dumpData) UnmarshalJSON(value []byte) error {
	var s *string
	if err := json.Unmarshal(value, &s); err != nil {
		return errors.New("data: expected base64 or null")
	}
	*d = dumpData{given: true}
	if s == nil {
		return nil
	}
	var err error
	if d.bytes, err = base64.StdEncoding.Strict().DecodeString(*s); err != nil {
		return fmt.Errorf("data: %w", text.PlainJSON(err))
	}
	return nil
}

// DumpError is a line of a dump that can't be read.
type DumpError struct {
	Line   int   // from 1
	Offset int64 // of the line's first byte, in the uncompressed dump
	Err    error
}

func (e *DumpError) Error() string {
	return fmt.Sprintf("dump line %d (at byte %d): %v", e.Line, e.Offset, e.Err)
}

func (e *DumpError) Unwrap() error { return e.Err }

// ErrDumpedTwice says that a path has two lines. Otherwise the second would
// silently replace the first.
var ErrDumpedTwice = errors.New("the path was dumped before")

// ReadDump reads a dump into a tree. Nodes without a stat get the default one
// (see [Tree.SetDefaultStats]). The errors are those of [ScanDump].
func ReadDump(r io.Reader) (*Tree, error) {
	t := NewTree()
	if err := ScanDump(r, t.Put); err != nil {
		return nil, err
	}
	t.SetDefaultStats(0)
	return t, nil
}

// ScanDump calls add with each znode of a dump, in the order of its lines. A znode's
// Stat is zero if its line has none. The error is a *[DumpError] for a line that can't
// be read or that add refuses, or the error of r.
func ScanDump(r io.Reader, add func(Node) error) error {
	br := bufio.NewReaderSize(r, 1<<18)
	var long []byte
	var offset int64
	for number := 1; ; number++ {
		text, rerr := readLine(br, &long)
		if rerr != nil && rerr != io.EOF {
			return rerr
		}
		if len(bytes.TrimSpace(text)) > 0 {
			n, err := ParseDumpLine(text)
			if err == nil {
				err = add(n)
			}
			if err != nil {
				return &DumpError{Line: number, Offset: offset, Err: err}
			}
		}
		offset += int64(len(text))
		if rerr == io.EOF {
			return nil
		}
	}
}

// readLine reads a line with its line end. It uses long as the buffer of a long line.
// The line is valid until the next read. At the end it may be empty.
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

const wantLine = `expected {"path":…,"data":…}`

// ParseDumpLine reads a line of a dump. The line must not be blank. The Stat is
// zero if the line has none.
func ParseDumpLine(text []byte) (Node, error) {
	if n, ok := parsePlainLine(text); ok {
		return n, nil
	}
	return parseAnyLine(text)
}

func parseAnyLine(line []byte) (Node, error) {
	var l dumpLine
	switch err := json.Unmarshal(line, &l); {
	case err != nil:
		return Node{}, fmt.Errorf("%s: %w", wantLine, text.PlainJSON(err))
	case l.Path == "":
		return Node{}, errors.New(wantLine + ": no path")
	case !l.Data.given:
		return Node{}, fmt.Errorf("%s: %s has no data (null is null data)", wantLine, l.Path)
	}
	n := Node{Path: l.Path, Data: l.Data.bytes, ACL: l.ACL, Unreadable: l.Unreadable}
	if l.Stat != nil {
		n.Stat = *l.Stat
	}
	return n, nil
}

// WriteDump writes the tree sorted by path. Every tree has a root, so the root is written only if
// it has data or an ACL that isn't open, or if it couldn't be read. An ACL is left out if it is
// open or was not read.
func WriteDump(w io.Writer, t *Tree) error {
	d := NewDumpWriter(w)
	for n := range t.All("/") {
		if err := d.write(n, len(n.children)); err != nil {
			return err
		}
	}
	return d.Close()
}

// DumpWriter writes a dump node by node, as [WriteDump] does a tree.
type DumpWriter struct {
	w   *bufio.Writer
	enc *json.Encoder
}

// NewDumpWriter returns a writer of a dump to w. Close it.
func NewDumpWriter(w io.Writer) *DumpWriter {
	d := &DumpWriter{w: bufio.NewWriterSize(w, 1<<16)}
	d.enc = json.NewEncoder(d.w)
	d.enc.SetEscapeHTML(false)
	return d
}

// Write adds a node, with as many children as its Stat says. Nodes must come in
// path order. Write does not check this.
func (d *DumpWriter) Write(n *Node) error { return d.write(n, int(n.Stat.NumChildren)) }

// write writes a node, which has this many children in the dump.
func (d *DumpWriter) write(n *Node, children int) error {
	if n.Path == "/" && len(n.Data) == 0 && IsOpenACL(n.ACL) && n.Unreadable == "" {
		return nil
	}
	if line, ok := appendPlainLine(d.w.AvailableBuffer(), n, n.needsStat(children)); ok {
		_, err := d.w.Write(line)
		return err
	}
	return d.enc.Encode(n.line(children))
}

// Close writes what is still buffered. It does not close the writer below.
func (d *DumpWriter) Close() error { return d.w.Flush() }

// needsStat reports whether the node's line must have the Stat. It needs none if the
// Stat is what a reader assumes without one.
func (n *Node) needsStat(children int) bool {
	return n.Stat != (Stat{}) && n.Stat != DefaultStat(len(n.Data), children)
}

func (n *Node) line(children int) dumpLine {
	l := dumpLine{Path: n.Path, Data: dumpData{bytes: n.Data}, Unreadable: n.Unreadable}
	if n.needsStat(children) {
		l.Stat = &n.Stat
	}
	if !IsOpenACL(n.ACL) {
		l.ACL = n.ACL
	}
	return l
}
