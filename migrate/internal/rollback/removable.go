package rollback

import (
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
)

// removable is a job or request that is as the run left it, so all its znodes have version 0.
// It says where these are and nothing else: a queue may have a million.
type removable struct {
	entry   *ledger.Entry
	names   []string // of the znodes below its own; shared by all that have the same
	folders []string // where its entries are; shared too
}

// deletes are the operations that remove it: its entries, then its znodes, children before
// their parents. One fails if another client has changed a znode since.
func (r removable) deletes() []znode.Op {
	ops := make([]znode.Op, 0, len(r.names)+len(r.folders)+1)
	jid := znode.Name(r.entry.Job)
	for _, folder := range r.folders {
		ops = append(ops, znode.Delete(folder+jid, 0))
	}
	for i := len(r.names) - 1; i >= 0; i-- {
		ops = append(ops, znode.Delete(r.entry.Job+r.names[i], 0))
	}
	return append(ops, znode.Delete(r.entry.Job, 0))
}

// names are the names of the znodes below a job's own, each with its slash, in path order.
func (l look) names(shapes map[string][]string) []string {
	var names []string
	for _, n := range l.nodes[1:] {
		names = append(names, n.Path[len(l.entry.Job):])
	}
	return shared(shapes, names)
}

// folders are the paths of a job's entries without its jid: a folder, and for an entry with a
// priority the priority.
func (l look) folders(shapes map[string][]string) []string {
	var folders []string
	for _, n := range l.entries {
		folders = append(folders, strings.TrimSuffix(n.Path, znode.Name(l.entry.Job)))
	}
	return shared(shapes, folders)
}

// shared returns the first texts that were the same as these.
func shared(shapes map[string][]string, texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	key := strings.Join(texts, "\x00")
	if first, ok := shapes[key]; ok {
		return first
	}
	texts = strings.Split(key, "\x00") // not parts of the long paths
	shapes[key] = texts
	return texts
}
