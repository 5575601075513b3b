package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Item is one legacy record and its job or access request.
type Item struct {
	Record *Record // as the source has it; nil if it has none
	// Path is the record's path, "" for a job that no migration made.
	Path string
	// Run migrated the record; "" if no run did. Unchanged reports whether the record
	// has not changed since.
	Run       string
	Unchanged bool
	Root      string       // of the job or request; "" if there was none
	Nodes     []znode.Node // of the job or request and its entries, in order; none if it is gone
	State     string       // of the job or request
	// Touched says how another client changed the job since it was created. Gone says what
	// happened to a job that is not there any more.
	Touched, Gone string
}

// ErrNoItem says that neither side has what was asked for.
var ErrNoItem = errors.New("neither the source nor the target has it")

// ErrManyItems says that several things have the name that was given.
var ErrManyItems = errors.New("several have this id; give the path of one")

// FindItem finds a record by its path or name, or a job or request by its path or id, on
// both sides. It reads only what belongs to the item, and the lists that lead to it. The
// error wraps [ErrNoItem] or [ErrManyItems], or comes from reading.
func FindItem(ctx context.Context, queue *LegacyQueue, target side.Side, name string) (*Item, error) {
	tree, err := readSkeleton(ctx, target)
	if err != nil {
		return nil, err
	}
	f := finder{queue: queue, target: target, existing: readOwn(tree), item: &Item{}}
	if err := f.find(ctx, name); err != nil {
		return nil, err
	}
	if f.item.Path == "" && len(f.item.Nodes) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNoItem)
	}
	return f.item, nil
}

// finder looks for one item.
type finder struct {
	*existing
	queue  *LegacyQueue
	target side.Side
	item   *Item
}

func (f *finder) find(ctx context.Context, name string) error {
	record, roots := f.candidates(name)
	if h, there := f.custody.lookup(record); there {
		roots = []string{h.root}
	}
	if len(roots) > 1 {
		var err error
		if roots, err = f.existingOne(ctx, name, roots); err != nil {
			return err
		}
	}
	for _, root := range roots {
		if err := f.readJob(ctx, root); err != nil {
			return err
		}
	}
	if record == "" {
		record = f.recordOf(roots)
	}
	if record == "" {
		return nil
	}
	if err := f.readRecord(ctx, record); err != nil {
		return err
	}
	return f.addCustody(ctx, record)
}

// existingOne returns the one path that exists. If none does, it returns them all, because
// the ledger may still know them.
func (f *finder) existingOne(ctx context.Context, name string, roots []string) ([]string, error) {
	var there []string
	for _, root := range roots {
		if znode.ValidatePath(root) != nil {
			continue
		}
		switch _, err := f.target.Get(ctx, root); {
		case err == nil:
			there = append(there, root)
		case !errors.Is(err, znode.ErrNoNode):
			return nil, err
		}
	}
	switch len(there) {
	case 0:
		return roots, nil
	case 1:
		return there, nil
	}
	return nil, fmt.Errorf("%s: %w: %s", name, ErrManyItems, strings.Join(there, ", "))
}

// candidates returns the record that a name means, or the jobs and requests that it can
// mean.
func (f *finder) candidates(name string) (record string, roots []string) {
	switch {
	case strings.HasPrefix(name, "/") && len(name) > 1 && f.queue.kinds[znode.Parent(name)] != "":
		return name, nil
	case strings.HasPrefix(name, "/") && znode.ValidatePath(name) == nil:
		return "", []string{ownerOf(name)} // a znode of a job means the job
	}
	for _, node := range f.queue.nodes {
		if path := znode.Join(node.path, name); f.queue.has(path) {
			return path, nil
		}
	}
	roots = []string{newqueue.JobPath(name)}
	for _, q := range newqueue.AccessQueues {
		roots = append(roots, newqueue.AccessRequestPath(q, name))
	}
	return "", roots
}

// recordOf is the record from which one of those jobs was made.
func (f *finder) recordOf(roots []string) string {
	for h := range f.custody.entries.all() {
		if h.root != "" && slices.Contains(roots, h.root) {
			return h.record
		}
	}
	if len(f.item.Nodes) > 0 {
		if prov, ok := parseProvenance(f.item.Nodes[0].Data); ok {
			return prov.Path
		}
	}
	return ""
}

// readJob reads a job or request with its entries, if it is there.
func (f *finder) readJob(ctx context.Context, root string) error {
	if root == "" || znode.ValidatePath(root) != nil || ownerOf(root) != root {
		return nil
	}
	for n, err := range f.target.Walk(ctx, root) {
		if errors.Is(err, znode.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		f.item.Nodes = append(f.item.Nodes, n)
	}
	if len(f.item.Nodes) == 0 {
		return nil
	}
	f.item.Root = root
	bid := ""
	for _, n := range f.item.Nodes {
		switch n.Path {
		case root + "/bid":
			bid = string(n.Data)
		case root + "/status":
			if o, err := newqueue.ParseObject(n.Data); err == nil {
				f.item.State, _ = o.String("status")
			}
		}
	}
	if znode.Parent(root) != newqueue.JobsPath {
		return nil
	}
	return f.readEntries(ctx, znode.Name(root), bid)
}

// readEntries reads a job's entries: in a queue, and in its batch.
func (f *finder) readEntries(ctx context.Context, jid, bid string) error {
	var paths []string
	if znode.ValidatePath(newqueue.BatchPath(bid)) == nil && bid != "" {
		for _, folder := range newqueue.BatchFolders {
			paths = append(paths, newqueue.BatchEntryPath(bid, folder, jid))
		}
	}
	for _, state := range f.tree.Children(newqueue.JobStatesPath) {
		folder := znode.Join(newqueue.JobStatesPath, state)
		names, err := childrenOf(ctx, f.target, folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "-"+jid) {
				paths = append(paths, znode.Join(folder, name))
			}
		}
	}
	for _, path := range paths {
		n, err := f.target.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		f.item.Nodes = append(f.item.Nodes, n)
		if znode.Within(path, newqueue.JobStatesPath) {
			f.queued.add(&n)
		}
	}
	f.queued.sort()
	return nil
}

func (f *finder) readRecord(ctx context.Context, path string) error {
	if f.queue.kinds[znode.Parent(path)] == "" || znode.ValidatePath(path) != nil {
		return nil
	}
	for got, err := range f.queue.fetch(ctx, slices.Values([]string{path})) {
		if err != nil {
			return err
		}
		if got.there() {
			f.item.Path, f.item.Record = path, &got.Record
		}
	}
	return nil
}

// addCustody adds what the ledger says of the record and its job.
func (f *finder) addCustody(ctx context.Context, record string) error {
	it := f.item
	h, there := f.custody.lookup(record)
	if !there {
		return nil
	}
	it.Path, it.Run = record, h.run
	it.Unchanged = it.Record != nil && it.Record.Err == nil && h.hash == ledgerHash(*it.Record)
	if len(it.Nodes) == 0 {
		batch := h.bid != ""
		if batch {
			_, err := f.target.Get(ctx, newqueue.BatchPath(h.bid))
			if batch = err == nil; err != nil && !errors.Is(err, znode.ErrNoNode) {
				return err
			}
		}
		it.Root, it.Gone = h.root, h.whyGone(batch)
		return nil
	}
	for _, n := range it.Nodes {
		if err := f.tree.Put(n); err != nil {
			return err
		}
	}
	if prov, ok := parseProvenance(it.Nodes[0].Data); ok {
		it.Touched = f.whyTouched(migratedJob{prov: prov.origin(), root: it.Root, id: znode.Name(it.Root), bid: h.bid})
	}
	return nil
}
