package migrate

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// shape says which znodes a job or request has that nobody touched. All of them are at
// version 0, and a migration created them all.
type shape struct {
	nodes  nodeSet // below its own znode
	queued int16   // one more than the index into jobRows.lanes; 0 if it is in no queue
	folder int8    // one more than its batch folder's index in [newqueue.BatchFolders]; 0 if it is in none
}

// shapeOf is the shape of a job or request. ok is false if it has other znodes too.
func (j *jobRows) shapeOf(ex *existing, p migratedJob) (s shape, ok bool) {
	if s.nodes, ok = nodeSetOf(p.root, jobNodeNames, slices.Collect(ex.tree.All(p.root))); !ok {
		return shape{}, false
	}
	for _, path := range ex.nodesOf(p) {
		lane, isQueued := strings.CutSuffix(path, p.id)
		switch {
		case znode.Within(path, p.root):
		case ex.tree.Get(path) == nil || ex.tree.Get(path).Stat.Version != 0:
			return shape{}, false
		case isQueued && znode.Within(path, newqueue.JobStatesPath) && s.queued == 0:
			s.queued = j.lane(lane)
		case znode.Within(path, newqueue.BatchesPath) && s.folder == 0:
			_, _, folder := entryOf(path)
			s.folder = int8(slices.Index(newqueue.BatchFolders, folder)) + 1
		default:
			return shape{}, false
		}
	}
	return s, true
}

// lane numbers the entries of one queue and priority. path is an entry's path without the
// job's id.
func (j *jobRows) lane(path string) int16 {
	i := slices.Index(j.lanes, path)
	if i < 0 {
		i = len(j.lanes)
		j.lanes = append(j.lanes, strings.Clone(path))
	}
	return int16(i + 1)
}

// removal is [existing.removal] for a job that has a shape.
func (j *jobRows) removal(row jobRow) []znode.Op {
	p := j.job(row)
	paths := row.shape.nodes.paths(p.root, jobNodeNames)
	if row.shape.queued > 0 {
		paths = append(paths, j.lanes[row.shape.queued-1]+p.id)
	}
	if row.shape.folder > 0 {
		paths = append(paths, newqueue.BatchEntryPath(p.bid, newqueue.BatchFolders[row.shape.folder-1], p.id))
	}
	return deletes(paths)
}
