package verify

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

type comparison struct {
	v     *verifier
	ctx   context.Context
	group *errgroup.Group
	part  []item
}

func (v *verifier) newComparison(ctx context.Context) *comparison {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0) + 1) // one part is read while the others are compared
	return &comparison{v: v, ctx: ctx, group: group}
}

// add adds one more job. Call it in the order of the records.
func (c *comparison) add(it item) error {
	c.v.mu.Lock()
	exact := it.record != nil && c.v.isExact(it.run, it.queue)
	if exact {
		c.v.checkOrder(it)
	}
	c.v.mu.Unlock()
	if c.part = append(c.part, it); len(c.part) < partSize.N() {
		return nil
	}
	c.start()
	return context.Cause(c.ctx) // why another part could not be compared
}

func (c *comparison) start() {
	part := c.part
	c.part = nil
	if len(part) > 0 {
		c.group.Go(func() error { return c.compare(part) })
	}
}

func (c *comparison) finish() error {
	c.start()
	return c.group.Wait()
}

func (c *comparison) stop() { _ = c.group.Wait() }

func (c *comparison) compare(part []item) error {
	var exact []item
	var others []candidate
	for _, it := range part {
		if it.record != nil && c.v.isExact(it.run, it.queue) {
			exact = append(exact, it)
		} else {
			others = append(others, candidate{item: it})
		}
	}
	differing, err := c.exact(exact)
	if err != nil {
		return err
	}
	if err := c.v.account(c.ctx, append(others, differing...), c.v.observeJobs, c.v.concludeJob); err != nil {
		return err
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	c.v.progress(len(part))
	return nil
}

// candidate is a job that must be looked at more closely, or an entry that does not seem to belong where it is.
type candidate struct {
	item
	differs      string // how the job differs from what its run made; "" if that was not compared
	foreignEntry string // its path; "" if the job is to be looked at
}

func (c *comparison) exact(items []item) (differing []candidate, err error) {
	wanted := make([][]rules.Node, len(items))
	var paths []string
	for i, it := range items {
		wanted[i] = it.job().Nodes(c.v.dialect)
		for _, n := range wanted[i] {
			paths = append(paths, n.Path)
		}
	}
	nodes, err := c.v.t.Reader.GetAll(c.ctx, paths)
	if err != nil {
		return nil, err
	}
	entries := map[string]int{}
	states := map[string]int{}
	compared := 0
	for i, it := range items {
		var got []znode.Node
		for _, want := range wanted[i] {
			if len(nodes) > 0 && nodes[0].Path == want.Path {
				got, nodes = append(got, nodes[0]), nodes[1:]
			}
		}
		compared += len(got)
		if err := c.v.clearExpectedACLs(c.ctx, got, it.run); err != nil {
			return nil, err
		}
		if differs := compareNodes(wanted[i], got, it.run.Restored); differs != "" {
			differing = append(differing, candidate{item: it, differs: differs})
			continue
		}
		states[it.state.Name()]++
		for _, entry := range it.job().Entries(c.v.dialect) {
			entries[znode.Parent(entry)]++
		}
		if lost := rules.ReadBack(*it.record, it.run.Choices, dataByName(it.entry.Job, got)); len(lost) > 0 {
			c.v.mu.Lock()
			c.v.differ(migration.Difference{Kind: migration.DifferenceNotLossless, Path: it.entry.Job, Record: it.entry.Record, Queue: it.queue, Message: strings.Join(lost, "; ")})
			c.v.mu.Unlock()
		}
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	c.v.verdict.Nodes += compared
	for state, n := range states {
		c.v.verdict.States[state] += n
		c.v.verdict.Records.Migrated += n
	}
	for parent, n := range entries {
		c.v.expected[parent] += n
	}
	return differing, nil
}

func (it item) job() rules.Job {
	return rules.Job{Record: *it.record, State: it.state, Priority: it.run.Choices.Priority(*it.record), Run: it.run.ID, ID: znode.Name(it.entry.Job), Batch: it.entry.Batch}
}

// compareNodes compares the znodes of a job with those that its record should have become.
// It returns the first difference, "" if there is none. restored says that the znodes were
// put back one by one, so that their transactions say nothing.
func compareNodes(want []rules.Node, got []znode.Node, restored bool) string {
	if len(got) == 0 {
		return "it is not there"
	}
	root, children := got[0], 0
	for _, w := range want {
		if znode.Parent(w.Path) == root.Path {
			children++
		}
		if len(got) == 0 || got[0].Path != w.Path {
			return w.Path + " is not there"
		}
		n := got[0]
		got = got[1:]
		if differs := compareNode(w, n, root, restored); differs != "" {
			return differs
		}
	}
	if int(root.Stat.NumChildren) > children {
		return oneMore
	}
	return ""
}

// oneMore is a difference that [verifier.addition] names, when all children were read.
const oneMore = "it has a child that the run did not make"

func (v *verifier) addition(it item, nodes []znode.Node) string {
	made := it.job().Nodes(v.dialect)
	for _, n := range nodes {
		if znode.Parent(n.Path) == it.entry.Job && !slices.ContainsFunc(made, func(m rules.Node) bool { return m.Path == n.Path }) {
			return oneMore + ", " + n.Path
		}
	}
	return oneMore
}

func compareNode(w rules.Node, n, root znode.Node, restored bool) string {
	switch {
	case n.Unreadable != "", n.Stat.EphemeralOwner != 0, n.Stat.Aversion != 0, n.Path != root.Path && n.Stat.NumChildren != 0:
		return n.Path + " is not as it was made" // account says more
	case !slices.Equal(n.Data, w.Data):
		return n.Path + " has other data"
	case n.Stat.Version != 0:
		return n.Path + " was written again, with the same data"
	case n.Stat.Czxid != root.Stat.Czxid && !restored:
		return n.Path + " was deleted and created again"
	}
	return ""
}

func dataByName(root string, nodes []znode.Node) map[string][]byte {
	data := make(map[string][]byte, len(nodes))
	for _, n := range nodes {
		if name, below := strings.CutPrefix(n.Path, root); below {
			data[strings.TrimPrefix(name, "/")] = n.Data
		}
	}
	return data
}

func isFolder(path string) bool {
	parent := znode.Parent(path)
	return parent == newqueue.JobStatesPath || znode.Name(parent) == "states" && znode.Within(path, newqueue.BatchesPath)
}
