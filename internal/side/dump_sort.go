package side

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"mrtq/internal/znode"
)

// Other programs may write a dump in any order. Such a dump is sorted in files:
// pieces that fit in memory are sorted and written to temporary files, which
// are then merged. A parent that has no line gets one, just as [znode.ReadDump]
// adds missing parents.

// sortPiece is how many bytes of lines are sorted at once.
const sortPiece = 32 << 20

// sortable is a line to be sorted.
type sortable struct {
	path   string
	number int64 // the line's number; madeUp for a line that the dump lacks
	offset int64
	text   []byte
}

// madeUp is larger than any line's number, so the line that is made up sorts after
// the dump's own line of the same path.
const madeUp = math.MaxInt64

func bySortOrder(a, b sortable) int {
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.number, b.number))
}

// sortDump writes the lines of a dump to a temporary file, in path order.
func sortDump(ctx context.Context, file *os.File) (*os.File, error) {
	var pieces []*os.File
	defer func() {
		for _, p := range pieces {
			p.Close()
		}
	}()
	var piece []sortable
	size := 0
	spill := func() error {
		p, err := temporary()
		if err != nil {
			return err
		}
		pieces = append(pieces, p)
		err = writePiece(p, piece)
		piece, size = piece[:0], 0
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	parent := "/"
	err = lines(ctx, file, info.Size(), func(l dumpLine) error {
		if own := znode.Parent(l.node.Path); own != parent && own != "" {
			parent = own
			for p := own; p != "/"; p = znode.Parent(p) {
				piece = append(piece, sortable{path: p, number: madeUp, text: emptyLine(p)})
				size += 2 * len(p)
			}
		}
		text := append(bytes.TrimRight(l.text, "\r\n"), '\n')
		piece = append(piece, sortable{l.node.Path, int64(l.number), l.offset, bytes.Clone(text)})
		if size += len(text) + len(l.node.Path); size < sortPiece {
			return nil
		}
		return spill()
	})
	if err == nil {
		err = spill()
	}
	if err != nil {
		return nil, err
	}
	sorted, err := temporary()
	if err != nil {
		return nil, err
	}
	if err := mergePieces(ctx, sorted, pieces); err != nil {
		sorted.Close()
		return nil, err
	}
	return sorted, nil
}

// emptyLine is the line of a znode that the dump lacks.
func emptyLine(path string) []byte {
	text, err := json.Marshal(&znode.Node{Path: path, Data: []byte{}})
	if err != nil {
		panic("side: a path is always JSON: " + err.Error())
	}
	return append(text, '\n')
}

func writePiece(to *os.File, piece []sortable) error {
	slices.SortFunc(piece, bySortOrder)
	w := bufio.NewWriterSize(to, 1<<16)
	var head []byte
	last := ""
	for _, l := range piece {
		if l.number == madeUp && l.path == last {
			continue
		}
		last = l.path
		head = binary.AppendVarint(head[:0], l.number)
		head = binary.AppendVarint(head, l.offset)
		head = binary.AppendUvarint(head, uint64(len(l.path)))
		head = append(head, l.path...)
		head = binary.AppendUvarint(head, uint64(len(l.text)))
		w.Write(head)
		w.Write(l.text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := to.Seek(0, io.SeekStart)
	return err
}

// pieceReader reads the lines of a piece.
type pieceReader struct {
	r   *bufio.Reader
	now sortable
}

// next moves to the next line. The error is [io.EOF] after the last.
func (p *pieceReader) next() error {
	number, err := binary.ReadVarint(p.r)
	if err != nil {
		return err
	}
	offset, oerr := binary.ReadVarint(p.r)
	path, perr := readBytes(p.r)
	text, terr := readBytes(p.r)
	if err := errors.Join(oerr, perr, terr); err != nil {
		return fmt.Errorf("a temporary file: %w", io.ErrUnexpectedEOF)
	}
	p.now = sortable{string(path), number, offset, text}
	return nil
}

func readBytes(r *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

// merging is a heap of the pieces. The piece with the next line is first.
type merging []*pieceReader

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, j int) bool { return bySortOrder(m[i].now, m[j].now) < 0 }
func (m merging) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging) Push(x any)        { *m = append(*m, x.(*pieceReader)) }
func (m *merging) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

func mergePieces(ctx context.Context, to io.Writer, pieces []*os.File) error {
	var m merging
	for _, f := range pieces {
		p := &pieceReader{r: bufio.NewReaderSize(f, 1<<16)}
		if err := p.next(); err == nil {
			m = append(m, p)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&m)
	w := bufio.NewWriterSize(to, 1<<16)
	last := ""
	for count := 0; len(m) > 0; count++ {
		if count%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch l := m[0].now; {
		case l.path != last:
			if _, err := w.Write(l.text); err != nil {
				return err
			}
			last = l.path
		case l.number != madeUp:
			return &znode.DumpError{Line: int(l.number), Offset: l.offset, Err: fmt.Errorf("%s: %w", l.path, znode.ErrDumpedTwice)}
		}
		switch err := m[0].next(); err {
		case nil:
			heap.Fix(&m, 0)
		case io.EOF:
			heap.Pop(&m)
		default:
			return err
		}
	}
	return w.Flush()
}
