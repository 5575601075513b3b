package migrate

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// everything returns each kind of change for each node of the world.
func everything(w *world) []tampering {
	var all []tampering
	partners := w.partners()
	for _, path := range w.clean.Paths("/")[1:] {
		all = append(all, w.additions(path)...)
		if w.ours(path) {
			all = append(all, w.changes(path)...)
			all = append(all, w.recreations(path)...)
			all = append(all, w.moves(path)...)
			if partner := partners[path]; partner != "" {
				all = append(all, w.swaps(path, partner)...)
			}
		}
	}
	for _, i := range w.items() {
		all = append(all, w.wholes(i)...)
		all = append(all, w.provenances(i)...)
	}
	return slices.Concat(all, w.misc(), ownRecords(w))
}

// misc returns the changes that fit no other kind.
func (w *world) misc() []tampering {
	var all []tampering
	for _, i := range w.items() {
		if !znode.Within(i.root, newqueue.BatchesPath) {
			continue
		}
		// A second name for the batch, and a folder that looks as if a run had moved the last
		// job out of it.
		uuid := znode.Join(newqueue.BatchUUIDsPath, "by-hand")
		all = append(all, tampering{kind: "second name of a batch", path: i.root, do: []any{multi{create(uuid, []byte(znode.Name(i.root)))}}, names: []string{uuid}})
		for _, f := range newqueue.BatchFolders {
			folder := newqueue.BatchFolderPath(znode.Name(i.root), f)
			if w.clean.Get(folder) == nil {
				entry := znode.Join(folder, "jid0000009999")
				all = append(all, tampering{kind: "folder of a batch added, filled and emptied", path: folder,
					do: []any{multi{create(folder, none), create(entry, none)}, multi{&zk.DeleteRequest{Path: entry, Version: -1}}}, names: []string{folder}})
			}
		}
	}
	for _, hold := range newqueue.QueueHolds {
		if path := newqueue.QueueHoldPath(hold); !w.ours(path) {
			all = append(all, tampering{kind: "others' hold deleted", path: path, do: []any{w.remove(path)}, names: []string{path}})
		}
	}
	return all
}

// changes returns changes of a node in its place, and its deletion.
func (w *world) changes(path string) []tampering {
	data := w.clean.Get(path).Data
	var all []tampering
	for _, c := range []struct {
		kind string
		do   any
	}{
		{"set to other data", multi{set(path, []byte("by hand"))}},
		{"set to null", multi{set(path, nil)}},
		{"set to the same data", multi{set(path, data)}},
		{"set to other data and back", multi{set(path, []byte("by hand")), set(path, data)}},
		{"ACL changed", setACL{path, zk.WorldACL(zk.PermRead)}},
	} {
		// Verify believes what a job or a batch says of itself. So if its data is damaged,
		// verify may name other nodes, too.
		only := (c.kind == "set to the same data" || c.kind == "ACL changed") && !znode.Within(path, RunsPath)
		all = append(all, tampering{kind: c.kind, path: path, do: []any{c.do}, names: []string{path}, only: only})
	}
	all = append(all, tampering{kind: "deleted", path: path, do: []any{w.remove(path)}, names: w.namedFor(path)})
	return all
}

// namedFor returns what verify names if a node and everything below it is gone. If it was
// an access request, that is its record, because only the ledger still has the request.
func (w *world) namedFor(path string) []string {
	if strings.HasPrefix(znode.Name(path), newqueue.AccessPrefix) && znode.Within(path, newqueue.AccessPath) {
		return []string{w.record(path)}
	}
	return []string{path}
}

// record returns the record that a job or request was made from.
func (w *world) record(root string) string {
	p, _ := parseProvenance(w.clean.Get(root).Data)
	return p.Path
}

