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
	Path string `json:"path"`
	Data []byte `json:"data"` // base64, or null for null data
	Stat *Stat  `json:"stat,omitempty"`
	ACL  []ACL  `json:"acl,omitempty"`
	// Unreadable says why the data is not known. Then Data is null.
	Unreadable string `json:"unreadable,omitempty"`
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

// ReadDump reads a dump into a tree with the Stats of [Tree.SettleStats]. The errors are those of
// [ScanDump].
func ReadDump(r io.Reader) (*Tree, error) {
	t := NewTree()
	if err := ScanDump(r, t.Add); err != nil {
		return nil, err
	}
	t.SettleStats(0)
	return t, nil
}

// ScanDump calls add with each znode of a dump, in the order of its lines. A znode's
// Stat is zero if its line has none. The error is a *[DumpError] for a line that can't
// be read or that add refuses, or the error of r.
func ScanDump(r io.Reader, add func(Node) error) error {
	br := bufio.NewReaderSize(r, 1<<18)
	var offset int64
	for number := 1; ; number++ {
		text, rerr := br.ReadBytes('\n')
		if rerr != nil && rerr != io.EOF {
			return rerr
		}
		if len(bytes.TrimSpace(text)) > 0 {
			n, err := parseDumpLine(text)
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

const wantLine = `expected {"path":…,"data":…}`

// parseDumpLine reads a line of a dump. The line must not be blank. The Stat is
// zero if the line has none.
func parseDumpLine(line []byte) (Node, error) {
	var l struct { // a dumpLine, but it knows whether there is data
		Path       string          `json:"path"`
		Data       json.RawMessage `json:"data"` // nil if there is none
		Stat       *Stat           `json:"stat"`
		ACL        []ACL           `json:"acl"`
		Unreadable string          `json:"unreadable"`
	}
	switch err := json.Unmarshal(line, &l); {
	case err != nil:
		return Node{}, fmt.Errorf("%s: %w", wantLine, text.PlainJSON(err))
	case l.Path == "":
		return Node{}, errors.New(wantLine + ": no path")
	case l.Data == nil:
		return Node{}, fmt.Errorf("%s: %s has no data (null is null data)", wantLine, l.Path)
	}
	n := Node{Path: l.Path, ACL: l.ACL, Unreadable: l.Unreadable}
	if string(l.Data) != "null" {
		packed := l.Data
		if len(packed) < 2 || packed[0] != '"' {
			return Node{}, errors.New(wantLine + ": data: expected base64 or null")
		}
		var err error
		packed = packed[1 : len(packed)-1]
		if n.Data, err = base64.StdEncoding.Strict().AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(packed))), packed); err != nil {
			return Node{}, fmt.Errorf("%s: data: %w", wantLine, err)
		}
	}
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
		if err := d.Write(n); err != nil {
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
func (d *DumpWriter) Write(n *Node) error {
	if n.Path == "/" && len(n.Data) == 0 && IsOpenACL(n.ACL) && n.Unreadable == "" {
		return nil
	}
	l := dumpLine{Path: n.Path, Data: n.Data, Unreadable: n.Unreadable}
	if n.Stat != (Stat{}) && n.Stat != DefaultStat(len(n.Data), int(n.Stat.NumChildren)) { // a reader assumes this one without a Stat
		l.Stat = &n.Stat
	}
	if !IsOpenACL(n.ACL) {
		l.ACL = n.ACL
	}
	return d.enc.Encode(l)
}

// Close writes what is still buffered. It does not close the writer below.
func (d *DumpWriter) Close() error { return d.w.Flush() }
