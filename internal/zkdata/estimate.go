package zkdata

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"mrtq/internal/ztree"
)

// Size is an estimate of what is in a data directory.
type Size struct {
	File     int64 // the bytes of the newest snapshot, and of the logs after it
	Unpacked int64 // the bytes that these unpack to
	Znodes   int64
	Bytes    int64 // of the znodes' data and paths
}

// sample is how many bytes of a snapshot, unpacked, [Estimate] looks at.
const sample = 4 << 20

// Estimate estimates how large the tree of a data directory is, from the beginning of its newest
// snapshot. The zero Size says that there is nothing to estimate from: [Read] says more.
func Estimate(p Place) Size {
	dir, logDir, err := p.folders()
	if err != nil {
		return Size{}
	}
	snapshots, _ := list(dir, snapshotPrefix)
	logs, _ := list(logDir, logPrefix)
	var s, part Size
	start := int64(0)
	if len(snapshots) > 0 {
		newest := snapshots[len(snapshots)-1]
		start = newest.zxid
		s, part = sampleSnapshot(newest)
	}
	for _, l := range after(logs, start) {
		if info, err := os.Stat(l.path); err == nil {
			s.File += info.Size()
			s.Unpacked += info.Size()
		}
	}
	if part.Unpacked == 0 {
		return s
	}
	all := float64(s.Unpacked) / float64(part.Unpacked)
	s.Znodes, s.Bytes = int64(all*float64(part.Znodes)), int64(all*float64(part.Bytes))
	return s
}

// sampleSnapshot returns the sizes of a snapshot's file, and what its beginning holds.
func sampleSnapshot(file dataFile) (whole, part Size) {
	f, err := os.Open(file.path)
	if err != nil {
		return Size{}, Size{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Size{}, Size{}
	}
	whole.File = info.Size()
	r, err := unpacked(filepath.Base(file.path), f)
	if err != nil {
		return whole, Size{}
	}
	s := newStream(file.path, io.LimitReader(r, sample))
	snap := &snapshot{tree: ztree.Empty()}
	_ = snap.body(context.Background(), s, func(int) {}) // the sample ends inside a znode
	part = Size{Unpacked: s.offset(), Znodes: int64(snap.tree.Count()), Bytes: snap.tree.Bytes()}
	if taken, err := f.Seek(0, io.SeekCurrent); err == nil && taken > 0 {
		whole.Unpacked = int64(float64(whole.File) * float64(s.base+int64(s.end)) / float64(taken))
	}
	return whole, part
}