// recreations returns changes that delete the node with everything below it, and recreate it.
func (w *world) recreations(path string) []tampering {
	data := w.clean.Get(path).Data
	leaf := len(w.clean.Children(path)) == 0
	names := []string{path}
	switch path {
	case MigrationPath, RunsPath:
		// If the records of all runs are new, the tree may have been restored from a dump.
		// Then verify names the records.
		names = nil
		for _, run := range w.clean.Children(RunsPath) {
			names = append(names, znode.Join(RunsPath, run))
		}
	}
	var all []tampering
	add := func(kind string, do ...any) {
		all = append(all, tampering{kind: kind, path: path, do: do, names: names, only: leaf && !znode.Within(path, MigrationPath) && !w.isRoot(path)})
	}
	if path != ElectionPath { // a migrator recreates the election if it is missing
		add("recreated", w.remove(path), w.copyTo(path, path))
		add("recreated in one transaction", w.recreated(path))
	}
	versions := multi{}
	for range w.clean.Get(path).Stat.Version {
		versions = append(versions, set(path, data))
	}
	if len(versions) > 0 {
		add("recreated up to its version", slices.Concat(w.recreated(path), versions))
	}
	another := w.recreated(path)
	if leaf {
		another[len(another)-1] = createEphemeral(path, data)
		add("recreated as ephemeral", another)
		another = w.recreated(path)
		readOnly := create(path, data)
		readOnly.Acl = zk.WorldACL(zk.PermRead)
		another[len(another)-1] = readOnly
		add("recreated with a read-only ACL", another)
		all[len(all)-1].acls = path == ElectionPath
	} else {
		// Clients may create children in it, but not change its data.
		for _, op := range another {
			if c, ok := op.(*zk.CreateRequest); ok && c.Path == path {
				c.Acl = zk.WorldACL(zk.PermAll &^ zk.PermWrite)
			}
		}
		add("recreated with a read-only ACL", another)
	}
	return all
}

// additions returns changes that add a child, which no run made, to the node.
func (w *world) additions(path string) []tampering {
	var all []tampering
	for _, name := range append([]string{"by-hand"}, w.plausible(path)...) {
		child := znode.Join(path, name)
		if w.clean.Get(child) != nil {
			continue
		}
		all = append(all,
			tampering{kind: "child added", path: child, do: []any{multi{create(child, readable[name])}}, names: []string{child}, theirs: w.theirs(child)},
			tampering{kind: "ephemeral child added", path: child, do: []any{multi{createEphemeral(child, none)}}, names: []string{child}, theirs: []string{child}})
	}
	return all
}

// readable has data that the layout allows in a node of that name. So the only thing wrong
// with the node is that it exists.
var readable = map[string][]byte{
	"inventory":     encode(newqueue.Inventory{ManifestURL: "http://m", Mode: inventoryMode}.Object()),
	"store":         encode(newqueue.Store{}.Object()),
	"status-report": encode(newqueue.StatusReport{LastModified: testNow}.Object(newqueue.Design)),
}

// theirs returns a new node if other clients may create nodes there, and if it is no entry
// of a migrated job.
func (w *world) theirs(path string) []string {
	name, parent := znode.Name(path), znode.Parent(path)
	if w.entity(parent) != "" || parent == RunsPath || parent == LedgerPath {
		return nil
	}
	for _, i := range w.items() {
		if strings.HasSuffix(name, znode.Name(i.root)) && name != znode.Name(i.root)+"-moved" && parent != znode.Parent(i.root) {
			return nil
		}
	}
	return []string{path}
}

// plausible returns names of children that the layout or a migration has below such a node.
func (w *world) plausible(path string) []string {
	name, parent := znode.Name(path), znode.Parent(path)
	switch {
	case parent == newqueue.JobsPath && name != "states":
		return []string{"lock", "inventory", "store"}
	case parent == newqueue.BatchesPath:
		return []string{"lock", "status-report"}
	case strings.HasSuffix(path, "/states"):
		return []string{"batch-failed", "batch-completed", "batch-processing", "batch-deleted", "deleted", "held"}
	case strings.HasPrefix(name, "batch-"):
		return []string{znode.Name(w.items()[0].root), "jid0000009999"}
	case parent == newqueue.JobStatesPath:
		return []string{"00-" + znode.Name(w.items()[0].root), "05-jid0000009999"}
	case path == newqueue.BatchUUIDsPath:
		return []string{"run0000000007-unbatched"}
	case path == newqueue.JobsPath:
		return []string{"jid0000009999"}
	case path == newqueue.BatchesPath:
		return []string{"bid0000009999"}
	case parent == newqueue.AccessPath:
		return []string{"qid0000009999"}
	case strings.HasPrefix(name, newqueue.AccessPrefix):
		return []string{"lock"}
	case path == RunsPath, path == LedgerPath:
		return []string{"run0000000007"}
	case parent == LedgerPath:
		return []string{"0000000007"}
	}
	return nil
}

// entity returns the migrated job, request or batch, or the record of a run, that a node
// is part of. It is "" for any other node.
func (w *world) entity(path string) string {
	for at := path; at != "/"; at = znode.Parent(at) {
		root := w.isRoot(at) || at == ElectionPath || znode.Parent(at) == newqueue.BatchesPath || znode.Parent(at) == RunsPath || znode.Parent(at) == LedgerPath
		if root && w.ours(at) {
			return at
		}
	}
	return ""
}

func (w *world) isRoot(path string) bool {
	for _, prefix := range []string{newqueue.JobsPath + "/jid", "/access/small/qid", "/access/large/qid"} {
		if strings.HasPrefix(path, prefix) && strings.Count(path, "/") == strings.Count(prefix, "/") {
			return true
		}
	}
	return false
}

