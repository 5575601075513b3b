// Package offline changes a dump without a server. It accepts the transactions that
// a server would accept, gives the same answers, and in the end writes the dump that
// the server's tree would give. The dump can be of any size.
//
// A [Tree] has layers: the dump, then runs of later changes, each sorted by path in
// a temporary file, and the latest changes in memory. A znode's state is in the newest
// layer that has it. When there are too many changes in memory, they are written as a
// run. When there are too many runs of about the same size, they are merged. This is
// a log-structured merge tree, as in key-value stores (O'Neil and others, "The
// log-structured merge-tree", 1996), for one writer. Nothing has to survive a crash,
// because the dump itself changes only at the end, in one rename.
//
// ACLs are not enforced, because anyone who has the file can change it anyway. Times
// come from this machine's clock. The sessions in the dump never end, so their
// ephemeral znodes stay.
package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Options are the options of a tree. All but Beside may be zero.
type Options struct {
	// Beside is the path of a file. The temporary files are in its folder and have
	// similar names.
	Beside string
	// Packet is the jute.maxbuffer in bytes of the server for which the dump is
	// meant. 0 means ZooKeeper's default.
	Packet int
	// Memory is roughly how many bytes of changes are kept in memory. 0 means 8 MiB.
	Memory int
	Now    func() time.Time // nil: time.Now

	block  int // bytes of a run's block
	fanOut int // how many runs are merged into one
}

const (
	defaultPacket = 1<<20 - 1
	defaultMemory = 8 << 20
	defaultFanOut = 16
)

// Tree is a dump that is being changed. It is safe for concurrent use. The caller
// closes it.
type Tree struct {
	opt Options

	mu      sync.Mutex
	recent  *recent
	runs    []*run // oldest first
	retired []*run // merged, but still being read
	reading int    // how many walks are under way
	zxid    int64
	own     []string // ephemeral znodes of this process
	system  bool     // the dump has ZooKeeper's own znodes
	undo    []undone // how to undo the transaction under way
	acl     []znode.ACL
	err     error // the first error of the files; after it the tree can't be used
}

var errClosed = errors.New("the file was closed")

// Open returns a tree with the content of a dump, empty if dump is nil. The dump may
// be closed afterwards.
func Open(ctx context.Context, dump *side.Dump, opt Options) (*Tree, error) {
	if opt.Packet == 0 {
		opt.Packet = defaultPacket
	}
	if opt.Memory == 0 {
		opt.Memory = defaultMemory
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.block == 0 {
		opt.block = defaultBlock
	}
	if opt.fanOut == 0 {
		opt.fanOut = defaultFanOut
	}
	t := &Tree{opt: opt, recent: newRecent()}
	if err := t.load(ctx, dump); err != nil {
		t.Close()
		return nil, err
	}
	t.zxid++ // the beginning of a session takes one
	return t, nil
}

// Close closes the tree and removes its temporary files. It may be called twice.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range append(t.runs, t.retired...) {
		r.close()
	}
	t.runs, t.retired = nil, nil
	if t.err == nil {
		t.err = errClosed
	}
}

// Address is empty, because there is no server.
func (t *Tree) Address() zkconn.Address { return zkconn.Address{} }

// look finds the current state of a znode in all layers.
func (t *Tree) look(path string) (s state, ok bool, err error) {
	n, fresh := t.recent.find(path)
	switch {
	case n != nil && n.known != unknown:
		return n.state, n.known == there, nil
	case fresh:
		return state{}, false, nil
	}
	return t.lookBelow(path)
}

// lookBelow looks a znode up in the runs.
func (t *Tree) lookBelow(path string) (s state, ok bool, err error) {
	hash := hashOf(path)
	for i := len(t.runs) - 1; i >= 0; i-- {
		s, gone, ok, err := t.runs[i].get(path, hash)
		if err != nil {
			return state{}, false, t.fail(err)
		}
		if ok {
			return s, !gone, nil
		}
	}
	return state{}, false, nil
}

// fail remembers the first error of the files.
func (t *Tree) fail(err error) error {
	if t.err == nil {
		t.err = fmt.Errorf("the temporary files of the changes: %w", err)
	}
	return t.err
}

// spill writes the changes in memory as a run if there are too many.
func (t *Tree) spill() error {
	if t.recent.size < t.opt.Memory {
		return nil
	}
	changed := t.recent.changes("/")
	if len(changed) > 0 {
		w, err := t.newRun(2 * len(changed))
		if err != nil {
			return t.fail(err)
		}
		for _, f := range changed {
			e := f.entry()
			w.add(&e)
		}
		r, err := w.finish()
		if err != nil {
			return t.fail(err)
		}
		t.runs = append(t.runs, r)
	}
	t.recent = newRecent()
	return t.mergeRuns()
}

func (t *Tree) newRun(paths int) (*runWriter, error) {
	return newRun(folderOf(t.opt.Beside), t.opt.Beside, paths, t.opt.block)
}

// mergeRuns merges the newest runs while enough of them have the same level.
func (t *Tree) mergeRuns() error {
	for {
		first := len(t.runs)
		for first > 0 && t.runs[first-1].level == t.runs[len(t.runs)-1].level {
			first--
		}
		newest := t.runs[first:]
		if len(newest) < t.opt.fanOut {
			return nil
		}
		paths := 0
		for _, r := range newest {
			paths += r.filtered
		}
		w, err := t.newRun(paths)
		if err != nil {
			return t.fail(err)
		}
		m := newMerged(nil)
		for i, r := range newest {
			m.all = append(m.all, runLayer{&cursor{run: r}, len(newest) - i})
		}
		for err = m.seek(""); err == nil && m.path() != nil; err = m.next() {
			w.addEncoded(m.path(), m.layers[0].(runLayer).text)
		}
		if err != nil && w.err == nil {
			w.err = err
		}
		r, err := w.finish()
		if err != nil {
			return t.fail(err)
		}
		r.level = newest[0].level + 1
		t.retired = append(t.retired, newest...)
		t.runs = append(t.runs[:first:first], r)
		t.dropRetired()
	}
}

// dropRetired closes the runs that were merged, unless they are still being read.
func (t *Tree) dropRetired() {
	if t.reading > 0 {
		return
	}
	for _, r := range t.retired {
		r.close()
	}
	t.retired = nil
}

// WriteDump writes the tree as a dump, in path order.
func (t *Tree) WriteDump(ctx context.Context, w io.Writer) error {
	if err := t.endSession(); err != nil {
		return err
	}
	d := znode.NewDumpWriter(w)
	for n, err := range t.Walk(ctx, "/") {
		if err != nil {
			return err
		}
		children := int(n.Stat.NumChildren)
		if n.Path == "/" && !t.system {
			children-- // /zookeeper is counted, but not in the dump
		}
		if err := d.WriteAs(&n, children); err != nil {
			return err
		}
	}
	return d.Close()
}

// folderOf is the folder of a file. For a device or a pipe, which can't be replaced,
// it is the system's folder for temporary files.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.TempDir()
	}
	return dir(path)
}
