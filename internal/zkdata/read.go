package zkdata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"mrtq/internal/ztree"
)

// Options say what [Read] reports to its caller. Both may be nil.
type Options struct {
	// Say is called with what an operator should know: a snapshot that was
	// skipped, an entry that was not completely written.
	Say func(news string)
	// Progress is called with the number of znodes now and then.
	Progress func(nodes int)
}

// Data is what [Read] has read.
type Data struct {
	// Tree has the znodes at and below the chroot, and the parents of the chroot. It has the
	// server's own, too. Paths are the server's.
	Tree *ztree.Tree
	// Chroot is the path below which to read, "" if that is all.
	Chroot string
	// Zxid is the last transaction that the tree holds.
	Zxid int64
	// Time is when that transaction was made, by the server's clock; zero if none came after the
	// snapshot.
	Time time.Time
	// Snapshot is the file of the snapshot that was read, "" if there was none.
	Snapshot string
}

// maxSnapshots is how many snapshots a server tries, newest first.
const maxSnapshots = 100

// Read restores the tree of a data directory as of its last transaction. The
// directory may belong to a running server. Then the tree is that of some moment
// during the call. If the files are at fault, the error is an [*Error].
func Read(ctx context.Context, p Place, opt Options) (*Data, error) {
	if opt.Say == nil {
		opt.Say = func(string) {}
	}
	if opt.Progress == nil {
		opt.Progress = func(int) {}
	}
	snapshots, logs, err := p.folders()
	if err != nil {
		return nil, err
	}
	snap, err := newestSnapshot(ctx, snapshots, opt)
	if err != nil {
		return nil, err
	}
	// List the logs after reading the snapshot: by then a running server has
	// logged all that is in it.
	files, err := list(logs, logPrefix)
	if err != nil {
		return nil, err
	}
	if err := enough(snapshots, logs, snap, files); err != nil {
		return nil, err
	}
	h := begin(snap, opt.Say)
	if err := h.replay(ctx, after(files, h.start), opt.Progress); err != nil {
		return nil, err
	}
	return h.data(p)
}

// data checks what is at and below the chroot, and leaves out everything else.
func (h *history) data(p Place) (*Data, error) {
	if _, err := h.tree.Exists(p.Chroot, nil); err != nil {
		return nil, &Error{Kind: ErrNoChroot, File: p.Dir, Offset: -1, What: fmt.Sprintf("%s does not exist", p.Chroot), Do: "give the path of a znode after the #"}
	}
	if err := h.tree.Unsound(cmp.Or(p.Chroot, "/")); err != nil {
		return nil, &Error{Kind: ErrCorrupt, File: cmp.Or(h.snapshot, p.Dir), Offset: -1, What: err.Error(), Do: readAnother}
	}
	if p.Chroot != "" {
		h.tree.Prune(p.Chroot)
	}
	d := &Data{Tree: h.tree, Chroot: p.Chroot, Zxid: h.last.Zxid, Snapshot: h.snapshot}
	if h.last.Time != 0 {
		d.Time = time.UnixMilli(h.last.Time).UTC()
	}
	return d, nil
}

// newestSnapshot returns the newest complete snapshot, or nil if there are no
// snapshots. Like the server (FileSnap.deserialize), it skips incomplete ones: a
// server was killed while it wrote one, or is writing one at this moment.
func newestSnapshot(ctx context.Context, dir string, opt Options) (*snapshot, error) {
	files, err := list(dir, snapshotPrefix)
	if err != nil {
		return nil, err
	}
	var first error
	for i, file := range slices.Backward(files) {
		if i < len(files)-maxSnapshots {
			break
		}
		snap, err := readSnapshot(ctx, file, opt.Progress)
		if err == nil {
			if first != nil {
				opt.Say(fmt.Sprintf("%s is used instead, with the later transactions", file.path))
			}
			return snap, nil
		}
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if first == nil {
			first = err
		}
		opt.Say(fmt.Sprintf("a snapshot is not complete: %v", err))
	}
	if first != nil {
		return nil, &Error{Kind: ErrCorrupt, File: dir, Offset: -1, What: fmt.Sprintf("none of %d snapshots is complete; the newest: %v", len(files), first), Do: copyAgain}
	}
	return nil, nil
}

// enough refuses a directory that lacks the snapshots or the logs. Only a server
// that has just been set up has no log; only one before 3.5 may have no
// snapshot, and its logs go back to the beginning.
func enough(snapshots, logs string, snap *snapshot, files []dataFile) error {
	switch {
	case snap == nil && len(files) == 0:
		return &Error{Kind: ErrNoData, File: snapshots, Offset: -1, What: "it holds no file named snapshot.ZXID or log.ZXID", Do: "give the server's dataDir, or the version-2 inside it"}
	case snap == nil && !follow(0, files[0].zxid):
		return &Error{Kind: ErrNoData, File: snapshots, Offset: -1, Do: "give the server's dataDir, and if it has a dataLogDir that too: DIR,LOGDIR",
			What: fmt.Sprintf("it holds no snapshot, and the first log, %s, is not from the beginning", filepath.Base(files[0].path))}
	case snap != nil && len(files) == 0 && !(uint32(snap.zxid) == 0 && snap.zxid>>32 <= 1):
		return &Error{Kind: ErrNoData, File: logs, Offset: -1, What: "it holds no transaction log (log.ZXID), so what came after " + filepath.Base(snap.path) + " is not known", Do: giveLogDir}
	}
	return nil
}

// after are the logs that can hold transactions after a zxid: the last one that
// begins at it or before, and all later ones (FileTxnIterator.init).
func after(logs []dataFile, zxid int64) []dataFile {
	first := 0
	for i, l := range logs {
		if l.zxid <= zxid {
			first = i
		}
	}
	return logs[first:]
}