// moves returns changes that move a node, with everything below it, to another place.
func (w *world) moves(path string) []tampering {
	name, parent := znode.Name(path), znode.Parent(path)
	var to []string
	number := regexp.MustCompile(`\d{10}$`)
	if number.MatchString(name) {
		to = append(to, znode.Join(parent, number.ReplaceAllString(name, "0000000777")))
	} else {
		to = append(to, path+"-moved")
	}
	switch {
	case znode.Parent(parent) == newqueue.JobStatesPath: // a queue's entry
		_, jid, _ := strings.Cut(name, "-")
		to = append(to, znode.Join(parent, "77-"+jid))
		for _, state := range w.clean.Children(newqueue.JobStatesPath) {
			if s := znode.Join(newqueue.JobStatesPath, state); s != parent {
				to = append(to, znode.Join(s, name))
			}
		}
	case strings.HasPrefix(znode.Name(parent), "batch-"): // a batch's entry
		for _, p := range w.clean.Paths(newqueue.BatchesPath) {
			if strings.HasPrefix(znode.Name(p), "batch-") && p != parent {
				to = append(to, znode.Join(p, name))
			}
		}
	case parent == newqueue.JobStatesPath:
		to = append(to, znode.Join(parent, "held"))
	case znode.Parent(path) == newqueue.AccessQueuePath(newqueue.AccessSmall):
		to = append(to, newqueue.AccessRequestPath(newqueue.AccessLarge, name))
	}
	var all []tampering
	for _, p := range to {
		if w.clean.Get(p) == nil && !znode.Within(p, path) {
			// Verify names a moved request at its new place.
			names := []string{p}
			if s := w.namedFor(path); s[0] == path {
				names = append(names, path)
			}
			if !slices.ContainsFunc(targetRoots, func(root string) bool { return znode.Within(p, root) }) {
				names = []string{path} // verify does not look there
			}
			theirs := w.theirs(p)
			if w.isRoot(path) {
				theirs = nil // its data says that a run made it
			}
			all = append(all, tampering{kind: "moved", path: path + " → " + p, do: []any{append(w.remove(path), w.copyTo(path, p)...)}, names: names, theirs: theirs})
		}
	}
	return all
}

// likeness returns a path without the ids of jobs, batches and runs.
var likeness = regexp.MustCompile(`(jid|bid|qid|run|/)\d{10}|\d\d-jid\d{10}|/batch-uuids/.+`)

// partners returns, for each node that a run made, another one of the same kind, with
// other data if possible.
func (w *world) partners() map[string]string {
	like := map[string][]string{}
	for _, path := range w.clean.Paths("/")[1:] {
		if key := likeness.ReplaceAllString(path, "#"); w.ours(path) {
			like[key] = append(like[key], path)
		}
	}
	partners := map[string]string{}
	for _, group := range like {
		for i, path := range group {
			for k := 1; k < len(group); k++ {
				p := group[(i+k)%len(group)]
				if partners[path] == "" || !znode.SameData(w.clean.Get(p).Data, w.clean.Get(path).Data) {
					partners[path] = p
				}
				if !znode.SameData(w.clean.Get(p).Data, w.clean.Get(path).Data) {
					break
				}
			}
		}
	}
	return partners
}

// swaps returns changes that exchange the contents of two nodes of the same kind.
func (w *world) swaps(a, b string) []tampering {
	names := []string{a, b}
	dataA, dataB := w.clean.Get(a).Data, w.clean.Get(b).Data
	all := []tampering{
		{kind: "swapped by set", path: a + " ↔ " + b, do: []any{multi{set(a, dataB), set(b, dataA)}}, names: names},
		{kind: "swapped whole in one transaction", path: a + " ↔ " + b, do: []any{slices.Concat(w.remove(a, b), w.copyTo(a, b), w.copyTo(b, a))}, names: names},
	}
	return all
}

// item is a job, a request, or a batch with its jobs.
type item struct {
	root  string
	roots []string // of its subtrees
	jobs  []item   // a batch's
}

