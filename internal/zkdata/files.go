package zkdata

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The names of a server's files: snapshot.ZXID, packed snapshot.ZXID.gz or
// .snappy (which is refused), and log.ZXID, in hexadecimal (Util.makeSnapshotName, makeLogName).
const (
	snapshotPrefix = "snapshot"
	logPrefix      = "log"
	versionFolder  = "version-2"
)

// dataFile is a snapshot or a log with the zxid of its name.
type dataFile struct {
	path string
	zxid int64
}

// zxidOf reads the zxid from a file's name as the server does
// (Util.getZxidFromName). It ignores the rest of the name, which can say how the
// file is packed.
func zxidOf(name, prefix string) (int64, bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 2 || parts[0] != prefix {
		return 0, false
	}
	zxid, err := strconv.ParseInt(parts[1], 16, 64)
	return zxid, err == nil && zxid >= 0
}

// list finds the files of one kind in a folder, oldest first.
func list(dir, prefix string) ([]dataFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []dataFile
	for _, e := range entries {
		zxid, ok := zxidOf(e.Name(), prefix)
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the server's own cleanup removed it
		}
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, &Error{Kind: ErrCorrupt, File: path, Offset: -1, What: fmt.Sprintf("this is not a file (%v)", info.Mode().Type()), Do: copyAgain}
		}
		files = append(files, dataFile{path, zxid})
	}
	slices.SortFunc(files, func(a, b dataFile) int {
		// If two snapshots have one zxid, the finished one comes last, so it is
		// tried before snapshot.1a.tmp.
		return cmp.Or(cmp.Compare(a.zxid, b.zxid), -cmp.Compare(len(a.path), len(b.path)))
	})
	return files, nil
}

// folders finds the version-2 folders that hold the snapshots and the logs.
func (p Place) folders() (snapshots, logs string, err error) {
	if snapshots, err = versionDir(p.Dir); err != nil {
		return "", "", err
	}
	if p.LogDir == "" {
		return snapshots, snapshots, nil
	}
	if logs, err = versionDir(p.LogDir); err != nil {
		return "", "", err
	}
	if same(snapshots, logs) {
		return snapshots, snapshots, nil
	}
	// The server refuses these too (FileTxnSnapLog.checkLogDir, checkSnapDir).
	for _, wrong := range []struct{ dir, prefix, has string }{
		{snapshots, logPrefix, "transaction logs, although the logs should be in " + logs},
		{logs, snapshotPrefix, "snapshots, although it should hold only logs"},
	} {
		files, err := list(wrong.dir, wrong.prefix)
		if err != nil {
			return "", "", err
		}
		if len(files) > 0 {
			return "", "", &Error{Kind: ErrNoData, File: wrong.dir, Offset: -1, What: "it holds " + wrong.has,
				Do: "give dataDir and dataLogDir as they are in zoo.cfg, in this order: DIR,LOGDIR"}
		}
	}
	return snapshots, logs, nil
}

// versionDir is the version-2 inside a data directory, or dir itself.
func versionDir(dir string) (string, error) {
	info, err := os.Stat(dir)
	if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
		return "", fmt.Errorf("%s: %w", dir, perr.Err)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &Error{Kind: ErrNoData, File: dir, Offset: -1, What: "this is not a folder", Do: "give the server's dataDir, or the version-2 inside it"}
	}
	inner := filepath.Join(dir, versionFolder)
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		return inner, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, nil
}

func same(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// Newest are the paths of the newest snapshot, which may be incomplete, and of the logs after it.
// There are none if the folders can't be read: [Read] says why.
func (p Place) Newest() (paths []string) {
	dir, logDir, err := p.folders()
	if err != nil {
		return nil
	}
	snapshots, _ := list(dir, snapshotPrefix)
	logs, _ := list(logDir, logPrefix)
	if len(snapshots) > 0 {
		newest := snapshots[len(snapshots)-1]
		paths, logs = append(paths, newest.path), after(logs, newest.zxid)
	}
	for _, l := range logs {
		paths = append(paths, l.path)
	}
	return paths
}
