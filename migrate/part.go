package migrate

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// partSize is how many jobs or batches a part has. Tests choose smaller parts.
const partSize = 1000

// part is some of a target's jobs and requests, or of its batches, as a tree of its own,
// with all that belongs to them; see [ownerOf].
type part struct {
	tree  *znode.Tree
	roots []string        // in order
	own   map[string]bool // the same, as a set
	// entries are the paths of the jobs' entries.
	entries []string
}

func newPart() *part { return &part{tree: znode.NewTree(), own: map[string]bool{}} }

func (p *part) put(nodes ...znode.Node) error {
	for _, n := range nodes {
		if err := p.tree.Put(n); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) add(root string) {
	p.roots = append(p.roots, root)
	p.own[root] = true
}

// owns reports whether a path belongs to the part, whether a znode is there or not.
func (p *part) owns(path string) bool { return p.own[ownerOf(path)] }

// ownerOf is the job, request or batch that a path belongs to. An entry of /batch-uuids
// belongs to itself. The layout's own znodes belong to nothing: "".
func ownerOf(path string) string {
	at := strings.Split(path, "/")[1:]
	switch "/" + at[0] {
	case newqueue.JobsPath:
		switch {
		case len(at) == 1 || at[1] == "states" && len(at) < 4:
			return ""
		case at[1] == "states":
			_, jid, _ := strings.Cut(at[3], "-")
			return newqueue.JobPath(jid)
		}
		return newqueue.JobPath(at[1])
	case newqueue.BatchesPath:
		switch {
		case len(at) == 1:
			return ""
		case len(at) > 4 && isEntry(at[1:5]):
			return newqueue.JobPath(at[4])
		}
		return newqueue.BatchPath(at[1])
	case newqueue.BatchUUIDsPath:
		if len(at) > 1 {
			return znode.Join(newqueue.BatchUUIDsPath, at[1])
		}
	case newqueue.AccessPath:
		if len(at) > 2 && slices.Contains(newqueue.AccessQueues, newqueue.AccessQueue(at[1])) {
			return newqueue.AccessRequestPath(newqueue.AccessQueue(at[1]), at[2])
		}
	}
	return ""
}

// jobParts reads jobs and requests part by part, with their entries. It leaves out those
// for which wanted is false. While the caller looks at a part, the next is being read.
func (l *listing) jobParts(ctx context.Context, roots iter.Seq[string], wanted func(side.Subtree) bool) iter.Seq2[*part, error] {
	return func(yield func(*part, error) bool) {
		p := newPart()
		subtrees := func(ctx context.Context) iter.Seq2[side.Subtree, error] { return l.side.Subtrees(ctx, roots) }
		for sub, err := range readAhead(ctx, l.part, subtrees) {
			switch {
			case err != nil:
			case sub.Missing():
				l.vanished[sub.Root] = true
			case wanted(sub):
				p.add(sub.Root)
				err = p.put(sub.Nodes...)
			}
			if err == nil && len(p.roots) == l.part {
				err = l.addEntries(ctx, p)
				if err == nil && !yield(p, nil) {
					return
				}
				p = newPart()
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		if err := l.addEntries(ctx, p); err != nil || len(p.roots) > 0 {
			yield(p, err)
		}
	}
}

// addEntries adds the entries of a part's jobs. It adds a stub of each batch that a job
// names and that is there.
func (l *listing) addEntries(ctx context.Context, p *part) error {
	var rows []entryRow
	for _, root := range p.roots {
		if znode.Parent(root) != newqueue.JobsPath {
			continue
		}
		jid := znode.Name(root)
		rows = append(rows, l.queued.of(jid)...)
		rows = append(rows, l.inBatch.of(jid)...)
		bid := string(dataOf(p.tree.Get(root + "/bid")))
		if b := l.batchOf(bid); b != nil {
			b.jobs++
			if err := p.stub(bid, b.states); err != nil {
				return err
			}
		}
	}
	return l.putEntries(ctx, p, rows)
}

// stub adds a batch to the tree without its content: only that it is there counts.
func (p *part) stub(bid string, states bool) error {
	path := newqueue.BatchPath(bid)
	if states {
		path = newqueue.BatchStatesPath(bid)
	}
	if p.tree.Get(path) != nil {
		return nil
	}
	return p.put(znode.Node{Path: path, Data: none})
}

// putEntries adds entries. It reads an entry again if a row does not say all of it.
func (l *listing) putEntries(ctx context.Context, p *part, rows []entryRow) error {
	var odd []string
	for _, row := range rows {
		list := &l.queued
		if row.in > 0 {
			list = &l.inBatch
		}
		path := list.path(row)
		p.entries = append(p.entries, path)
		if row.incomplete {
			odd = append(odd, path)
		} else if err := p.put(list.node(row)); err != nil {
			return err
		}
	}
	return l.read(ctx, p, odd)
}

// read adds subtrees to the part's tree.
func (l *listing) read(ctx context.Context, p *part, roots []string) error {
	for sub, err := range l.side.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return err
		}
		if err := p.put(sub.Nodes...); err != nil {
			return err
		}
	}
	return nil
}

// batchParts reads the batches part by part, without their jobs' entries.
func (l *listing) batchParts(ctx context.Context) iter.Seq2[*part, error] {
	return func(yield func(*part, error) bool) {
		p := newPart()
		for n, err := range l.side.Walk(ctx, newqueue.BatchesPath) {
			if err != nil {
				yield(nil, err)
				return
			}
			below := strings.Split(strings.TrimPrefix(n.Path, newqueue.BatchesPath), "/")[1:]
			switch {
			case len(below) == 0 || len(below) >= 4 && isEntry(below[:4]):
				continue
			case len(below) == 1:
				if len(p.roots) >= l.part && !p.mayContinue(n.Path) {
					if !yield(p, nil) {
						return
					}
					p = newPart()
				}
				p.add(n.Path)
			}
			if err := p.put(n); err != nil {
				yield(nil, err)
				return
			}
		}
		if len(p.roots) > 0 {
			yield(p, nil)
		}
	}
}

// mayContinue reports whether more of the part may come after a path, in path order:
// /batches/b-1 comes before /batches/b/states.
func (p *part) mayContinue(path string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool { return strings.HasPrefix(path, root) })
}