// items returns the world's items that runs made.
func (w *world) items() []item {
	var jobs, all []item
	for _, path := range w.clean.Paths("/")[1:] {
		if !w.isRoot(path) || !w.ours(path) {
			continue
		}
		i := item{root: path, roots: []string{path}}
		for _, p := range w.clean.Paths("/")[1:] {
			if strings.HasSuffix(p, znode.Name(path)) && p != path && znode.Within(path, newqueue.JobsPath) {
				i.roots = append(i.roots, p)
			}
		}
		if len(i.roots) > 1 {
			jobs = append(jobs, i)
		}
		all = append(all, i)
	}
	for _, bid := range w.clean.Children(newqueue.BatchesPath) {
		b := item{root: newqueue.BatchPath(bid), roots: []string{newqueue.BatchPath(bid)}}
		if !w.ours(b.root) {
			continue
		}
		for _, uuid := range w.clean.Children(newqueue.BatchUUIDsPath) {
			if p := znode.Join(newqueue.BatchUUIDsPath, uuid); string(w.clean.Get(p).Data) == bid {
				b.roots = append(b.roots, p)
			}
		}
		for _, j := range jobs {
			if string(w.clean.Get(j.root+"/bid").Data) != bid {
				continue
			}
			b.jobs = append(b.jobs, j)
			for _, r := range j.roots {
				if !znode.Within(r, b.root) {
					b.roots = append(b.roots, r)
				}
			}
		}
		all = append(all, b)
	}
	return all
}

// wholes returns changes of everything that belongs to an item.
func (w *world) wholes(i item) []tampering {
	what := "request"
	var records, roots []string
	switch {
	case len(i.jobs) > 0:
		what = "batch"
		roots = []string{i.root}
		for _, j := range i.jobs {
			roots, records = append(roots, j.root), append(records, w.record(j.root))
		}
	case len(i.roots) > 1:
		what = "job"
		fallthrough
	default:
		roots, records = []string{i.root}, []string{w.record(i.root)}
	}
	all := []tampering{
		{kind: "whole " + what + " deleted", path: i.root, do: []any{w.remove(i.roots...)}, names: records},
		{kind: "whole " + what + " recreated in one transaction", path: i.root, do: []any{w.recreated(i.roots...)}, names: roots},
	}
	if what == "batch" {
		return all
	}
	// A copy under another id, beside it or in its place.
	id := znode.Name(i.root)
	other := id[:3] + "0000000777"
	var copied multi
	for _, r := range i.roots {
		copied = append(copied, w.copyTo(r, strings.TrimSuffix(r, id)+other)...)
	}
	copy := znode.Join(znode.Parent(i.root), other)
	return append(all,
		tampering{kind: "whole " + what + " copied", path: i.root, do: []any{copied}, names: []string{copy, w.record(i.root)}},
		tampering{kind: "whole " + what + " given another id", path: i.root, do: []any{append(w.remove(i.roots...), copied...)}, names: []string{copy}})
}

// provenances returns edits of each field of what an item says of its origin: by setting
// the node's data, and by recreating the whole item.
func (w *world) provenances(i item) []tampering {
	var all []tampering
	for _, e := range w.edits(w.clean.Get(i.root).Data) {
		all = append(all, tampering{kind: "provenance edited", path: i.root + " " + e.what, do: []any{multi{set(i.root, e.data)}}, names: []string{i.root}})
		if len(i.jobs) > 0 {
			continue
		}
		again := w.recreated(i.roots...)
		for _, op := range again {
			if c, ok := op.(*zk.CreateRequest); ok && c.Path == i.root {
				c.Data = e.data
			}
		}
		all = append(all, tampering{kind: "provenance edited, recreated whole", path: i.root + " " + e.what, do: []any{again}, names: []string{i.root}})
	}
	return all
}

// edit is one way to change data.
type edit struct {
	what string
	data []byte
}

// edits returns the edits that change or remove each field of a JSON object.
func (w *world) edits(data []byte) []edit {
	object := decodeObject(data)
	var all []edit
	for _, key := range slices.Sorted(maps.Keys(object)) {
		for _, other := range w.otherValues(key, object[key]) {
			o := newqueue.Object(maps.Clone(object))
			o[key] = other
			all = append(all, edit{key, encode(o)})
		}
		o := newqueue.Object(maps.Clone(object))
		delete(o, key)
		all = append(all, edit{key + " taken away", encode(o)})
	}
	return all
}

// otherValues are other plausible values of a field.
func (w *world) otherValues(key string, value any) []any {
	switch v := value.(type) {
	case bool:
		return []any{!v}
	case string:
		all := []any{v + "x", ""}
		for _, like := range map[string][]string{
			"run":       {"run0000000000", "run0000000001", "run0000000007"},
			"path":      {w.src.Records[0].Path, w.src.Records[len(w.src.Records)-1].Path},
			"time_unit": {"s", "ms", "none"},
			"status":    {"pending", "failed", "completed"},
			"of":        {"batch", "unbatched", "inventory"},
			"consumed":  {"pending", "failed"},
		}[key] {
			if like != v {
				all = append(all, like)
			}
		}
		return all
	}
	return []any{int64(4711), "x", nil}
}
