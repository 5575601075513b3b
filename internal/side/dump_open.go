package side

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"mrtq/internal/openfile"
	"mrtq/internal/znode"
)

// OpenDump opens a dump to be read, packed with gzip or not. It checks every
// line, so it refuses a file that is damaged anywhere, with a
// *[znode.DumpError]. If the dump is packed, comes out of a pipe, or is not in
// the order of mrtq's dumps, OpenDump first writes it to a temporary file.
//
// progress, if not nil, is called with the number of znodes now and then.
func OpenDump(ctx context.Context, path string, packed bool, progress func(nodes int)) (*Dump, error) {
	if progress == nil {
		progress = func(int) {}
	}
	f, err := openfile.Read(path)
	if err != nil {
		return nil, err
	}
	file := f.File
	info, err := file.Stat()
	if err == nil && (packed || !info.Mode().IsRegular()) {
		file, err = unpacked(ctx, f, packed)
		f.Close()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	d, err := index(ctx, file, progress)
	if errors.Is(err, errOrder) {
		var sorted *os.File
		if sorted, err = sortDump(ctx, file); err == nil {
			file.Close()
			file = sorted
			d, err = index(ctx, file, progress)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return d, nil
}

// unpacked is a temporary file with the unpacked content of another file.
func unpacked(ctx context.Context, from io.Reader, packed bool) (*os.File, error) {
	if packed {
		z, err := openfile.Unpack(from)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	}
	to, err := temporary()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(to, &until{ctx, from}); err != nil {
		to.Close()
		return nil, err
	}
	return to, nil
}

// temporary is a file for what a dump does not keep in memory.
func temporary() (*os.File, error) { return openfile.Temporary("", "mrtq-dump-*") }

// until is a reader that ends when its context ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u *until) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(b)
}

// errOrder says that a dump is not in path order, or that a parent has no line.
var errOrder = errors.New("the dump is not in path order")

// index checks every line of a dump, and records where its sections begin. The
// error wraps errOrder if the dump is not in mrtq's order.
func index(ctx context.Context, file *os.File, progress func(int)) (*Dump, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	d := &Dump{file: file, size: info.Size()}
	var order pathsInOrder
	err = lines(ctx, file, d.size, func(l dumpLine) error {
		if err := order.add(l.node.Path); err != nil {
			return err
		}
		if n := len(d.marks); n == 0 || l.offset-d.marks[n-1].offset >= stretch {
			d.marks = append(d.marks, mark{l.node.Path, l.offset})
		}
		if l.node.Unreadable != "" && len(d.unreadable) < mostUnreadable {
			d.unreadable = append(d.unreadable, l.node.Path)
		}
		if d.nodes++; d.nodes%1024 == 0 {
			progress(d.nodes)
		}
		return nil
	})
	return d, err
}

// mostUnreadable is how many unreadable znodes are recorded at most.
const mostUnreadable = 100

// dumpLine is a line of a dump, and where it is.
type dumpLine struct {
	node   znode.Node
	text   []byte // valid until the next one
	number int    // from 1
	offset int64
}

// lines calls f for each line of a dump. The error is a *[znode.DumpError] for
// a bad line, or for a line that f refuses.
func lines(ctx context.Context, file *os.File, size int64, f func(dumpLine) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<18)
	var long []byte
	var offset int64
	for number := 1; ; number++ {
		if number%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text, rerr := readLine(r, &long)
		if rerr != nil && rerr != io.EOF {
			return rerr
		}
		if len(bytes.TrimSpace(text)) > 0 {
			n, err := znode.ParseDumpLine(text)
			if err == nil {
				err = znode.ValidateTreePath(n.Path)
			}
			if err == nil {
				err = f(dumpLine{n, text, number, offset})
			}
			if err != nil {
				return &znode.DumpError{Line: number, Offset: offset, Err: err}
			}
		}
		offset += int64(len(text))
		if rerr == io.EOF {
			return nil
		}
	}
}

// pathsInOrder checks that paths ascend, and that each comes after its parent. It
// remembers the paths that can still be a parent.
type pathsInOrder struct {
	last string
	open []string
}

func (o *pathsInOrder) add(path string) error {
	switch {
	case path == o.last:
		return fmt.Errorf("%s: %w", path, znode.ErrDumpedTwice)
	case path < o.last:
		return errOrder
	}
	o.last = path
	for len(o.open) > 0 && path >= o.open[len(o.open)-1]+afterSlash {
		o.open = o.open[:len(o.open)-1]
	}
	if parent := znode.Parent(path); parent != "/" && parent != "" {
		i := len(o.open) - 1
		for i >= 0 && o.open[i] != parent {
			i--
		}
		if i < 0 {
			return errOrder
		}
	}
	if path != "/" {
		o.open = append(o.open, path)
	}
	return nil
}
